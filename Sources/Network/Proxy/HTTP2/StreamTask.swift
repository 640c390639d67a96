internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// One request of HTTP/2, from its head to its record.
///
/// `@unchecked Sendable`: the task and its children run on one loop's executor.
final class StreamTask: @unchecked Sendable {
    let stream: HTTP2Stream
    let relay: HTTP2Relay
    let task: ConnectionTask
    let worker: ProxyWorker
    let limits: ProxyLimits
    var exchange: ExchangeRecorder?
    var request: RequestHead?
    private var isRequestComplete = false
    /// Whether the final response's head has gone to the client.
    var hasResponseBegun = false
    /// How much of the response's content has not gone to the client yet, in bytes; `nil` if its
    /// head does not tell a length.
    private var lengthLeft: UInt64?
    /// The origin whose response is waited for.
    private var waitedFor: (any OriginExchange)?

    init(_ stream: HTTP2Stream, of relay: HTTP2Relay) {
        self.stream = stream
        self.relay = relay
        task = relay.task
        worker = relay.worker
        limits = relay.worker.plan.limits
    }

    func run() async {
        relay.opened(self, stream.id)
        defer { relay.closed(stream.id) }
        switch begin() {
        case .forward(let outgoing): await forward(outgoing)
        case .connect(let host, let port): await connect(host, port)
        case nil: break
        }
        await worker.recorder.waitForRoom()
    }

    /// Goes on with a request that was made before the connection spoke HTTP/2.
    func run(_ upgraded: UpgradedConnection) async {
        relay.opened(self, stream.id)
        defer { relay.closed(stream.id) }
        exchange = upgraded.recorder
        request = upgraded.request
        isRequestComplete = true
        wait(for: upgraded.origin)
        defer { wait(for: nil) }
        do throws(RelayFailure) {
            try await receive(upgraded.origin)
            upgraded.origin.finish(isWhole: true)
            exchange?.finish()
        } catch {
            upgraded.origin.finish(isWhole: false)
            fail(error)
        }
    }

    func announce(olderThan microseconds: Int64) {
        exchange?.announce(olderThan: microseconds)
    }

    // MARK: Where it goes

    private enum Step {
        case forward(OutgoingRequest)
        case connect(String, UInt16)
    }

    /// Records the request, and tells what is to be done; `nil` if it has been answered.
    ///
    /// Heads are large: what suspends must not hold one in its frame.
    @inline(never)
    private func begin() -> Step? {
        guard let head = stream.head else { return nil }
        let startedAt = Timestamp.now()
        do throws(HTTP1Violation) {
            let request = try head.requestHead()
            begin(request.raw, startedAt)
            if let host = request.fields.first(.host) { exchange?.record.authority = host.text }
            self.request = request
            if let failure = stream.brokenHead {
                if stream.isRefused { noteRefusal() }
                exchange?.finish(error: "bad-request", failure)
                return nil
            }
            return try route(request)
        } catch {
            if exchange == nil { begin(head.text, startedAt) }
            refuse(error)
            return nil
        }
    }

    /// What the connection has answered by itself.
    private func noteRefusal() {
        exchange?.record.status = 400
        exchange?.record.responseHead = [UInt8]("HTTP/2.0 400 \r\ncontent-length: 0\r\n\r\n".utf8)
        exchange?.record.answeredByTool = true
    }

    private func begin(_ raw: [UInt8], _ startedAt: Timestamp) {
        let exchange = task.beginExchange(raw, at: startedAt)
        exchange.record.authority = task.record.originHost
        exchange.record.protocolName = HTTPVersion.http2.text
        exchange.record.stream = stream.id
        relay.hasServed = true
        self.exchange = exchange
    }

    private func route(_ head: RequestHead) throws(HTTP1Violation) -> Step? {
        guard head.fields.all(.host).count <= 1 else { throw .duplicateHost }
        let entry = relay.entry
        let route = try RequestRoute.of(head, scheme: stream.head?.scheme, through: entry)
        let framing = try framingOfRequest(head)
        guard task.admits(head, through: entry) else { return answered(.unknownClient) }
        switch route {
        case .refuse(let refusal): return answered(refusal)
        case .connect(let host, let port): return .connect(host, port)
        case .forward(let origin, let target, let host):
            exchange?.record.scheme = origin.scheme
            exchange?.record.authority = origin.authority
            let isTunnel =
                head.knownMethod == .connect && !(stream.head?.isExtendedConnect ?? false)
            // HTTP/1 would carry the stream's content where nobody expects any.
            if isTunnel { return answered(.noTunnel) }
            if case .anyOrigin = entry { task.note(origin) }
            if let refusal = task.blocking(head, to: origin) { return answered(refusal) }
            if let failure = relay.originFailure { return answered(ToolResponse(failure.failure)) }
            var upgrade: StreamUpgrade?
            if let stream = stream.head, stream.isExtendedConnect {
                upgrade = StreamUpgrade.webSocket([UInt8](stream.protocolName))
                guard upgrade != nil else {
                    let name = stream.protocolName.text
                    return answered(
                        ToolResponse(501, "unknown-protocol", "\(name) is not known over HTTP/2"))
                }
            }
            return .forward(
                OutgoingRequest(
                    head: head, origin: origin, target: target, host: host, framing: framing,
                    upgrade: upgrade, through: entry))
        }
    }

    private func answered(_ answer: ToolResponse) -> Step? {
        self.answer(answer)
        return nil
    }

    /// The end is the stream's; a length is only looked at.
    private func framingOfRequest(_ head: RequestHead) throws(HTTP1Violation) -> BodyFraming {
        let waiting = stream.waitingContent
        if waiting.isWhole, waiting.count == 0, stream.trailers.slices.isEmpty { return .none }
        let said = try MessageFraming.ofRequest(head)
        return said == .none ? .chunked : said
    }

    // MARK: Forwarding

    private func forward(_ outgoing: OutgoingRequest) async {
        var rule = RetryRule(
            isRepeatable: outgoing.isRepeatable, mirrorsOrigin: task.mirrorsOrigin)
        while true {
            // Nobody is asked for a client that has left in the meantime.
            if let failure = stream.lostClient { return fail(.clientStream(failure)) }
            if relay.hasLostOrigin(of: outgoing) { return refuseUnasked() }
            let exchange: any OriginExchange
            do throws(OriginFailure) {
                exchange = try await relay.exchange(for: outgoing)
            } catch {
                task.note(error)
                return answer(ToolResponse(error.failure))
            }
            if exchange.protocolName != HTTPVersion.http2.text {
                self.exchange?.record.originProtocolName = exchange.protocolName
            }
            do throws(RelayFailure) {
                try await pass(outgoing, exchange)
                return
            } catch {
                exchange.finish(isWhole: false)
                if self.exchange?.record.responseHead.isEmpty ?? false {
                    self.exchange?.record.responseHead = exchange.brokenHead
                }
                let attempt = RetryRule.Attempt(
                    isOnUsedConnection: exchange.isOnUsedConnection,
                    hasResponseBegun: hasResponseBegun, hasTakenContent: hasTakenContent,
                    isCut: worker.isCut)
                if rule.allows(attempt, after: error) { continue }
                return fail(error)
            }
        }
    }

    /// Leaves to the client what to do with a request whose origin left before it was asked
    /// (RFC 9113 §8.7).
    private func refuseUnasked() {
        relay.connection.drain()
        exchange?.finish(error: "origin-closed", "origin ended the connection before the request")
        stream.reset(HTTP2ErrorCode.refusedStream)
    }

    /// Whether some of the request's content has been passed on; it cannot be had again.
    private var hasTakenContent = false

    private func pass(
        _ outgoing: OutgoingRequest, _ exchange: any OriginExchange
    ) async throws(RelayFailure) {
        if let failure = stream.lostClient { throw .clientStream(failure) }
        wait(for: exchange)
        defer { wait(for: nil) }
        if outgoing.upgrade != nil { return try await passUpgrade(outgoing, exchange) }
        self.exchange?.watchContent(behind: outgoing.head.fields, .request)
        if outgoing.framing == .none {
            isRequestComplete = true
            do throws(RelayFailure) {
                try await exchange.send(outgoing, endsRequest: true)
            } catch  where error.isOriginGone {
                try await readLast(of: exchange, behind: error)
                return
            }
            try await receive(exchange)
        } else if stream.waitingContent.isWhole,
            stream.waitingContent.count <= HTTP2Session.outgoingLimit
        {
            // A small content that is there goes ahead of the wait for an answer.
            try await exchange.send(outgoing, endsRequest: false)
            try await sendContent(exchange)
            try await receive(exchange)
        } else {
            try await passBothWays(outgoing, exchange)
        }
        exchange.finish(isWhole: isRequestComplete)
        self.exchange?.finish()
    }

    /// Reads what an origin had said before it broke off: an alert that explains it, or a response.
    private func readLast(
        of exchange: any OriginExchange, behind failure: RelayFailure
    ) async throws(RelayFailure) {
        do throws(RelayFailure) {
            try await receive(exchange)
        } catch {
            throw hasResponseBegun || error.demandsCertificate ? error : failure
        }
        exchange.finish(isWhole: false)
        self.exchange?.finish()
    }

    /// Tells the origin's side if the client leaves.
    private func wait(for exchange: (any OriginExchange)?) {
        waitedFor = exchange
        stream.onBreak = exchange == nil ? nil : { [unowned self] in waitedFor?.stopReceiving() }
    }

    private func sendContent(_ exchange: any OriginExchange) async throws(RelayFailure) {
        let buffer = worker.loop.buffers.take()
        defer { worker.loop.buffers.give(buffer) }
        while try await readContent(into: buffer) > 0 {
            try await exchange.sendContent(buffer)
            await worker.recorder.waitForRoom()
        }
        try await exchange.endContent(trailers: stream.trailers)
        task.noteForbidden(stream.trailers)
        self.exchange?.noteTrailers(stream.trailers.raw, .request)
        isRequestComplete = true
    }

    private func readContent(into buffer: ByteBuffer) async throws(RelayFailure) -> Int {
        buffer.removeAll()
        stream.readDeadline = worker.loop.now + limits.bodyTimeout
        let count: Int
        do throws(HTTP2StreamFailure) {
            count = try await stream.read(into: buffer)
        } catch {
            throw .clientStream(error)
        }
        hasTakenContent = hasTakenContent || count > 0
        exchange?.append(buffer.readable, .request)
        return count
    }

    /// Sends the content while the response may already come.
    private func passBothWays(
        _ outgoing: OutgoingRequest, _ exchange: any OriginExchange
    ) async throws(RelayFailure) {
        let both = BothEnds()
        stream.resumeReading()
        try await exchange.send(outgoing, endsRequest: false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do throws(RelayFailure) {
                    try await self.sendContent(exchange)
                } catch {
                    both.noteSend(error)
                    if error.isClients { exchange.stopReceiving() }
                }
            }
            group.addTask {
                do throws(RelayFailure) {
                    try await self.receive(exchange)
                    // The origin has answered: what the client still sends has no reader.
                    if !self.isRequestComplete { self.stopRequest(exchange) }
                } catch {
                    both.noteReceive(error)
                    // It may yet be read for another origin.
                    exchange.stopSending()
                    self.stream.interruptReading()
                }
            }
            await group.waitForAll()
        }
        if let cause = both.cause { throw cause }
    }

    private func stopRequest(_ exchange: any OriginExchange) {
        exchange.stopSending()
        stream.stopReading()
    }

    // MARK: The response

    private func receive(_ exchange: any OriginExchange) async throws(RelayFailure) {
        var interims = InterimAllowance()
        while true {
            let head = try await exchange.nextHead(
                method: request?.knownMethod ?? .other,
                deadline: worker.loop.now + limits.responseTimeout)
            guard head.isInterim else {
                try begin(head, exchange)
                return try await deliverContent(exchange)
            }
            try head.count(in: &interims)
            self.exchange?.record.interimHeads.append(head.raw)
            stream.inform(.response(head))
        }
    }

    /// Passes the final head on.
    @inline(never)
    func begin(_ head: ResponseHead, _ exchange: any OriginExchange) throws(RelayFailure) {
        guard head.status >= 200 else { throw .originViolation(.invalidStatusLine) }
        let removal = task.removal(from: head)
        let fields = HTTP2Fields.response(
            head, dropping: removal.dropping, adding: removal.adding,
            keepsProxyFields: !relay.entry.isProxy)
        guard !fields.isTooLarge else {
            throw .unanswered(.tooLargeHead(502, "response", head.raw.count))
        }
        self.exchange?.note(head)
        self.exchange?.watchContent(behind: head.fields, .response)
        hasResponseBegun = true
        stream.respond(fields, endsStream: exchange.hasNoContent)
        if !exchange.hasNoContent { lengthLeft = try announcedLength(of: head) }
    }

    func deliverContent(_ exchange: any OriginExchange) async throws(RelayFailure) {
        guard !exchange.hasNoContent else { return }
        let buffer = worker.loop.buffers.take()
        defer { worker.loop.buffers.give(buffer) }
        while true {
            buffer.removeAll()
            let deadline = worker.loop.now + limits.bodyTimeout
            let count = try await exchange.readContent(into: buffer, deadline: deadline)
            guard count > 0 else { break }
            self.exchange?.append(buffer.readable, .response)
            try await sendToClient(buffer)
            lengthLeft = lengthLeft.map { $0 - min($0, UInt64(count)) }
            await worker.recorder.waitForRoom()
        }
        endResponse(exchange.trailers)
    }

    @inline(never)
    private func endResponse(_ trailers: Fields) {
        task.noteForbidden(trailers)
        exchange?.noteTrailers(trailers.raw, .response)
        stream.end(trailers: trailers.slices.isEmpty ? nil : .trailers(trailers))
    }

    private func announcedLength(of head: ResponseHead) throws(RelayFailure) -> UInt64? {
        do throws(HTTP1Violation) {
            let framing = try MessageFraming.ofResponse(
                head, toMethod: request?.knownMethod ?? .other, offer: .none,
                isRequestWhole: isRequestComplete)
            if case .length(let length) = framing { return length }
            return nil
        } catch {
            throw .originViolation(error)
        }
    }

    private func sendToClient(_ buffer: ByteBuffer) async throws(RelayFailure) {
        stream.writeDeadline = worker.loop.now + limits.bodyTimeout
        do throws(HTTP2StreamFailure) {
            try await stream.write(buffer)
        } catch {
            throw .clientStream(error)
        }
    }

    // MARK: Answers of the tool

    private func refuse(_ violation: HTTP1Violation) {
        let code = violation.isSmuggling ? "request-smuggling" : "bad-request"
        answer(
            ToolResponse(
                violation.status, violation.code,
                "the request is malformed: \(violation.detail) (\(violation.code))"),
            recordedAs: code)
    }

    func answer(_ answer: ToolResponse, recordedAs code: String? = nil) {
        let isHead = request?.knownMethod == .head
        let message = answer.message(closes: false, includesContent: !isHead)
        exchange?.note(answer, message, recordedAs: code)
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
        if !stream.waitingContent.isWhole { stream.stopReading() }
        exchange?.finish()
    }

    /// Answers, or gives the stream up, as far as the response had come.
    func fail(_ failure: RelayFailure) {
        let (code, detail) = failure.words(
            responseHead: exchange?.record.responseHead ?? [])
        switch failure {
        case .client, .clientStream, .clientEnded, .clientLeft, .clientViolation:
            exchange?.finish(error: code, detail)
            stream.reset(HTTP2ErrorCode.cancel)
        case .unanswered(let answer): self.answer(answer)
        default:
            if stream.isGivenUp, lengthLeft == 0 {
                // It has the whole length, and does not wait for the origin to end the stream.
                exchange?.finish()
            } else if stream.isGivenUp {
                exchange?.finish(
                    error: "client-reset", "client gave the stream up before its response was whole"
                )
            } else if failure.isUnprocessed, hasTakenContent || task.mirrorsOrigin {
                // The client has the content, and may ask again (RFC 9113 §8.7).
                exchange?.finish(error: code, detail)
                stream.reset(HTTP2ErrorCode.refusedStream)
            } else if hasResponseBegun || (task.mirrorsOrigin && code != "origin-timed-out") {
                task.note(failure, detail)
                exchange?.finish(error: code, detail)
                var reset = HTTP2ErrorCode.internalError
                if case .originStream(.reset(let given)) = failure { reset = given }
                stream.reset(reset)
                if task.mirrorsOrigin, failure.isOriginGone { relay.connection.drain() }
            } else {
                task.note(failure, detail)
                let status = code == "origin-timed-out" ? 504 : 502
                answer(
                    ToolResponse(
                        status, code, detail, hint: worker.origins.text.hint(failure.streamFailure))
                )
            }
        }
    }
}

extension RelayFailure {
    /// Whether it is the client that brings or takes nothing more.
    var isClients: Bool {
        switch self {
        case .client, .clientStream, .clientEnded, .clientLeft, .clientViolation: true
        default: false
        }
    }
}
