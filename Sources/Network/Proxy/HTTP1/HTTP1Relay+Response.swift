internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// The client's side of one exchange after the other: their responses.
extension HTTP1Relay {
    /// How a content is framed for the client.
    enum Coding {
        /// As it came, by the length that the head tells, or not at all.
        case asCame
        case chunked
        case untilClose
    }

    func inform(_ head: ResponseHead) async throws(RelayFailure) {
        // RFC 9110 §15.2: a client of HTTP/1.0 must not be sent one.
        guard exchange?.request?.version == .http11 else { return }
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        try await send(head, Forwarding(), behind: out)
        try await sendToClient(out)
    }

    func begin(
        _ head: ResponseHead, from origin: any OriginExchange, isEmpty: Bool,
        of exchange: ExchangeTask
    ) async throws(RelayFailure) -> Bool {
        let out = heldBack ?? loop.buffers.take()
        heldBack = out
        guard let origin = origin.http1 else {
            lengthLeft = try exchange.contentLength(of: head)
            if !put(head, forwarding(of: head, isEmpty: isEmpty, exchange), behind: out) {
                try await sendToClient(worker.takeScratch(), behind: out)
            }
            exchange.hasResponseBegun = true
            return false
        }
        if !put(head, forwarding(of: head, splicing: origin, exchange), behind: out) {
            try await sendToClient(worker.takeScratch(), behind: out)
        }
        exchange.hasResponseBegun = true
        try await splice(origin, of: exchange, behind: out)
        try await sendToClient(out)
        return true
    }

    /// How a head goes on whose content goes on with its framing, but for a client that does not
    /// know chunks.
    private func forwarding(
        of head: ResponseHead, splicing origin: HTTP1OriginExchange, _ exchange: ExchangeTask
    ) -> Forwarding {
        let isOld = exchange.request?.version == .http10
        let (isOwned, endsWithConnection) = (origin.leg.isOwned, origin.framing == .untilClose)
        let expectsNext = exchange.request?.asksForAnother ?? false
        coding = isOld && origin.framing == .chunked ? .untilClose : .asCame
        // The client of an origin of its own is told when that means to close.
        closesConnection =
            exchange.closesConnection || isOwned && !head.keepsConnection || endsWithConnection
            || coding == .untilClose
        // Between a client and an origin of its own as the origin has it, but for an end that both
        // do not expect.
        let saysClose =
            !isOwned || head.fields.contains(.connection, token: "close")
            || expectsNext && head.keepsConnection && !endsWithConnection
        return Forwarding(
            framing: coding == .untilClose ? .untilClose : .asCame, keepsVersion: isOwned,
            // What an origin would rather speak (RFC 9110 §15.5.22).
            keepsUpgrade: !UpgradeOffer(of: head.fields).isEmpty,
            keepsProxyFields: !entry.isProxy, closes: closesConnection && saysClose,
            keepsAlive: (isOld || isOwned && head.fields.asksToKeepAlive) && !closesConnection)
    }

    /// How a head goes on whose content comes without a framing of HTTP/1.
    private func forwarding(
        of head: ResponseHead, isEmpty: Bool, _ exchange: ExchangeTask
    ) -> Forwarding {
        let request = exchange.request
        let isOld = request?.version == .http10
        var framing = Forwarding.Framing.asCame
        coding = .asCame
        if !head.fields.contains(.contentLength), request?.knownMethod != .head,
            ![204, 304].contains(head.status)
        {
            framing = isEmpty ? .length(0) : isOld ? .untilClose : .chunked
            if !isEmpty { coding = isOld ? .untilClose : .chunked }
        }
        closesConnection = exchange.closesConnection || coding == .untilClose
        return Forwarding(
            framing: framing, keepsProxyFields: !entry.isProxy, closes: closesConnection,
            keepsAlive: isOld && !closesConnection)
    }

    /// Relays a content without copying what fills a buffer.
    private func splice(
        _ origin: HTTP1OriginExchange, of exchange: ExchangeTask, behind out: ByteBuffer
    ) async throws(RelayFailure) {
        guard var reader = origin.takeReader() else { return }
        let (leg, decodes) = (origin.leg, coding == .untilClose)
        while !reader.isComplete {
            if leg.unread == nil {
                try await sendToClient(out)
                guard try await origin.fill(until: loop.now + limits.bodyTimeout) else { return }
            }
            guard let buffer = leg.unread else { throw .originEnded }
            var soundCount = 0
            let consumed: Int
            do throws(RelayFailure) {
                consumed = try walk(over: buffer, &reader, exchange, out, &soundCount)
            } catch {
                // The client sees what came before the flaw, as it would of the origin itself.
                try await sendToClient(out)
                if !decodes { out.append(buffer.readable.extracting(..<soundCount)) }
                try await sendToClient(out)
                throw error
            }
            let passed = consumed - reader.withheldCount
            if decodes {
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
            if reader.lacksReturn, !decodes { try await sendToClient([0x0D], behind: out) }
            if worker.recorder.isCongested { await worker.recorder.waitForRoom() }
        }
        origin.noteEnd(of: reader)
        if !decodes, !reader.closing.isEmpty {
            try await sendToClient(reader.closing, behind: out)
        }
    }

    /// Records the content in what waits; one that leaves its chunks behind is written to `out`.
    ///
    /// - Parameter soundCount: is set to how many bytes end with content that came in order.
    private func walk(
        over buffer: ByteBuffer, _ reader: inout BodyReader, _ exchange: ExchangeTask,
        _ out: ByteBuffer, _ soundCount: inout Int
    ) throws(RelayFailure) -> Int {
        let (decodes, record) = (coding == .untilClose, exchange.record)
        if decodes, out.room < buffer.count { out.compact() }
        let bytes = buffer.readable
        let limit = decodes ? min(bytes.count, out.room) : bytes.count
        do throws(HTTP1Violation) {
            return try reader.consume(bytes.extracting(..<limit)) { range in
                let content = bytes.extracting(range)
                record?.append(content, .response)
                if decodes { out.append(content) }
                soundCount = range.upperBound
            }
        } catch {
            throw .originViolation(error)
        }
    }

    var holdsBack: Bool { heldBack.map { !$0.isEmpty } ?? false }

    func flush() async throws(RelayFailure) {
        if let heldBack, !heldBack.isEmpty { try await sendToClient(heldBack) }
    }

    /// Of what is around a chunk, in bytes.
    private static let chunkRoom = 32

    func sendContent(_ content: ByteBuffer) async throws(RelayFailure) {
        guard let out = heldBack else { return }
        let count = UInt64(content.count)
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
        lengthLeft = lengthLeft.map { $0 - min($0, count) }
    }

    func endContent(trailers: Fields) async throws(RelayFailure) {
        if coding == .chunked, let heldBack {
            let passing = TrailerFields.passing(trailers).raw
            if heldBack.room < passing.count + Self.chunkRoom { try await sendToClient(heldBack) }
            heldBack.append("0\r\n")
            heldBack.append(passing.isEmpty ? [13, 10] : passing)
        }
        try await flush()
    }

    // MARK: Sending

    /// Puts a head behind what waits in `out`.
    func send(
        _ head: ResponseHead, _ forwarding: Forwarding, behind out: ByteBuffer
    ) async throws(RelayFailure) {
        if !put(head, forwarding, behind: out) {
            try await sendToClient(worker.takeScratch(), behind: out)
        }
    }

    /// The same of one that fits; false of another, which waits in the worker's `scratch`.
    private func put(
        _ head: ResponseHead, _ forwarding: Forwarding, behind out: ByteBuffer
    ) -> Bool {
        worker.scratch.removeAll(keepingCapacity: true)
        HeadWriter.writeResponse(head, forwarding: forwarding, into: &worker.scratch)
        guard worker.scratch.count <= out.room else { return false }
        out.append(worker.scratch)
        return true
    }

    /// Puts bytes behind those that wait, which are sent if there is no room.
    private func sendToClient(
        _ bytes: [UInt8], behind out: ByteBuffer
    ) async throws(RelayFailure) {
        var start = 0
        while bytes.count - start > out.room {
            let count = out.room
            out.append(bytes.span.extracting(start..<start + count))
            start += count
            try await sendToClient(out)
        }
        out.append(bytes.span.extracting(start...))
    }

    func sendToClient(_ buffer: ByteBuffer) async throws(RelayFailure) {
        guard !buffer.isEmpty else { return }
        client.writeDeadline = loop.now + limits.bodyTimeout
        do throws(StreamFailure) {
            if try client.writeAtOnce(buffer) { return }
            try await client.write(buffer)
        } catch {
            throw .client(error)
        }
    }
}
