internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Messages
internal import Sockets
internal import Traffic
internal import Transport

extension HTTPRelay {
    /// Brings the responses to one request to the client: the interim ones in order, and the final.
    func receive(over leg: OriginLeg) async throws(RelayFailure) -> Next {
        var deadline = loop.now + limits.responseTimeout
        waitedFor = leg
        defer { waitedFor = nil }
        while true {
            let head = try await responseHead(leg, deadline)
            guard head.isInterim else { return try await deliver(head, over: leg) }
            guard let exchange, exchange.interimHeads.count < Self.interimLimit else {
                throw .originViolation(.tooManyFields)
            }
            _ = try framing(of: head)
            self.exchange?.interimHeads.append(head.raw)
            try await forwardInterim(head)
            deadline = loop.now + limits.responseTimeout
        }
    }

    /// Lets the origin know little time once the client has ended its direction: it may still read
    /// the answer, or be gone.
    func hurryOrigin() {
        if client.channel.isBroken {
            waitedAcross?.stopReceiving()
            waitedFor?.stream.channel.interrupt()
        }
        let deadline = loop.now + lane.halfCloseGrace
        waitedAcross?.hurry(until: deadline)
        waitedFor?.stream.channel.hurryReading(until: deadline)
    }

    func hurryIfClientEnded() {
        if client.channel.peerEnded { hurryOrigin() }
    }

    /// Interim responses to one request; more are an attack.
    private static let interimLimit = 64

    private func responseHead(
        _ leg: OriginLeg, _ deadline: UInt64
    ) async throws(RelayFailure) -> ResponseHead {
        leg.stream.readDeadline = deadline
        hurryIfClientEnded()
        do throws(RelayFailure) {
            return try await leg.readHead()
        } catch {
            if case .originViolation = error { exchange?.responseHead = leg.brokenHead }
            throw error
        }
    }

    func forwardInterim(_ head: ResponseHead) async throws(RelayFailure) {
        // RFC 9110 §15.2: a client of HTTP/1.0 must not be sent one.
        guard request?.version == .http11 else { return }
        var bytes: [UInt8] = []
        HeadWriter.writeResponse(head, into: &bytes)
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        out.append(bytes)
        try await sendToClient(out)
    }

    func sendToClient(_ buffer: ByteBuffer) async throws(RelayFailure) {
        client.writeDeadline = loop.now + limits.bodyTimeout
        do throws(StreamFailure) {
            try await client.write(buffer)
        } catch {
            throw .client(error)
        }
    }

    // MARK: The final response

    private func deliver(
        _ head: ResponseHead, over leg: OriginLeg
    ) async throws(RelayFailure) -> Next {
        noteResponse(head)
        notePersonal(head.fields, leg)
        let framing = try framing(of: head)
        if isUpgradeToHTTP2(head) { return try await upgradeToHTTP2(head, over: leg) }
        if framing == .tunnel { return try await tunnel(head, over: leg) }
        let plan = DeliveryPlan(
            framing: framing, removal: task.removal(from: head),
            isOldClient: request?.version == .http10,
            clientKeepsAlive: requestKeepsAlive && isRequestComplete && !lane.isDraining)
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        scratch.removeAll(keepingCapacity: true)
        HeadWriter.writeResponse(head, forwarding: plan.forwarding, into: &scratch)
        out.append(scratch)
        hasResponseBegun = true
        responseMessages = BodyMessageReader(head.fields, exchange: exchange?.id ?? 0, .response)
        defer { responseMessages = nil }
        let trailers = try await relayBody(plan, out, over: leg)
        responseBody.noteTrailers(trailers)
        if framing == .untilClose, !leg.stream.endedInOrder { return truncate() }
        keepOrDrop(leg, head, framing)
        finish()
        return plan.closes ? .close : .nextRequest
    }

    /// Shows the client the same end as the origin's: one without close_notify, which says that the
    /// content may not be whole (RFC 9112 §9.8).
    private func truncate() -> Next {
        dropOrigin()
        let (code, detail) = RelayFailure.originTruncated.words
        finish(error: code, detail)
        task.note(.originTruncated, detail)
        client.close()
        return .close
    }

    private func framing(of head: ResponseHead) throws(RelayFailure) -> BodyFraming {
        do throws(HTTP1Violation) {
            return try MessageFraming.ofResponse(head, toMethod: request?.knownMethod ?? .other)
        } catch {
            throw .originViolation(error)
        }
    }

    @inline(never)
    func noteResponse(_ head: ResponseHead) {
        guard let startedAt = exchange?.startedAt else { return }
        exchange?.responseHead = head.raw
        exchange?.status = head.status
        exchange?.firstByteMicroseconds = Timestamp.now().microseconds(since: startedAt)
    }

    /// Relays the content behind a head that waits in `out`, and returns the trailers.
    private func relayBody(
        _ plan: DeliveryPlan, _ out: ByteBuffer, over leg: OriginLeg
    ) async throws(RelayFailure) -> [UInt8] {
        var reader = BodyReader(plan.framing)
        while !reader.isComplete {
            if leg.unread == nil {
                try await sendToClient(out)
                leg.stream.readDeadline = loop.now + limits.bodyTimeout
                do throws(RelayFailure) {
                    try await leg.fill()
                } catch .originEnded where plan.framing == .untilClose {
                    return []
                }
            }
            guard let buffer = leg.unread else { throw .originEnded }
            let consumed = try consumeResponseBody(buffer, &reader, plan, out)
            if plan.decodes {
                buffer.consume(consumed)
                try await sendToClient(out)
            } else if consumed == buffer.count, buffer.count > out.room {
                if !out.isEmpty { try await sendToClient(out) }
                try await sendToClient(buffer)
            } else {
                if consumed > out.room { try await sendToClient(out) }
                out.append(buffer.readable.extracting(..<consumed))
                buffer.consume(consumed)
            }
            if buffer.isEmpty { leg.releaseUnread() }
            await lane.recorder.waitForRoom()
        }
        try await sendToClient(out)
        return reader.trailers.raw
    }

    /// Walks over what waits; a content that leaves its chunks behind is written to `out`.
    private func consumeResponseBody(
        _ buffer: ByteBuffer, _ reader: inout BodyReader, _ plan: DeliveryPlan, _ out: ByteBuffer
    ) throws(RelayFailure) -> Int {
        if plan.decodes, out.room < buffer.count { out.compact() }
        let bytes = buffer.readable
        let limit = plan.decodes ? min(bytes.count, out.room) : bytes.count
        do throws(HTTP1Violation) {
            return try reader.consume(bytes.extracting(..<limit)) { range in
                let content = bytes.extracting(range)
                responseMessages?.read(content, to: task)
                responseBody.append(content, to: lane.recorder)
                if plan.decodes { out.append(content) }
            }
        } catch {
            throw .originViolation(error)
        }
    }

    /// Keeps the origin's connection for the next request if nothing speaks against it.
    @inline(never)
    private func keepOrDrop(_ leg: OriginLeg, _ head: ResponseHead, _ framing: BodyFraming) {
        let isReusable =
            head.version == .http11 && framing != .untilClose && leg.unread == nil
            && isRequestComplete && !head.fields.contains(.connection, token: "close")
        if !isReusable { dropOrigin() }
    }

    // MARK: Tunnels

    /// Passes a 101 or a 2xx to CONNECT on and relays what follows, in whatever protocol.
    private func tunnel(
        _ head: ResponseHead, over leg: OriginLeg
    ) async throws(RelayFailure) -> Next {
        let next = try await tunnel(head, to: leg.stream) { leg.unread.take() }
        dropOrigin()
        finish()
        return next
    }

    /// The same with whoever answers in an origin's place.
    func tunnel(
        _ head: ResponseHead, _ across: any OriginExchange
    ) async throws(RelayFailure) -> Next {
        noteResponse(head)
        let (stream, late) = across.tunnel()
        return try await tunnel(head, to: stream) { late }
    }

    private func tunnel(
        _ head: ResponseHead, to origin: any TunnelStream, late: () -> ByteBuffer?
    ) async throws(RelayFailure) -> Next {
        scratch.removeAll(keepingCapacity: true)
        HeadWriter.writeResponse(head, forwarding: Forwarding(keepsUpgrade: true), into: &scratch)
        let out = loop.buffers.take()
        out.append(scratch)
        hasResponseBegun = true
        do throws(RelayFailure) {
            try await sendToClient(out)
            loop.buffers.give(out)
        } catch {
            loop.buffers.give(out)
            throw error
        }
        let early = clientBuffer
        clientBuffer = nil
        let id = exchange?.id ?? 0
        let messages =
            WebSocketRecorder.isBegun(by: head, asked: request)
            ? WebSocketRecorder(
                task, exchange: id, response: head, byteLimit: limits.recordedBody) : nil
        let tunnel = TunnelTask(
            client: client, origin: origin, lane: lane, early: early, late: late()
        ) { [task] direction, bytes in
            if let messages {
                task.observe(direction, bytes, messages)
            } else {
                task.recordSegment(bytes, direction, exchange: id)
            }
        }
        let end = await tunnel.run()
        messages?.finish()
        task.record.closedBy = end
        return .close
    }
}

/// How a response's content goes to the client.
private struct DeliveryPlan {
    let framing: BodyFraming
    /// Whether chunks are taken off, for a client that does not know them.
    let decodes: Bool
    let closes: Bool
    private let keepsAlive: Bool
    private let removal: HTTP3Removal

    init(
        framing: BodyFraming, removal: HTTP3Removal, isOldClient: Bool, clientKeepsAlive: Bool
    ) {
        self.removal = removal
        self.framing = framing
        decodes = isOldClient && framing == .chunked
        closes = !clientKeepsAlive || framing == .untilClose || decodes
        keepsAlive = isOldClient
    }

    var forwarding: Forwarding {
        Forwarding(
            framing: decodes ? .untilClose : .asCame, closes: closes,
            keepsAlive: keepsAlive && !closes, dropping: removal.dropping, adding: removal.adding)
    }
}
