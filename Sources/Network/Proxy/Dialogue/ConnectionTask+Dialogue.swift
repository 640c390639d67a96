internal import Base
internal import HTTPCodecs
internal import Negotiation
internal import Origins
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

extension ConnectionTask {
    /// Relays a plain dialogue that is no HTTP, through its switch to TLS if there is one.
    func serveDialogue(
        _ dialled: DialledOrigin, early: ByteBuffer?
    ) async throws(ConnectionEnd) {
        let target = OriginTarget(
            isSecure: false, host: record.originHost, port: record.originPort)
        adopt(dialled, for: target)
        // A dialogue has a state that no other client may come into.
        origin?.isPersonal = true
        let plain = PlainStream(channel)
        client = plain
        let relay = DialogueRelay(
            self, client: plain, origin: PlainStream(dialled.channel), machine: UpgradeMachine(),
            early: early, late: nil, takesHTTP: true)
        record.protocolName = "unknown"
        dialogue = relay
        let end = await relay.run()
        dialogue = nil
        switch end {
        case .closed(let side): throw dialogueEnd(relay, by: side)
        case .http(let request):
            // What it greeted with is its answer.
            let greeting = loop.buffers.take()
            greeting.append(relay.greeting)
            origin?.unread = greeting
            try await serveHTTP(
                PlainStream(channel, readAhead: request), through: .fixed(target, host: nil))
        case .secure(let command, let readAhead):
            record.upgrade = command
            try await secureDialogue(dialled, relay.protocolName, readAhead, relay.greeting)
        }
    }

    /// Relays what is spoken inside of TLS and is no HTTP.
    ///
    /// - Parameter name: what was spoken before TLS, `nil` if TLS came first.
    func serveSecuredDialogue(
        _ stream: any ByteStream, _ leg: OriginLeg, _ name: String?, early: ByteBuffer?,
        late: ByteBuffer?
    ) async throws(ConnectionEnd) {
        client = stream
        leg.isPersonal = true
        let relay = DialogueRelay(
            self, client: stream, origin: leg.stream, machine: UpgradeMachine(insideTLSAfter: name),
            early: early, late: late)
        record.protocolName = name ?? record.clientTLS?.alpn ?? "unknown"
        dialogue = relay
        defer { dialogue = nil }
        guard case .closed(let side) = await relay.run() else { return }
        if side == .client, !relay.hasClientSpoken { throw silentEnd(relay.failure) }
        throw brokenEnd(relay.failure, by: side) ?? ConnectionEnd(.completed, "", by: side)
    }

    /// Secures both legs in mid-stream, the origin's first.
    ///
    /// - Parameter greeting: what the origin said before the client did.
    private func secureDialogue(
        _ dialled: DialledOrigin, _ name: String?, _ readAhead: ByteBuffer?, _ greeting: [UInt8]
    ) async throws(ConnectionEnd) {
        let inner = record.protocolName
        defer { record.protocolName = inner }
        let opening = try await peek(readAhead.flatMap { $0.isEmpty ? nil : $0 })
        guard case .tls(let hello) = opening.kind else {
            throw ConnectionEnd(
                .broken, "client did not begin TLS after \(record.upgrade ?? "the upgrade")",
                by: .client)
        }
        let target = named(
            OriginTarget(isSecure: true, host: record.originHost, port: record.originPort),
            by: hello.serverName)
        note(hello)
        switch disposition(of: hello.serverName ?? target.host, at: target) {
        case .intercept: break
        case .pass(let reason), .release(let reason):
            return try await passThrough(target, opening, dialled, reason: reason)
        case .block(let reason): try await block(hello.serverName ?? target.host, reason)
        }
        let leg = try await securedOrigin(target, hello, dialled, greeting)
        let stream = try await secure(
            hello.serverName ?? target.host, opening,
            protocols: leg.tls?.alpn.map { [$0] } ?? [])
        record.protocolName = inner
        try await serveSecuredDialogue(stream, leg, name, early: nil, late: nil)
    }

    /// The origin's leg from here on; a responder's goes on as it is.
    private func securedOrigin(
        _ target: OriginTarget, _ hello: ClientHello, _ dialled: DialledOrigin,
        _ greeting: [UInt8]
    ) async throws(ConnectionEnd) -> OriginLeg {
        if !worker.responders(for: target.host).isEmpty, let origin { return origin }
        return try await secureOrigin(target, hello, dialled, greeting)
    }

    private func secureOrigin(
        _ target: OriginTarget, _ hello: ClientHello, _ dialled: DialledOrigin,
        _ greeting: [UInt8]
    ) async throws(ConnectionEnd) -> OriginLeg {
        do throws(OriginFailure) {
            // The frames of HTTP/2 would not be relayed as they are.
            let leg = try await leg(
                to: target, serverName: hello.serverName ?? target.serverName,
                offer: .protocols(hello.alpn.filter { $0 != "h2" }), dialled: dialled)
            note(leg)
            guard let failure = refusal(of: leg) else { return leg }
            dropOrigin()
            throw failure
        } catch {
            // Nobody had agreed on TLS: what the origin greeted with is what it speaks.
            let isUnasked = record.upgrade == "ClientHello" && !greeting.isEmpty
            let failure =
                isUnasked
                ? policy.origins.text.handshake(error, behind: greeting, with: target) : error
            note(failure)
            record.closedBy = .tool
            await sendAlert(40)
            throw ConnectionEnd(failure.outcome, failure.failure.detail, by: .tool)
        }
    }

    private func dialogueEnd(
        _ relay: DialogueRelay, by side: ConnectionRecord.Side
    ) -> ConnectionEnd {
        if let end = brokenEnd(relay.failure, by: side) { return end }
        guard let name = relay.protocolName else {
            return ConnectionEnd(
                .passedThrough, "neither TLS nor HTTP was spoken; its bytes are recorded", by: side)
        }
        return ConnectionEnd(.completed, "\(name) was spoken in plain", by: side)
    }

    /// What a relay of bytes came to that did not end in order; `nil` if it did.
    func brokenEnd(
        _ failure: StreamFailure?, by side: ConnectionRecord.Side
    ) -> ConnectionEnd? {
        switch failure {
        case nil, .closed: nil
        case .timedOut: ConnectionEnd(.timedOut, "nothing passed for too long", by: .tool)
        case .reset, .system, .tls:
            ConnectionEnd(.broken, "\(side.rawValue) \(failure?.detail ?? "")", by: side)
        }
    }

    /// Records bytes of a dialogue as they pass.
    func recordSegment(_ bytes: Span<UInt8>, _ direction: Direction, exchange: Int64? = nil) {
        var message = nextMessage(.segment, direction, exchange: exchange)
        message.size = Int64(bytes.count)
        let room = max(0, policy.value.recordedBody - segmentBytes)
        let kept = Int(min(room, Int64(bytes.count)))
        message.bytes = unsafe bytes.extracting(..<kept).withUnsafeBufferPointer {
            unsafe [UInt8]($0)
        }
        message.isTruncated = kept < bytes.count
        segmentBytes += Int64(kept)
        record(message)
    }
}
