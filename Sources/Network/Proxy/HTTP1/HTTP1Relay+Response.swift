internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// What became of a response.
enum Reception {
    case delivered(HTTP1Relay.Next)
    /// It agrees to speak another protocol from here on, and has not been passed on yet.
    case switched(ResponseHead)
}

extension HTTP1Relay {
    /// Brings the responses to one request to the client: the interim ones in order, and the final.
    func receive(over leg: OriginLeg) async throws(RelayFailure) -> Reception {
        var deadline = loop.now + limits.responseTimeout
        var interims = InterimAllowance()
        waitedFor = leg
        defer { waitedFor = nil }
        while true {
            let head = try await responseHead(leg, deadline)
            guard head.isInterim else { return try await deliver(head, over: leg) }
            try head.count(in: &interims)
            _ = try framing(of: head)
            exchange?.record.interimHeads.append(head.raw)
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
        let deadline = loop.now + worker.halfCloseGrace
        waitedAcross?.hurry(until: deadline)
        guard let leg = waitedFor else { return }
        if isRequestComplete, !leg.hasFinished, hasClientEnded() {
            leg.hasFinished = true
            hasPassedEndOn = true
            // So that an origin that stops working for a client that is gone does so at once.
            worker.background.add { await leg.stream.finish() }
        }
        // An origin of the client's own knows of the end, and may answer as late as without us.
        guard !task.mirrorsOrigin || worker.isDraining else { return }
        leg.stream.channel.hurryReading(until: deadline)
    }

    /// Whether the client has ended its direction with nothing before the end: requests that were
    /// sent ahead of it are still to be answered.
    ///
    /// Nothing is waited for in between, because the buffer is the connection's: whoever goes on
    /// meanwhile may give it back, and others of the loop take it.
    private func hasClientEnded() -> Bool {
        guard clientBuffer == nil else { return false }
        let buffer = loop.buffers.take()
        var hasEnded = false
        do throws(StreamFailure) {
            hasEnded = try client.readAtOnce(into: buffer) == 0
        } catch {
            // It broke off, which ends the exchange by itself.
            hasEnded = false
        }
        clientBuffer = buffer
        if buffer.isEmpty { releaseClientBuffer() }
        return hasEnded
    }

    func hurryIfClientEnded() {
        if client.channel.peerEnded { hurryOrigin() }
    }

    private func responseHead(
        _ leg: OriginLeg, _ deadline: UInt64
    ) async throws(RelayFailure) -> ResponseHead {
        leg.stream.readDeadline = deadline
        hurryIfClientEnded()
        do throws(OriginReadFailure) {
            return try await leg.readHead(limits: limits.responseHead, longHeads: worker.longHeads)
        } catch {
            if case .violation = error { exchange?.record.responseHead = leg.brokenHead }
            throw RelayFailure(error)
        }
    }

    func forwardInterim(_ head: ResponseHead) async throws(RelayFailure) {
        // RFC 9110 §15.2: a client of HTTP/1.0 must not be sent one.
        guard request?.version == .http11 else { return }
        var bytes: [UInt8] = []
        HeadWriter.writeResponse(head, into: &bytes)
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        try await sendToClient(bytes, behind: out)
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
    ) async throws(RelayFailure) -> Reception {
        exchange?.note(head)
        leg.notePersonal(head.fields)
        let framing = try framing(of: head)
        if framing == .tunnel { return .switched(head) }
        let plan = DeliveryPlan(
            framing: framing, head: head, removal: task.removal(from: head),
            isOldClient: request?.version == .http10, keepsVersion: leg.isOwned,
            keepsProxyFields: !entry.isProxy, expectsNext: requestKeepsAlive,
            // The client of an origin of its own is told when that means to close.
            clientKeepsAlive: requestKeepsAlive && isRequestComplete && !worker.isDraining
                && (!leg.isOwned || head.keepsConnection),
            tellsKeepAlive: leg.isOwned && head.fields.asksToKeepAlive)
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        scratch.removeAll(keepingCapacity: true)
        HeadWriter.writeResponse(head, forwarding: plan.forwarding, into: &scratch)
        try await sendToClient(scratch, behind: out)
        hasResponseBegun = true
        exchange?.watchContent(behind: head.fields, .response)
        let trailers = try await relayBody(plan, out, over: leg)
        exchange?.noteTrailers(trailers.raw, .response)
        task.noteForbidden(trailers)
        if framing == .untilClose, !leg.stream.endedInOrder { return .delivered(truncate()) }
        keepOrDrop(leg, head, framing)
        finish()
        return .delivered(plan.closes ? .close : .nextRequest)
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

    func framing(of head: ResponseHead) throws(RelayFailure) -> BodyFraming {
        do throws(HTTP1Violation) {
            return try MessageFraming.ofResponse(
                head, toMethod: request?.knownMethod ?? .other, offer: offer,
                isRequestWhole: isRequestComplete)
        } catch {
            throw .originViolation(error)
        }
    }

    /// Relays the content behind a head that waits in `out`, and returns the trailers.
    private func relayBody(
        _ plan: DeliveryPlan, _ out: ByteBuffer, over leg: OriginLeg
    ) async throws(RelayFailure) -> Fields {
        var reader = BodyReader(plan.framing, trailerLimits: .response)
        while !reader.isComplete {
            if leg.unread == nil {
                try await sendToClient(out)
                leg.stream.readDeadline = loop.now + limits.bodyTimeout
                do throws(OriginReadFailure) {
                    try await leg.fill()
                } catch {
                    if case .ended = error, plan.framing == .untilClose { return .none }
                    throw RelayFailure(error)
                }
            }
            guard let buffer = leg.unread else { throw .originEnded }
            var soundCount = 0
            let consumed: Int
            do throws(RelayFailure) {
                consumed = try consumeResponseBody(buffer, &reader, plan, out, &soundCount)
            } catch {
                // The client sees what came before the flaw, as it would of the origin itself.
                try await sendToClient(out)
                if !plan.decodes { out.append(buffer.readable.extracting(..<soundCount)) }
                try await sendToClient(out)
                throw error
            }
            let passed = consumed - reader.withheldCount
            if plan.decodes {
                buffer.consume(consumed)
                try await sendToClient(out)
            } else if passed == buffer.count, buffer.count > out.room {
                if !out.isEmpty { try await sendToClient(out) }
                try await sendToClient(buffer)
            } else {
                if passed > out.room { try await sendToClient(out) }
                out.append(buffer.readable.extracting(..<passed))
                buffer.consume(consumed)
            }
            if buffer.isEmpty { leg.releaseUnread() }
            if reader.lacksReturn, !plan.decodes { try await sendToClient([0x0D], behind: out) }
            await worker.recorder.waitForRoom()
        }
        leg.leniency.formUnion(reader.leniency)
        if !plan.decodes { try await sendToClient(reader.closing, behind: out) }
        try await sendToClient(out)
        return reader.trailers
    }

    /// Puts bytes behind those that wait, which are sent if there is no room.
    func sendToClient(_ bytes: [UInt8], behind out: ByteBuffer) async throws(RelayFailure) {
        var start = 0
        while bytes.count - start > out.room {
            let count = out.room
            out.append(bytes.span.extracting(start..<start + count))
            start += count
            try await sendToClient(out)
        }
        out.append(bytes.span.extracting(start...))
    }

    /// Walks over what waits; a content that leaves its chunks behind is written to `out`.
    ///
    /// - Parameter soundCount: is set to how many bytes end with content that came in order.
    private func consumeResponseBody(
        _ buffer: ByteBuffer, _ reader: inout BodyReader, _ plan: DeliveryPlan, _ out: ByteBuffer,
        _ soundCount: inout Int
    ) throws(RelayFailure) -> Int {
        if plan.decodes, out.room < buffer.count { out.compact() }
        let bytes = buffer.readable
        let limit = plan.decodes ? min(bytes.count, out.room) : bytes.count
        do throws(HTTP1Violation) {
            return try reader.consume(bytes.extracting(..<limit)) { range in
                let content = bytes.extracting(range)
                exchange?.append(content, .response)
                if plan.decodes { out.append(content) }
                soundCount = range.upperBound
            }
        } catch {
            throw .originViolation(error)
        }
    }

    /// Keeps the origin's connection for the next request if nothing speaks against it.
    @inline(never)
    private func keepOrDrop(_ leg: OriginLeg, _ head: ResponseHead, _ framing: BodyFraming) {
        let isReusable =
            head.keepsConnection && framing != .untilClose && leg.unread == nil
            && isRequestComplete
        if !isReusable { dropOrigin() }
    }

    // MARK: Tunnels

    /// Passes a 101 or a 2xx to CONNECT on and relays what follows, in whatever protocol.
    func goOn(
        behind head: ResponseHead, over leg: OriginLeg
    ) async throws(RelayFailure) -> Next {
        if isUpgradeToHTTP2(head) { return try await upgradeToHTTP2(head, over: leg) }
        let next = try await tunnel(head, to: leg.stream) { leg.unread.take() }
        dropOrigin()
        finish()
        return next
    }

    /// The same with whoever answers in an origin's place.
    func tunnel(
        _ head: ResponseHead, _ across: any OriginExchange
    ) async throws(RelayFailure) -> Next {
        exchange?.note(head)
        let (stream, late) = across.tunnel()
        return try await tunnel(head, to: stream) { late }
    }

    private func tunnel(
        _ head: ResponseHead, to origin: any TunnelStream, late: () -> ByteBuffer?
    ) async throws(RelayFailure) -> Next {
        scratch.removeAll(keepingCapacity: true)
        HeadWriter.writeResponse(
            head,
            forwarding: Forwarding(keepsUpgrade: true, keepsProxyFields: !entry.isProxy),
            into: &scratch)
        let out = loop.buffers.take()
        hasResponseBegun = true
        do throws(RelayFailure) {
            try await sendToClient(scratch, behind: out)
            try await sendToClient(out)
            loop.buffers.give(out)
        } catch {
            loop.buffers.give(out)
            throw error
        }
        let early = clientBuffer
        clientBuffer = nil
        let id = exchange?.record.id ?? 0
        let messages =
            WebSocketRecorder.isBegun(by: head, asked: request)
            ? WebSocketRecorder(
                task, exchange: id, response: head, byteLimit: limits.recordedBody) : nil
        let tunnel = TunnelTask(
            client: client, origin: origin, worker: worker, early: early, late: late()
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
    private let saysClose: Bool
    private let keepsVersion: Bool
    private let keepsAlive: Bool
    private let keepsUpgrade: Bool
    private let keepsProxyFields: Bool
    private let removal: HTTP3Removal

    init(
        framing: BodyFraming, head: ResponseHead, removal: HTTP3Removal, isOldClient: Bool,
        keepsVersion: Bool, keepsProxyFields: Bool, expectsNext: Bool, clientKeepsAlive: Bool,
        tellsKeepAlive: Bool
    ) {
        self.removal = removal
        self.keepsProxyFields = keepsProxyFields
        // What an origin would rather speak (RFC 9110 §15.5.22).
        keepsUpgrade = !UpgradeOffer(of: head.fields).isEmpty
        self.framing = framing
        decodes = isOldClient && framing == .chunked
        closes = !clientKeepsAlive || framing == .untilClose || decodes
        keepsAlive = isOldClient || tellsKeepAlive
        self.keepsVersion = keepsVersion
        // Between a client and an origin of its own as the origin has it, but for an end that both
        // do not expect.
        saysClose =
            closes
            && (!keepsVersion || head.fields.contains(.connection, token: "close")
                || expectsNext && head.keepsConnection && framing != .untilClose)
    }

    var forwarding: Forwarding {
        Forwarding(
            framing: decodes ? .untilClose : .asCame, keepsVersion: keepsVersion,
            keepsUpgrade: keepsUpgrade, keepsProxyFields: keepsProxyFields, closes: saysClose,
            keepsAlive: keepsAlive && !closes, dropping: removal.dropping, adding: removal.adding)
    }
}
