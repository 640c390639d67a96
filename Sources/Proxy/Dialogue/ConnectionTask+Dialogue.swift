internal import Base
internal import HTTPCodecs
internal import Negotiation
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
        let plain = PlainStream(channel)
        client = plain
        let relay = DialogueRelay(
            self, client: plain, origin: PlainStream(dialled.channel), machine: UpgradeMachine(),
            early: early, late: nil)
        record.protocolName = "unknown"
        switch await relay.run() {
        case .closed(let side):
            origin?.isPersonal = true
            throw dialogueEnd(relay.protocolName, by: side)
        case .secure(let command, let readAhead):
            record.upgrade = command
            try await secureDialogue(dialled, relay.protocolName, readAhead)
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
        if case .closed(let side) = await relay.run() {
            record.closedBy = side
        }
    }

    /// Secures both legs in mid-stream, the origin's first.
    private func secureDialogue(
        _ dialled: DialledOrigin, _ name: String?, _ readAhead: ByteBuffer?
    ) async throws(ConnectionEnd) {
        let opening = try await peek(readAhead.flatMap { $0.isEmpty ? nil : $0 })
        guard case .tls(let hello) = opening.kind else {
            throw ConnectionEnd(
                .broken, "client did not begin TLS after \(record.upgrade ?? "the upgrade")",
                by: .client)
        }
        let target = OriginTarget(
            isSecure: true, host: record.originHost, port: record.originPort)
        let inner = record.protocolName
        note(hello)
        record.protocolName = inner
        let leg: OriginLeg
        do throws(OriginFailure) {
            leg = try await lane.origin(
                target, serverName: hello.serverName ?? target.serverName,
                offer: .protocols(hello.alpn), reach: reach, dialled: dialled)
            note(leg)
            if let failure = refusal(of: leg) { throw failure }
        } catch {
            note(error)
            throw ConnectionEnd(error.outcome, error.failure.detail, by: .tool)
        }
        let stream = try await secure(
            hello.serverName ?? target.host, opening,
            protocols: leg.tls?.alpn.map { [$0] } ?? [])
        try await serveSecuredDialogue(stream, leg, name, early: nil, late: nil)
    }

    private func dialogueEnd(_ name: String?, by side: ConnectionRecord.Side) -> ConnectionEnd {
        guard let name else {
            return ConnectionEnd(
                .passedThrough, "neither TLS nor HTTP was spoken; its bytes are recorded", by: side)
        }
        return ConnectionEnd(.completed, "\(name) was spoken in plain", by: side)
    }

    /// Records bytes of a dialogue as they pass.
    func recordSegment(_ bytes: Span<UInt8>, _ direction: Direction, exchange: Int64? = nil) {
        var message = nextMessage(.segment, direction, exchange: exchange)
        message.size = Int64(bytes.count)
        let room = max(0, limits.recordedBody - segmentBytes)
        let kept = Int(min(room, Int64(bytes.count)))
        message.bytes = unsafe bytes.extracting(..<kept).withUnsafeBufferPointer {
            unsafe [UInt8]($0)
        }
        message.isTruncated = kept < bytes.count
        segmentBytes += Int64(kept)
        lane.recorder.record(.message(message))
    }

    // MARK: Facts

    func note(_ fact: UpgradeFact) {
        switch fact {
        case .named(let name): record.protocolName = name
        case .offered(let command): noteOnce("upgrade-offered", "the origin offers \(command)")
        case .asked(let command): noteOnce("upgrade-asked", "the client asked for \(command)")
        case .refused(let command, let answer):
            noteOnce("upgrade-refused", "the origin refused \(command): \(answer)")
        case .plaintextLogin(let login):
            guard login.exposesSecret else { return }
            let offered =
                login.wasUpgradeOffered ? "although the origin offers TLS" : "without TLS"
            noteOnce("plaintext-login", "the client logged in by \(login.command) \(offered)")
        case .otherEncryption:
            noteOnce("other-encryption", "both sides agreed on GSSAPI, which is not decrypted")
        }
    }

    func note(_ injected: InjectedBytes) {
        noteOnce(
            "upgrade-injection",
            "\(injected.side.rawValue) sent \(injected.count) plain bytes behind the switch to TLS;"
                + " they were dropped")
    }

    func noteOnce(_ code: String, _ detail: String) {
        guard record.notes.count < 64, !record.notes.contains(where: { $0.code == code }) else {
            return
        }
        record.notes.append(ConnectionNote(code, detail))
    }
}
