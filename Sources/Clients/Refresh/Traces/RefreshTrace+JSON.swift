internal import Base

/// The file of a trace: JSON Lines, the first of which names the trace and its apps.
extension RefreshTrace {
    package var lines: [UInt8] {
        let head: JSONText = [
            "schema": .string(Self.schema), "name": .string(name),
            "startAt": .string(start.rfc3339), "zoneMinutes": .integer(Int64(zoneMinutes)),
            "apps": .array(apps.map(\.json)),
        ]
        var text = head.line + [0x0A]
        for event in events { text += event.json.line + [0x0A] }
        return text
    }
}

extension RefreshTrace.App {
    fileprivate var json: JSONText {
        [
            "name": .string(app.name), "interval": .string(app.interval.text),
            "documentBytes": .integer(documentSize), "storage": .string(app.storage.rawValue),
            "buffersWhileLocked": .boolean(app.buffersWhileLocked),
            "cellular": .boolean(app.allowsCellular), "local": .boolean(app.isLocal),
        ]
    }
}

extension RefreshTrace.Event {
    fileprivate var json: JSONText {
        .object([JSONText.Member("at", .integer(at))] + kind.members)
    }
}

extension RefreshTrace.Kind {
    fileprivate var members: [JSONText.Member] {
        switch self {
        case .device(let event): event.members
        case .published(let app, let thumbnails, let assets):
            event(
                "publish", app,
                [("thumbnailBytes", .integer(thumbnails)), ("assetBytes", .integer(assets))])
        case .pushed(let app, let push):
            event(
                "push", app,
                [("kind", .string(push.kind.rawValue))]
                    + (push.lifetime.map { [("lifetimeMs", .integer($0))] } ?? []))
        case .outage(let app, let isOn): event("outage", app, [("on", .boolean(isOn))])
        case .behaviour(let app, let fault):
            event("behaviour", app, [("fault", .optional(fault?.rawValue))])
        case .end: event("end", nil)
        }
    }
}

extension DeviceEvent {
    fileprivate var members: [JSONText.Member] {
        switch self {
        case .opened(let app): event("open", app)
        case .closed(let app): event("close", app)
        case .removed(let app): event("remove", app)
        case .ended(let app): event("terminate", app)
        case .allowed(let app, let isOn): event("refresh", app, [("on", .boolean(isOn))])
        case .interval(let app, let interval):
            event("interval", app, [("interval", .string(interval.text))])
        case .screen(let isOn): event("screen", nil, [("on", .boolean(isOn))])
        case .power(let isCharging, let level):
            event(
                "power", nil,
                [("charging", .boolean(isCharging)), ("level", .integer(Int64(level)))])
        case .link(let link): event("link", nil, [("link", .string(link.rawValue))])
        case .locked: event("lock", nil)
        case .unlocked: event("unlock", nil)
        case .rebooted: event("reboot", nil)
        case .radio(let milliseconds):
            event("radio", nil, [("durationMs", .integer(milliseconds))])
        case .consent(let app, let isGranted):
            event("consent", app, [("granted", .boolean(isGranted))])
        }
    }
}

private func event(
    _ name: String, _ app: String?, _ values: [(String, JSONText)] = []
) -> [JSONText.Member] {
    [JSONText.Member("event", .string(name))]
        + (app.map { [JSONText.Member("app", .string($0))] } ?? [])
        + values.map { JSONText.Member($0.0, $0.1) }
}
