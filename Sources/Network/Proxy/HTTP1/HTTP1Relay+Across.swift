internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// A client of HTTP/1 with an origin of HTTP/2.
extension HTTP1Relay {
    func relayAcross(
        _ outgoing: OutgoingRequest, over leg: OriginLeg
    ) async throws(RelayFailure) -> Next {
        guard let http2 = leg.http2 else { throw .originEnded }
        let across = HTTP2OriginExchange(leg, http2, worker: worker)
        exchange?.record.originProtocolName = across.protocolName
        return try await relay(outgoing, across: across)
    }

    /// Brings an exchange about with whoever answers it.
    func relay(
        _ outgoing: OutgoingRequest, across: any OriginExchange
    ) async throws(RelayFailure) -> Next {
        waitedAcross = across
        defer { waitedAcross = nil }
        // It may have said so together with its request.
        hurryIfClientEnded()
        let next: Next
        do throws(RelayFailure) {
            next = try await pass(outgoing, across)
        } catch {
            across.finish(isWhole: false)
            throw error
        }
        across.finish(isWhole: isRequestComplete)
        finish()
        return next
    }

    private func pass(
        _ outgoing: OutgoingRequest, _ across: any OriginExchange
    ) async throws(RelayFailure) -> Next {
        // No protocol is offered to an origin of HTTP/2; a responder sees the request as it came.
        offer = across.agreesBySwitching ? UpgradeOffer(of: outgoing.head.fields) : .none
        let reception: Reception
        if outgoing.framing == .none {
            isRequestComplete = true
            try await across.send(outgoing, endsRequest: true)
            reception = try await receiveAcross(across)
        } else {
            reception = try await passBothWays(outgoing, across)
        }
        switch reception {
        case .delivered(let next): return next
        // Only here, where the client is not read any more.
        case .switched(let head): return try await tunnel(head, across)
        }
    }

    private func passBothWays(
        _ outgoing: OutgoingRequest, _ across: any OriginExchange
    ) async throws(RelayFailure) -> Reception {
        let both = BothEnds()
        try await across.send(outgoing, endsRequest: false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do throws(RelayFailure) {
                    try await self.sendContent(outgoing.framing, to: across)
                } catch {
                    both.noteSend(error)
                    if error.isClients { across.stopReceiving() }
                }
            }
            group.addTask {
                do throws(RelayFailure) {
                    both.reception = try await self.receiveAcross(across)
                } catch {
                    both.noteReceive(error)
                }
                if !self.isRequestComplete {
                    self.client.channel.interrupt()
                    across.stopSending()
                }
            }
            await group.waitForAll()
        }
        client.channel.resumeWaiting()
        if let cause = both.cause { throw cause }
        return isRequestComplete ? both.reception : .delivered(.close)
    }

    private func sendContent(
        _ framing: BodyFraming, to across: any OriginExchange
    ) async throws(RelayFailure) {
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        var reader = BodyReader(framing)
        while !reader.isComplete {
            try await fillClientBuffer()
            guard let buffer = clientBuffer else { throw .clientEnded }
            let consumed = try takeContent(buffer, &reader, into: out)
            buffer.consume(consumed)
            if buffer.isEmpty { releaseClientBuffer() }
            try await across.sendContent(out)
            await worker.recorder.waitForRoom()
        }
        exchange?.noteTrailers(reader.trailers.raw, .request)
        task.noteForbidden(reader.trailers)
        isRequestComplete = true
        try await across.endContent(trailers: reader.trailers)
    }

    private func takeContent(
        _ buffer: ByteBuffer, _ reader: inout BodyReader, into out: ByteBuffer
    ) throws(RelayFailure) -> Int {
        let bytes = buffer.readable
        hasTakenContent = true
        do throws(HTTP1Violation) {
            return try reader.consume(bytes.extracting(..<min(bytes.count, out.room))) { range in
                exchange?.append(bytes.extracting(range), .request)
                out.append(bytes.extracting(range))
            }
        } catch {
            throw .clientViolation(error)
        }
    }

    private func receiveAcross(
        _ across: any OriginExchange
    ) async throws(RelayFailure) -> Reception {
        var interims = InterimAllowance()
        while true {
            let head = try await across.nextHead(
                method: request?.knownMethod ?? .other,
                deadline: loop.now + limits.responseTimeout)
            guard head.isInterim else {
                if head.status == 101, try framing(of: head) == .tunnel { return .switched(head) }
                return .delivered(try await deliver(head, across))
            }
            try head.count(in: &interims)
            exchange?.record.interimHeads.append(head.raw)
            try await forwardInterim(head)
        }
    }

    private func deliver(
        _ head: ResponseHead, _ across: any OriginExchange
    ) async throws(RelayFailure) -> Next {
        exchange?.note(head)
        let coding = ContentCodingOut(head, hasNoContent: across.hasNoContent, request: request)
        let closes =
            !requestKeepsAlive || !isRequestComplete || worker.isDraining || coding == .untilClose
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        let removal = task.removal(from: head)
        scratch.removeAll(keepingCapacity: true)
        HeadWriter.writeResponse(
            head,
            forwarding: Forwarding(
                framing: coding.framing, keepsProxyFields: !entry.isProxy, closes: closes,
                keepsAlive: request?.version == .http10 && !closes, dropping: removal.dropping,
                adding: removal.adding), into: &scratch)
        try await sendToClient(scratch, behind: out)
        hasResponseBegun = true
        exchange?.watchContent(behind: head.fields, .response)
        try await passContent(coding, behind: out, across)
        return closes ? .close : .nextRequest
    }

    /// Passes content and trailers on, behind a head that waits in `out`.
    private func passContent(
        _ coding: ContentCodingOut, behind out: ByteBuffer, _ across: any OriginExchange
    ) async throws(RelayFailure) {
        let content = loop.buffers.take()
        defer { loop.buffers.give(content) }
        while true {
            // What waits goes along with content that is there.
            if !across.isContentWaiting, !out.isEmpty { try await sendToClient(out) }
            content.removeAll()
            let deadline = loop.now + limits.bodyTimeout
            let count = try await across.readContent(into: content, deadline: deadline)
            guard count > 0 else { break }
            exchange?.append(content.readable, .response)
            try await pass(content, coding, behind: out)
            await worker.recorder.waitForRoom()
        }
        exchange?.noteTrailers(across.trailers.raw, .response)
        task.noteForbidden(across.trailers)
        let trailers = TrailerFields.passing(across.trailers).raw
        if coding == .chunked {
            if out.room < trailers.count + Self.chunkRoom { try await sendToClient(out) }
            out.append("0\r\n")
            out.append(trailers.isEmpty ? [13, 10] : trailers)
        }
        if !out.isEmpty { try await sendToClient(out) }
    }

    /// Of what is around a chunk, in bytes.
    private static let chunkRoom = 32

    private func pass(
        _ content: ByteBuffer, _ coding: ContentCodingOut, behind out: ByteBuffer
    ) async throws(RelayFailure) {
        let fits = content.count + Self.chunkRoom <= out.room
        if !fits, out.room < Self.chunkRoom { try await sendToClient(out) }
        if coding == .chunked {
            out.append([UInt8]((String(content.count, radix: 16) + "\r\n").utf8))
        }
        if fits {
            out.append(content.readable)
        } else {
            if !out.isEmpty { try await sendToClient(out) }
            try await sendToClient(content)
        }
        if coding == .chunked { out.append("\r\n") }
    }
}

/// How a content of HTTP/2 is framed for a client of HTTP/1.
private enum ContentCodingOut {
    /// By the length that the head tells, or not at all.
    case asCame
    case empty
    case chunked
    case untilClose

    init(_ head: ResponseHead, hasNoContent: Bool, request: RequestHead?) {
        let tellsLength = head.fields.contains(.contentLength)
        if tellsLength || request?.knownMethod == .head || [204, 304].contains(head.status) {
            self = .asCame
        } else if hasNoContent {
            self = .empty
        } else {
            self = request?.version == .http10 ? .untilClose : .chunked
        }
    }

    var framing: Forwarding.Framing {
        switch self {
        case .asCame: .asCame
        case .empty: .length(0)
        case .chunked: .chunked
        case .untilClose: .untilClose
        }
    }
}
