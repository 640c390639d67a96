internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// A client's stream of HTTP/2.
///
/// `@unchecked Sendable`: the tasks that use it run on its loop's executor.
final class HTTP2ExchangeClient: ExchangeClient, @unchecked Sendable {
    let version = HTTPVersion.http2
    private let stream: HTTP2Stream
    private let relay: HTTP2Relay
    private let worker: ProxyWorker
    /// How much of the response's content has not gone to the client yet, in bytes; `nil` if its
    /// head does not tell a length.
    private var lengthLeft: UInt64?
    /// Whether our direction has ended with the response's head.
    private var hasEnded = false

    init(_ stream: HTTP2Stream, of relay: HTTP2Relay) {
        self.stream = stream
        self.relay = relay
        worker = relay.task.worker
    }

    let ownsConnection = false
    var openingHead: HTTP2Head? { stream.head }
    var lost: RelayFailure? { stream.lostClient.map { .clientStream($0) } }

    // MARK: The request

    /// Begins the exchange of the stream; `nil` if there is nothing to be done for it.
    ///
    /// Heads are large: what suspends must not hold one in its frame.
    @inline(never)
    func begin() async throws(ConnectionEnd) -> ExchangeTask? {
        guard let head = stream.head else { return nil }
        let startedAt = Timestamp.now()
        let request: RequestHead
        do throws(HTTP1Violation) {
            request = try head.requestHead()
        } catch {
            let exchange = exchange(head.text, nil, startedAt)
            if let failure = stream.brokenHead {
                noteBroken(exchange, failure)
            } else {
                try await exchange.refuse(error)
            }
            return nil
        }
        let exchange = exchange(request.raw, request, startedAt)
        guard let failure = stream.brokenHead else { return exchange }
        noteBroken(exchange, failure)
        return nil
    }

    private func noteBroken(_ exchange: ExchangeTask, _ failure: String) {
        if stream.isRefused {
            // The connection has answered it by itself.
            exchange.record?.record.status = 400
            exchange.record?.record.responseHead = [UInt8](
                "HTTP/2.0 400 \r\ncontent-length: 0\r\n\r\n".utf8)
            exchange.record?.record.answeredByTool = true
        }
        exchange.finish(error: "bad-request", failure)
    }

    private func exchange(
        _ bytes: [UInt8], _ request: RequestHead?, _ startedAt: Timestamp
    ) -> ExchangeTask {
        let exchange = ExchangeTask(bytes, request, at: startedAt, client: self, origins: relay)
        if request?.fields.contains(.host) != true {
            let said = request == nil ? stream.head?.authority.text : nil
            exchange.record?.record.authority =
                said.flatMap { $0.isEmpty ? nil : $0 } ?? relay.task.record.originHost
        }
        exchange.record?.record.protocolName = HTTPVersion.http2.text
        exchange.record?.record.stream = stream.id
        relay.hasServed = true
        return exchange
    }

    /// The end is the stream's; a length is only looked at.
    func framing(of head: RequestHead) throws(HTTP1Violation) -> BodyFraming {
        let waiting = stream.waitingContent
        if waiting.isWhole, waiting.count == 0, stream.trailers.slices.isEmpty { return .none }
        let said = try MessageFraming.ofRequest(head)
        return said == .none ? .chunked : said
    }

    func beginContent(_ framing: BodyFraming, for origin: any OriginExchange) {
        stream.resumeReading()
    }

    func hasWholeContent(_ request: OutgoingRequest) -> Bool {
        let waiting = stream.waitingContent
        return waiting.isWhole && waiting.count <= HTTP2Session.outgoingLimit
    }

    var hasReadContent: Bool { stream.waitingContent == (0, true) }
    var requestTrailers: Fields { stream.trailers }

    func readContent(
        into buffer: ByteBuffer, of exchange: ExchangeTask
    ) async throws(RelayFailure) -> Int {
        let count = try await read(into: buffer, of: exchange)
        exchange.hasTakenContent = exchange.hasTakenContent || count > 0
        exchange.record?.append(buffer.readable, .request)
        return count
    }

    /// The client may be silent for as long as the origin talks.
    private func read(
        into buffer: ByteBuffer, of exchange: ExchangeTask
    ) async throws(RelayFailure) -> Int {
        let (loop, patience) = (worker.loop, worker.limits.bodyTimeout)
        let start = loop.now
        while true {
            stream.readDeadline = max(start, exchange.passedTick) + patience
            do throws(HTTP2StreamFailure) {
                return try await stream.read(into: buffer)
            } catch {
                let isIdle = loop.now >= max(start, exchange.passedTick) + patience
                if error != .silent || isIdle { throw .clientStream(error) }
            }
        }
    }

    func stopRequest(isAnswered: Bool) {
        if isAnswered { stream.stopReading() } else { stream.interruptReading() }
    }

    /// A stream's end is no end of the connection: the client may take its time.
    func hurryContent() {}

    // MARK: The response

    func inform(_ head: ResponseHead) async throws(RelayFailure) {
        stream.inform(.response(head))
    }

    @inline(never)
    func begin(
        _ head: ResponseHead, from origin: any OriginExchange, isEmpty: Bool,
        of exchange: ExchangeTask
    ) async throws(RelayFailure) -> Bool {
        let fields = HTTP2Fields.response(head, keepsProxyFields: !relay.entry.isProxy)
        guard !fields.isTooLarge else {
            throw .unanswered(.tooLargeHead(502, "response", head.raw.count))
        }
        exchange.hasResponseBegun = true
        hasEnded = isEmpty
        stream.respond(fields, endsStream: isEmpty)
        if !isEmpty { lengthLeft = try exchange.contentLength(of: head) }
        return false
    }

    func sendContent(_ buffer: ByteBuffer) async throws(RelayFailure) {
        let count = UInt64(buffer.count)
        stream.writeDeadline = worker.loop.now + worker.limits.bodyTimeout
        do throws(HTTP2StreamFailure) {
            try await stream.write(buffer)
        } catch {
            throw .clientStream(error)
        }
        lengthLeft = lengthLeft.map { $0 - min($0, count) }
    }

    func endContent(trailers: Fields) async throws(RelayFailure) {
        guard !hasEnded else { return }
        stream.end(trailers: trailers.slices.isEmpty ? nil : .trailers(trailers))
    }

    // MARK: Tunnels

    func switchOver(
        _ head: ResponseHead
    ) async throws(RelayFailure) -> (stream: any TunnelStream, early: ByteBuffer?) {
        // What only HTTP/1 needs to agree on a WebSocket does not go on (RFC 8441 §5).
        stream.respond(
            .response(
                head.status == 101 ? head.withStatus(200) : head,
                dropping: ["sec-websocket-accept"]),
            endsStream: false)
        return (HTTP2TunnelStream(stream), nil)
    }

    // MARK: Ends

    func send(
        _ answer: ToolResponse, _ message: (head: [UInt8], content: [UInt8]),
        of exchange: ExchangeTask
    ) async {
        let isHead = exchange.request?.knownMethod == .head
        stream.respond(
            .response(
                status: answer.status,
                [
                    ("content-type", [UInt8](answer.contentType.utf8)),
                    ("content-length", [UInt8](String(message.content.count).utf8)),
                    ("sallyport-error", [UInt8](answer.code.utf8)),
                    ("cache-control", [UInt8]("no-store".utf8)),
                ] + answer.fields.map { ($0.name, [UInt8]($0.value.utf8)) }), endsStream: isHead)
        if !isHead { stream.answer(message.content) }
    }

    func departure(
        behind failure: RelayFailure, of exchange: ExchangeTask
    ) -> ClientDeparture? {
        if case .unanswered = failure { return nil }
        guard !failure.isClients, stream.isGivenUp else { return nil }
        // It has the whole length, and does not wait for the origin to end the stream.
        guard lengthLeft != 0 else { return .satisfied }
        return .left(stream.hasLostConnection ? .clientLeft : .clientGaveUp)
    }

    func noteBreak() { relay.noteEnd(of: stream, .clientLeft) }

    func end(_ end: ExchangeEnd) throws(ConnectionEnd) {
        switch end {
        case .refused: break
        case .cut: stream.reset(HTTP2ErrorCode.cancel)
        case .client(let failure):
            relay.noteEnd(of: stream, failure)
            stream.reset(HTTP2ErrorCode.cancel)
        // The response may still wait for the client's window.
        case .answered(let failure): relay.noteEnd(of: stream, failure)
        case .unprocessed: stream.reset(HTTP2ErrorCode.refusedStream)
        case .lostOrigin:
            relay.connection.drain()
            stream.reset(HTTP2ErrorCode.refusedStream)
        case .origin(let failure, let detail):
            relay.task.note(failure, detail)
            var code = HTTP2ErrorCode.internalError
            if case .originStream(.reset(let given)) = failure { code = given }
            // What came before is the client's.
            stream.breakOff(code)
            if relay.task.mirrorsOrigin, failure.isOriginGone { relay.connection.drain() }
        }
    }
}

extension ResponseHead {
    /// The same head with another status, for a version that says it in another way.
    fileprivate func withStatus(_ status: Int) -> ResponseHead {
        ResponseHead(version: version, status: status, reasonRange: reasonRange, fields: fields)
    }
}
