internal import Base
internal import HTTPModel
internal import HTTPServer
internal import Pushes
internal import Synchronization
internal import TLS

/// `/push/…`: devices, what arrived, keys and ordered answers, for tests on this machine.
struct PushControlRoutes {
    let service: PushService

    private typealias Control = @Sendable (ServerRequest, CollectedForm) -> ServerResponse

    var routes: [Route] {
        [
            get("/push/devices") { _ in devices() },
            post("/push/devices", register),
            get("/push/devices/:token") { device($0) },
            Route([.delete], "/push/devices/:token") { request, _ in
                request.isLocal ? unregister(request) : .plain(403)
            },
            Route([.get], "/push/devices/:token/events") { request, body in
                request.isLocal ? events(request, body) : .plain(403)
            },
            post("/push/devices/:token/acknowledge", acknowledge),
            post("/push/devices/:token/keep-alive") { request, _ in
                withDevice(request) {
                    let count = service.keepAlive($0.device, now: request.milliseconds)
                    return json(200, ["delivered": .integer(Int64(count))])
                }
            },
            get("/push/notifications", notifications),
            post("/push/answers", order),
            get("/push/key") { _ in
                ServerResponse(
                    200,
                    [
                        ResponseField("Content-Type", "application/x-pem-file"),
                        ResponseField("Cache-Control", "no-store"),
                    ], body: .bytes(service.ownKey.pem))
            },
            get("/push/token", token),
            Route([.put], "/push/keys/:id") { request, body in
                guard request.isLocal else { return .plain(403) }
                return await addKey(request, body)
            },
        ]
    }

    private func get(
        _ pattern: PathPattern, _ answer: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) -> Route {
        .get(pattern) { $0.isLocal ? answer($0) : .plain(403) }
    }

    private func post(_ pattern: PathPattern, _ answer: @escaping Control) -> Route {
        Route([.post], pattern) { request, body in
            guard request.isLocal else { return .plain(403) }
            do throws(Failure) {
                return answer(request, try await CollectedForm(body))
            } catch {
                return .unreadable(error)
            }
        }
    }

    // MARK: Devices

    private func register(_ request: ServerRequest, _ form: CollectedForm) -> ServerResponse {
        var limits = PushLimits()
        let environment = form["environment"].map(\.text)
        guard let device = ContentName.text(form["device"]),
            let topic = ContentName.text(form["topic"]),
            let burst = form.number("burst", or: UInt64(limits.burst), upTo: 1000),
            let interval = form.number(
                "interval", or: UInt64(limits.interval / 1000), upTo: 86_400 * 30),
            ["seed", "today"].contains(form["mode"]?.text ?? "seed"),
            environment == nil || ProviderKey.Environment(rawValue: environment ?? "") != nil
        else {
            return .words(
                400,
                "give device and topic, and perhaps burst, interval in seconds, mode=today, "
                    + "refill=1, environment=production or sandbox, rotate=1")
        }
        limits.burst = Int64(burst)
        limits.interval = Int64(max(1, interval)) * 1000
        limits.deliversAtRefill = form["refill"] != nil
        limits.isLossy = form["mode"]?.text == "today"
        guard
            let token = service.register(
                device: device, topic: topic,
                environment: environment.flatMap { ProviderKey.Environment(rawValue: $0) },
                limits: limits, rotates: form["rotate"] != nil, now: request.milliseconds)
        else { return .plain(503) }
        if form["format"]?.text == "text" {
            return ServerResponse(201, type: "text/plain; charset=utf-8", "\(token)\n")
        }
        return json(
            201, ["token": .string(token), "device": .string(device), "topic": .string(topic)])
    }

    private func withDevice(
        _ request: ServerRequest, _ answer: (PushService.Registration) -> ServerResponse
    ) -> ServerResponse {
        guard let found = service.registration(request.match["token"].text) else {
            return .plain(404)
        }
        return answer(found)
    }

    private func devices() -> ServerResponse {
        let devices = service.state.withLock { state in
            state.tokens.compactMap { state.registrations[$0].map { Self.row($0, state) } }
        }
        return json(200, ["devices": .array(devices)])
    }

    private func device(_ request: ServerRequest) -> ServerResponse {
        withDevice(request) { found in
            json(200, service.state.withLock { Self.row(found, $0) })
        }
    }

    private static func row(
        _ found: PushService.Registration, _ state: PushService.State
    ) -> JSONText {
        let waiting = state.store.stored(found.device).first { $0.topic == found.topic }
        return [
            "token": .string(found.token), "device": .string(found.device),
            "topic": .string(found.topic), "environment": .optional(found.environment?.rawValue),
            "listening": .boolean(state.store.isConnected(found.device)),
            "waiting": .optional(found.end == nil ? waiting?.id : nil),
            "refused": .optional(found.end?.reason.rawValue),
            "refusedSince": .optional(found.end?.at),
        ]
    }

    private func unregister(_ request: ServerRequest) -> ServerResponse {
        let at = request.path.queryValue("at").map { decimal($0) }
        let reason = request.path.queryValue("reason")?.text ?? PushReason.unregistered.rawValue
        guard let reason = PushReason(rawValue: reason), reason.status == 410, at != .some(nil)
        else {
            return .words(400, "at is in seconds since 1970, reason Unregistered or ExpiredToken")
        }
        let time = at.flatMap { $0 }.map { Int64(min($0, 1 << 40)) * 1000 }
        guard
            service.unregister(
                request.match["token"].text, reason, at: time ?? request.milliseconds)
        else { return .plain(404) }
        return ServerResponse(204)
    }

    // MARK: What a device does

    private func events(_ request: ServerRequest, _ body: RequestBody) -> ServerResponse {
        withDevice(request) { found in
            guard found.end == nil else { return .plain(410) }
            let limit = request.path.queryValue("limit").map { decimal($0) } ?? UInt64.max
            guard let limit else { return .plain(400) }
            if let last = request.fields.first(named: "last-event-id").flatMap({ decimal($0) }) {
                _ = service.acknowledge(found.device, through: last, now: request.milliseconds)
            }
            let source = DeviceEventSource(
                service, device: found.device, request: body,
                clockOffset: request.milliseconds - request.receivedAt.microseconds / 1000,
                limit: limit,
                acknowledges: request.path.queryValue("acknowledge")?.text == "auto")
            return ServerResponse(
                200,
                [
                    ResponseField("Content-Type", "text/event-stream"),
                    ResponseField("Cache-Control", "no-store"),
                ], body: .stream(length: nil, source))
        }
    }

    private func acknowledge(_ request: ServerRequest, _ form: CollectedForm) -> ServerResponse {
        withDevice(request) { found in
            guard let ordinal = form["id"].flatMap({ decimal($0) }) else {
                return .words(400, "give id, that of the last event that arrived")
            }
            let count = service.acknowledge(
                found.device, through: ordinal, now: request.milliseconds)
            return json(200, ["changes": .integer(Int64(count))])
        }
    }

    private func notifications(_ request: ServerRequest) -> ServerResponse {
        let token = request.path.queryValue("token")?.text
        let sent = service.state.withLock { state in
            state.sent.values.filter { token == nil || $0.notification.token == token }
        }.sorted { $0.notification.number < $1.notification.number }
        return json(
            200,
            [
                "schema": "sallyport.pushes/1",
                "notifications": .each(sent) { sent in
                    let push = sent.notification
                    return [
                        "id": .string(push.id), "token": .string(push.token),
                        "device": .string(sent.device), "topic": .string(push.topic),
                        "type": .optional(push.type?.rawValue),
                        "priority": .integer(Int64(push.priority)),
                        "silent": .boolean(push.isSilent),
                        "acceptedAt": .integer(sent.acceptedAt),
                        "fate": .string(sent.fate.rawValue), "payload": .bytes(push.payload),
                    ]
                },
            ])
    }

    // MARK: Providers

    private func order(_ request: ServerRequest, _ form: CollectedForm) -> ServerResponse {
        guard let reason = form["reason"].flatMap({ PushReason(rawValue: $0.text) }),
            let count = form.number("count", or: 1, upTo: 1_000_000), count > 0
        else {
            let reasons = PushReason.allCases.map(\.rawValue).joined(separator: ", ")
            return .words(400, "give reason, one of \(reasons), and perhaps count and goaway=1")
        }
        return service.state.withLock { state in
            guard state.answers.count < Self.answerLimit else { return .plain(503) }
            state.answers.append(
                PushService.Answer(
                    reason: reason, endsConnection: form["goaway"] != nil, count: count))
            return ServerResponse(204)
        }
    }

    /// A provider token by the server's own key, of now or of `?iat=`.
    private func token(_ request: ServerRequest) -> ServerResponse {
        let time = request.path.queryValue("iat").map { decimal($0) } ?? UInt64(request.seconds)
        guard let time,
            let text = ProviderToken.text(
                keyID: PushService.ownKeyID, team: PushService.ownTeam,
                issuedAt: Int64(min(time, 1 << 40)), key: service.ownKey)
        else { return .plain(400) }
        return ServerResponse(200, type: "text/plain; charset=utf-8", "\(text)\n")
    }

    /// A public key of a provider, for `?team=`, and perhaps only for `?topics=` and
    /// `?environment=`.
    private func addKey(_ request: ServerRequest, _ body: RequestBody) async -> ServerResponse {
        let environment = request.path.queryValue("environment")?.text
        do throws(Failure) {
            let pem = try await body.collect(byteLimit: Self.keyLimit)
            guard let id = ContentName.text(request.match["id"]),
                let team = ContentName.text(request.path.queryValue("team")),
                environment == nil || ProviderKey.Environment(rawValue: environment ?? "") != nil
            else {
                return .words(
                    400,
                    "give ?team=, and perhaps &topics=a,b and &environment=production or sandbox")
            }
            let topics = request.path.queryValue("topics")?.text.split(separator: ",") ?? []
            let made = ProviderKey(
                id: id, team: team, key: try PublicKey(pem: pem, name: "the request"),
                topics: Set(topics.prefix(Self.answerLimit).map(String.init)),
                environment: environment.flatMap { ProviderKey.Environment(rawValue: $0) })
            guard made.key.isP256 else { return .words(400, "the key is not on P-256") }
            return service.state.withLock { state in
                guard state.keys.count < Self.answerLimit || state.keys[id] != nil else {
                    return .plain(503)
                }
                state.keys[id] = made
                return ServerResponse(204)
            }
        } catch {
            return error.party == .client ? .unreadable(error) : .words(400, error.detail)
        }
    }

    private static let answerLimit = 64
    private static let keyLimit = 4096
}

extension CollectedForm {
    /// A number that may be left out; `nil` for what is none, or too large.
    func number(_ name: String, or standard: UInt64, upTo limit: UInt64) -> UInt64? {
        guard let text = self[name] else { return standard }
        return decimal(text).flatMap { $0 <= limit ? $0 : nil }
    }
}
