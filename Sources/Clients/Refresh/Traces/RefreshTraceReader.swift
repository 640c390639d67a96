package import Base
internal import Contents

/// Reads a trace from JSON Lines: a head with the apps, then one event a line by rising time.
///
/// What it does not know it refuses, with the line: a word that is misspelled would otherwise be an
/// event that never happened.
package struct RefreshTraceReader {
    /// In bytes: some months of a busy device.
    package static let byteLimit = 64 << 20
    /// In bytes: the apps in the head need some thousands.
    package static let lineLimit = 64 << 10
    package static let appLimit = 64
    package static let eventLimit = 500_000
    /// In seconds: ten years.
    package static let durationLimit: Int64 = 10 * 366 * 86_400

    private let name: String
    private var number = 0
    private var names: Set<String> = []
    private var last: Int64 = 0
    private var isOver = false

    private init(_ name: String) {
        self.name = name
    }

    /// Reads a whole file.
    ///
    /// Errors: `trace-invalid`, with the line's number.
    ///
    /// - Parameter name: what the file is called in errors.
    package static func read(_ bytes: [UInt8], name: String) throws(Failure) -> RefreshTrace {
        var reader = RefreshTraceReader(name)
        return try reader.read(bytes)
    }

    private mutating func read(_ bytes: [UInt8]) throws(Failure) -> RefreshTrace {
        guard bytes.count <= Self.byteLimit else {
            throw failure("longer than \(Self.byteLimit) bytes")
        }
        var trace: RefreshTrace?
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            let row = try row(line)
            if trace == nil {
                trace = try head(row)
            } else {
                guard trace?.events.count ?? 0 < Self.eventLimit else {
                    throw failure("more than \(Self.eventLimit) events")
                }
                trace?.events.append(try event(row))
            }
        }
        guard let trace else { throw failure("no head with the schema \(RefreshTrace.schema)") }
        return trace
    }

    /// Reads what happens to a device right now: an event of a trace without its time.
    ///
    /// Errors: `trace-invalid`.
    ///
    /// - Parameters:
    ///   - apps: which there are.
    ///   - number: the line's, for errors.
    package static func deviceEvent(
        _ line: [UInt8], apps: Set<String>, name: String, number: Int
    ) throws(Failure) -> DeviceEvent {
        var reader = RefreshTraceReader(name)
        reader.names = apps
        reader.number = number
        let row = try reader.row(line[...])
        guard let word = row.text("event") else { throw reader.failure("no event") }
        let (kind, members) = try reader.kind(word, row)
        try reader.refuseUnknown(row, ["event"] + members)
        guard case .device(let event) = kind else {
            throw reader.failure("\(word) does not happen to a device")
        }
        return event
    }

    private func row(_ line: ArraySlice<UInt8>) throws(Failure) -> JSONObject {
        guard line.count <= Self.lineLimit else {
            throw failure("longer than \(Self.lineLimit) bytes")
        }
        guard let row = JSONObject(Array(line)) else { throw failure("no JSON object") }
        return row
    }

    private func failure(_ what: String) -> Failure {
        Failure(
            "trace-invalid", party: .tool,
            number == 0 ? "\(name): \(what)" : "\(name): line \(number): \(what)",
            hint: "sallyport fetch trace --person commuter shows what a trace looks like")
    }

    // MARK: The head

    private mutating func head(_ row: JSONObject) throws(Failure) -> RefreshTrace {
        guard row.text("schema") == RefreshTrace.schema else {
            throw failure("the first line has not the schema \(RefreshTrace.schema)")
        }
        let known = ["schema", "name", "startAt", "zoneMinutes", "apps"]
        try refuseUnknown(row, known)
        guard let start = row.text("startAt").flatMap({ Timestamp(iso8601: Array($0.utf8)) }) else {
            throw failure("startAt is no time such as 2026-03-02T00:00:00Z")
        }
        guard let zone = row.integer("zoneMinutes", or: 0), (-840...840).contains(zone),
            zone % 15 == 0
        else {
            throw failure("zoneMinutes is no number of quarters of an hour from -840 to 840")
        }
        var apps: [RefreshTrace.App] = []
        for row in row.objects("apps") ?? [] { apps.append(try app(row)) }
        guard !apps.isEmpty, apps.count <= Self.appLimit else {
            throw failure("apps lists none, or more than \(Self.appLimit)")
        }
        // The clock of a simulation counts milliseconds.
        let begin = Timestamp(microseconds: start.microseconds / 1000 * 1000)
        return RefreshTrace(
            name: row.text("name") ?? "", start: begin, zoneMinutes: Int(zone), apps: apps,
            events: [])
    }

    private mutating func app(_ row: JSONObject) throws(Failure) -> RefreshTrace.App {
        try refuseUnknown(
            row,
            [
                "name", "interval", "documentBytes", "storage", "buffersWhileLocked", "cellular",
                "local",
            ])
        guard let name = row.text("name"), (1...64).contains(name.utf8.count) else {
            throw failure("an app has no name of 1 to 64 bytes")
        }
        guard names.insert(name).inserted else { throw failure("two apps are called \(name)") }
        var app = RefreshApp(name)
        guard let interval = RefreshInterval(row.text("interval") ?? "never") else {
            throw failure("interval is not never, minimum or seconds")
        }
        app.interval = interval
        guard
            let storage = StorageClass(rawValue: row.text("storage") ?? app.storage.rawValue)
        else { throw failure("storage is not \(Self.list(StorageClass.allCases))") }
        app.storage = storage
        guard let size = row.integer("documentBytes", or: 20_000), Self.sizes.contains(size),
            let buffers = row.boolean("buffersWhileLocked", or: false),
            let cellular = row.boolean("cellular", or: true),
            let local = row.boolean("local", or: false)
        else {
            throw failure(
                "documentBytes is no size, or buffersWhileLocked, cellular or local no flag")
        }
        app.buffersWhileLocked = buffers
        app.allowsCellular = cellular
        app.isLocal = local
        return RefreshTrace.App(app, documentSize: size)
    }

    // MARK: Events

    private mutating func event(_ row: JSONObject) throws(Failure) -> RefreshTrace.Event {
        guard !isOver else { throw failure("an event behind the end") }
        guard let at = row.integer("at"), (0...Self.durationLimit).contains(at) else {
            throw failure("at is no number of seconds since the start")
        }
        guard at >= last else { throw failure("at \(at) is before \(last)") }
        last = at
        guard let word = row.text("event") else { throw failure("no event") }
        let (kind, members) = try kind(word, row)
        try refuseUnknown(row, ["at", "event"] + members)
        if kind == .end { isOver = true }
        return RefreshTrace.Event(at: at, kind)
    }

    /// The event, and the names of the members that belong to it.
    private func kind(
        _ word: String, _ row: JSONObject
    ) throws(Failure) -> (RefreshTrace.Kind, [String]) {
        switch word {
        case "open": (.device(.opened(try app(of: row))), ["app"])
        case "close": (.device(.closed(try app(of: row))), ["app"])
        case "remove": (.device(.removed(try app(of: row))), ["app"])
        case "terminate": (.device(.ended(try app(of: row))), ["app"])
        case "refresh":
            (.device(.allowed(try app(of: row), try flag("on", row))), ["app", "on"])
        case "interval":
            (.device(.interval(try app(of: row), try interval(row))), ["app", "interval"])
        case "lock": (.device(.locked), [])
        case "unlock": (.device(.unlocked), [])
        case "reboot": (.device(.rebooted), [])
        case "consent":
            (
                .device(.consent(try app(of: row), isGranted: try flag("granted", row))),
                ["app", "granted"]
            )
        case "outage": (.outage(try app(of: row), try flag("on", row)), ["app", "on"])
        case "behaviour": (.behaviour(try app(of: row), try fault(row)), ["app", "fault"])
        case "push": (.pushed(try app(of: row), try push(row)), ["app", "kind", "lifetimeMs"])
        case "publish":
            (
                .published(
                    try app(of: row), thumbnails: try size("thumbnailBytes", row),
                    assets: try size("assetBytes", row)),
                ["app", "thumbnailBytes", "assetBytes"]
            )
        case "end": (.end, [])
        default: try environment(word, row)
        }
    }

    private func environment(
        _ word: String, _ row: JSONObject
    ) throws(Failure) -> (RefreshTrace.Kind, [String]) {
        switch word {
        case "screen": return (.device(.screen(isOn: try flag("on", row))), ["on"])
        case "power":
            guard let level = row.integer("level", or: 100), (0...100).contains(level) else {
                throw failure("level is no number from 0 to 100")
            }
            let isCharging = try flag("charging", row)
            return (
                .device(.power(isCharging: isCharging, level: Int(level))), ["charging", "level"]
            )
        case "link":
            guard let link = row.text("link").flatMap(DeviceLink.init(rawValue:)) else {
                throw failure("link is not \(Self.list(DeviceLink.allCases))")
            }
            return (.device(.link(link)), ["link"])
        case "radio":
            guard let time = row.integer("durationMs"), (0...86_400_000).contains(time) else {
                throw failure("durationMs is no number up to a day")
            }
            return (.device(.radio(time)), ["durationMs"])
        default: throw failure("unknown event \(word.prefix(40).description.withoutUnseen)")
        }
    }

    private func app(of row: JSONObject) throws(Failure) -> String {
        guard let name = row.text("app"), names.contains(name) else {
            throw failure("app is none of those that there are")
        }
        return name
    }

    private func flag(_ name: StaticString, _ row: JSONObject) throws(Failure) -> Bool {
        guard let flag = row.boolean(name) else { throw failure("\(name) is not true or false") }
        return flag
    }

    private func size(_ name: StaticString, _ row: JSONObject) throws(Failure) -> Int64 {
        guard let size = row.integer(name, or: 0), Self.sizes.contains(size) else {
            throw failure("\(name) is no size")
        }
        return size
    }

    private func interval(_ row: JSONObject) throws(Failure) -> RefreshInterval {
        guard let interval = row.text("interval").flatMap(RefreshInterval.init) else {
            throw failure("interval is not never, minimum or seconds")
        }
        return interval
    }

    private func fault(_ row: JSONObject) throws(Failure) -> AppFault? {
        guard let word = row.text("fault") else { return nil }
        guard let fault = AppFault(rawValue: word) else {
            throw failure("fault is not \(Self.list(AppFault.allCases))")
        }
        return fault
    }

    private func push(_ row: JSONObject) throws(Failure) -> TracePush {
        guard let kind = row.text("kind").flatMap(TracePush.Kind.init(rawValue:)) else {
            throw failure("kind is not \(Self.list(TracePush.Kind.allCases))")
        }
        guard row.has("lifetimeMs") else { return TracePush(kind) }
        guard let lifetime = row.integer("lifetimeMs"),
            (0...Self.durationLimit * 1000).contains(lifetime)
        else { throw failure("lifetimeMs is no number of milliseconds") }
        return TracePush(kind, lifetime: lifetime)
    }

    private func refuseUnknown(_ row: JSONObject, _ known: [String]) throws(Failure) {
        guard let name = row.names.first(where: { !known.contains($0) }) else { return }
        throw failure("unknown member \(name.prefix(40).description.withoutUnseen)")
    }

    private static func list<Word: RawRepresentable<String>>(_ words: [Word]) -> String {
        words.map(\.rawValue).joined(separator: ", ")
    }

    /// In bytes: no feed or asset is as large as a terabyte.
    private static let sizes: ClosedRange<Int64> = 0...1 << 40
}
