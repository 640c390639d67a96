internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// The client's side of one exchange after the other: their requests.
extension HTTP1Relay: ExchangeClient {
    var version: HTTPVersion { .http11 }
    var ownsConnection: Bool { true }

    func framing(of head: RequestHead) throws(HTTP1Violation) -> BodyFraming {
        try MessageFraming.ofRequest(head)
    }

    /// An origin of HTTP/1 takes the content with its framing, as it came.
    func beginContent(_ framing: BodyFraming, for origin: any OriginExchange) {
        requestBody = BodyReader(framing)
        contentPatience = limits.bodyTimeout
        requestTrailers = .none
        keepsRequestFraming = origin.http1 != nil
        hasReadContent = false
        closing = []
    }

    func hasWholeContent(_ request: OutgoingRequest) -> Bool {
        guard case .length(let length) = request.framing, let clientBuffer else { return false }
        return length <= UInt64(clientBuffer.count) && !request.head.fields.contains(.expect)
    }

    func readContent(
        into out: ByteBuffer, of exchange: ExchangeTask
    ) async throws(RelayFailure) -> Int {
        // Many clients write the head and the content apart.
        if !exchange.hasTakenContent, clientBuffer?.isEmpty ?? true {
            client.channel.acknowledgeAtOnce()
        }
        while requestBody != nil {
            try await fillClientBuffer()
            guard let buffer = clientBuffer else { throw .clientEnded }
            try takeContent(from: buffer, into: out, of: exchange)
            if buffer.isEmpty { releaseClientBuffer() }
            if !out.isEmpty { return out.count }
        }
        let last = closing.prefix(out.room)
        out.append(last.span)
        closing = closing.dropFirst(last.count)
        hasReadContent = closing.isEmpty
        return last.count
    }

    private func takeContent(
        from buffer: ByteBuffer, into out: ByteBuffer, of exchange: ExchangeTask
    ) throws(RelayFailure) {
        guard var reader = requestBody.take() else { return }
        let (bytes, record, keepsFraming) = (buffer.readable, exchange.record, keepsRequestFraming)
        exchange.hasTakenContent = true
        let consumed: Int
        do throws(HTTP1Violation) {
            let limit = min(bytes.count, out.room)
            consumed = try reader.consume(bytes.extracting(..<limit)) { range in
                let content = bytes.extracting(range)
                record?.append(content, .request)
                if !keepsFraming { out.append(content) }
            }
        } catch {
            throw .clientViolation(error)
        }
        if keepsFraming { out.append(bytes.extracting(..<(consumed - reader.withheldCount))) }
        buffer.consume(consumed)
        guard reader.isComplete else {
            requestBody = reader
            return
        }
        requestTrailers = reader.trailers
        if keepsFraming { closing = reader.closing[...] }
        hasReadContent = closing.isEmpty
    }

    private func fillClientBuffer() async throws(RelayFailure) {
        if let clientBuffer, !clientBuffer.isEmpty { return }
        client.readDeadline = loop.now + contentPatience
        let count: Int
        do throws(StreamFailure) {
            if clientBuffer == nil { try await client.waitReadable() }
            let buffer = clientBuffer ?? loop.buffers.take()
            clientBuffer = buffer
            count = try await client.read(into: buffer)
        } catch {
            releaseClientBuffer()
            throw .client(error)
        }
        if count == 0 {
            releaseClientBuffer()
            throw .clientEnded
        }
    }

    func stopRequest(isAnswered: Bool) { client.channel.interrupt() }
    func resumeRequest() { client.channel.resumeWaiting() }

    func noteBreak() {}

    func hurryContent() {
        contentPatience = limits.halfCloseGrace
        client.channel.hurryReading(until: loop.now + contentPatience)
    }

    // MARK: The client's end

    func hurryIfEnded() {
        if client.channel.peerEnded { hurryOrigin() }
    }

    /// Lets the origin know little time once the client has ended its direction: it may still read
    /// the answer, or be gone.
    func hurryOrigin() {
        guard let exchange, let origin = exchange.waitedFor else { return }
        if client.channel.isBroken { origin.stopReceiving() }
        let hasEnded =
            exchange.isAwaitingResponse && exchange.isRequestComplete && hasClientEnded()
        if hasEnded {
            client.channel.onLoss { [unowned self] in self.exchange?.waitedFor?.stopReceiving() }
        }
        if let leg = origin.http1?.leg {
            if hasEnded, !leg.hasFinished {
                leg.hasFinished = true
                hasPassedEndOn = true
                // So that an origin that stops working for a client that is gone does so at once.
                worker.background.add { await leg.stream.finish() }
            }
            // An origin of the client's own knows of the end, and may answer as late as without us.
            guard !task.mirrorsOrigin || worker.isDraining else { return }
        }
        origin.hurry(until: loop.now + worker.halfCloseGrace)
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
}

extension RequestHead {
    /// Whether the client wants to go on after this exchange (RFC 9112 §9.3).
    var asksForAnother: Bool {
        if fields.contains(.connection, token: "close") { return false }
        if fields.contains(.proxyConnection, token: "close") { return false }
        guard version == .http10 else { return true }
        return fields.asksToKeepAlive || fields.contains(.proxyConnection, token: "keep-alive")
    }
}
