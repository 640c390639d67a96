internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// The exchanges of one HTTP/1 connection, one after the other.
///
/// `@unchecked Sendable`: its task and that task's children run on one loop's executor.
final class HTTP1Relay: @unchecked Sendable {
    let task: ConnectionTask
    let worker: ProxyWorker
    let loop: EventLoop
    let limits: ProxyLimits
    let client: any ByteStream
    let entry: Entry
    /// Why the only origin cannot serve; every request is answered with it.
    private let originFailure: OriginFailure?
    /// The SNI for the only origin, as the client sent it.
    let serverName: String?

    private let headLimits: HeadLimits
    /// The start of a head that does not fit into `clientBuffer`.
    private var longHead: LongHead?
    /// Bytes of the client that are not yet relayed.
    var clientBuffer: ByteBuffer?
    /// Where outgoing heads are written before they are sent.
    var scratch: [UInt8] = []
    /// The exchange under way, `nil` between two.
    var exchange: ExchangeRecorder?
    var request: RequestHead?
    /// Whether the last byte of the request was taken from the client, and has gone to the origin.
    var isRequestComplete = false
    /// What the request, as it went to the origin, offers to change over to.
    var offer = UpgradeOffer.none
    /// Whether a request has come; the CONNECT that made the tunnel is not one of these.
    private(set) var hasServed = false
    /// Since when a request is waited for, in milliseconds of the loop's clock.
    private var idleSince: UInt64 = 0
    private var isResting = false
    /// The origin whose response is waited for.
    var waitedFor: OriginLeg?
    /// The same, on a stream of HTTP/2.
    var waitedAcross: (any OriginExchange)?
    /// What the connection goes on as, once it has changed over to HTTP/2.
    var upgraded: UpgradedConnection?
    /// Whether the origin was told that the client has ended its direction.
    var hasPassedEndOn = false
    /// Whether something of a final response has gone to the client.
    var hasResponseBegun = false
    /// Whether some of the request's content was taken; it cannot be had again.
    var hasTakenContent = false

    enum Next {
        case nextRequest
        case close
    }

    var isBetweenExchanges: Bool { exchange == nil }

    /// - Parameter readAhead: bytes of the client that were read before; the relay owns them now.
    init(
        _ task: ConnectionTask, entry: Entry, originFailure: OriginFailure?, serverName: String?,
        readAhead: ByteBuffer? = nil
    ) {
        clientBuffer = readAhead
        self.task = task
        worker = task.worker
        loop = task.worker.loop
        limits = task.worker.plan.limits
        headLimits = limits.requestHead
        client = task.client
        self.entry = entry
        self.originFailure = originFailure
        self.serverName = serverName
    }

    /// Serves requests until the client or the protocol ends the connection.
    func serve() async throws(ConnectionEnd) {
        client.channel.onPeerEnd { [unowned self] in self.hurryOrigin() }
        defer {
            client.channel.onPeerEnd(nil)
            releaseClientBuffer()
        }
        while let head = try await nextHead() {
            let next = try await serve(head)
            if upgraded != nil { return }
            if next == .close || worker.isDraining {
                task.record.closedBy = task.record.closedBy ?? .tool
                return
            }
        }
    }

    // MARK: The request's head

    /// Reads the next request's head; `nil` if the client is done.
    private func nextHead() async throws(ConnectionEnd) -> RequestHead? {
        if clientBuffer == nil { guard try await awaitRequest() else { return nil } }
        let deadline = loop.now + limits.headTimeout
        let startedAt = Timestamp.now()
        var scannedCount = 0
        while true {
            let buffer = clientBuffer ?? loop.buffers.take()
            clientBuffer = buffer
            do throws(HTTP1Violation) {
                if let (head, consumed) = try longHead == nil
                    ? RequestReader.read(
                        buffer.readable, limits: headLimits, alreadyScanned: scannedCount)
                    : readLongHead(buffer)
                {
                    longHead = nil
                    buffer.consume(consumed)
                    if buffer.isEmpty { releaseClientBuffer() }
                    begin(head, startedAt)
                    return head
                }
            } catch {
                try await refuseHead(error, startedAt)
            }
            scannedCount = buffer.count
            if buffer.count == buffer.capacity {
                longHead = LongHead(limit: limits.headSize, in: worker.longHeads)
                continue
            }
            guard try await readMore(buffer, deadline, startedAt) else { return nil }
        }
    }

    /// The same for a head of which a part is held apart.
    private func readLongHead(
        _ buffer: ByteBuffer
    ) throws(HTTP1Violation) -> (head: RequestHead, consumed: Int)? {
        guard let longHead else { return nil }
        if try longHead.take(buffer),
            let (head, consumed) = try RequestReader.read(longHead.bytes.span, limits: headLimits)
        {
            return (head, max(0, buffer.count - (longHead.bytes.count - consumed)))
        }
        buffer.removeAll()
        return nil
    }

    /// Waits for the first byte of a request, holding no buffer.
    private func awaitRequest() async throws(ConnectionEnd) -> Bool {
        idleSince = loop.now
        isResting = false
        if task.record.exchangeCount <= Self.earlyExchanges { lendOrigin() }
        let isFirst = !hasServed
        client.readDeadline = loop.now + (isFirst ? limits.openingTimeout : limits.idleTimeout)
        watchOrigin()
        defer { task.origin?.stream.channel.onPeerEnd(nil) }
        while true {
            do throws(StreamFailure) {
                try await client.waitReadable()
                return true
            } catch {
                guard error == .closed, !worker.isDraining, let failure = await originAlert() else {
                    return try endWhereRequestIsDue(error)
                }
                if task.mirrorsOrigin {
                    throw ConnectionEnd(.broken, "origin \(failure.detail)", by: .origin)
                }
                // A client that knows of us is told why, once it asks.
                task.origin?.stream.channel.onPeerEnd(nil)
                client.channel.resumeWaiting()
            }
        }
    }

    /// What an origin said in TLS that has gone before it was asked for anything, as one does that
    /// wants a client certificate; `nil` if it ended without a complaint, or has not.
    private func originAlert() async -> StreamFailure? {
        guard hasOriginEnded, let leg = task.origin, leg.exchangeCount == 0 else { return nil }
        do throws(OriginReadFailure) {
            // Nothing is waited for: the end is there.
            try await leg.fill()
        } catch .stream(let failure) {
            if case .tls = failure { return failure }
        } catch {
            return nil
        }
        return nil
    }

    /// Tells a client that rests when its own origin has gone, as it would be told without us: its
    /// next request would be lost, or go to a new connection that it knows nothing of.
    private func watchOrigin() {
        guard let leg = task.origin, leg.isOwned, leg.http2 == nil else { return }
        let channel = leg.stream.channel
        if channel.peerEnded || channel.isBroken { return client.channel.interrupt() }
        channel.onPeerEnd { [unowned self] in client.channel.interrupt() }
    }

    private var hasOriginEnded: Bool {
        guard let leg = task.origin, leg.isOwned else { return false }
        return leg.stream.channel.peerEnded || leg.stream.channel.isBroken
    }

    /// Reads more of a head.
    private func readMore(
        _ buffer: ByteBuffer, _ deadline: UInt64, _ startedAt: Timestamp
    ) async throws(ConnectionEnd) -> Bool {
        buffer.compact()
        client.readDeadline = deadline
        let failure: StreamFailure?
        do throws(StreamFailure) {
            if try await client.read(into: buffer) > 0 { return true }
            failure = nil
        } catch {
            failure = error
        }
        guard !buffer.isEmpty || longHead != nil else {
            return try endWhereRequestIsDue(failure)
        }
        beginBroken((longHead?.bytes ?? []) + buffer.copy, startedAt)
        if failure == .timedOut {
            _ = await answer(
                ToolResponse(408, "timed-out", "the request's head did not end in time"))
            throw ConnectionEnd(
                .timedOut, "client was silent in the middle of a request's head", by: .tool)
        }
        if failure == .closed {
            finish(error: "cut", "the proxy was shut down")
            throw ConnectionEnd(.cut, "the proxy was shut down", by: .tool)
        }
        finish(
            error: "client-closed", "client ended the connection in the middle of a request's head")
        throw ConnectionEnd(
            .broken, "client ended the connection in the middle of a request's head", by: .client)
    }

    /// Judges the end of a connection between two requests.
    private func endWhereRequestIsDue(_ failure: StreamFailure?) throws(ConnectionEnd) -> Bool {
        switch failure {
        case .timedOut:
            task.record.closedBy = .tool
            return false
        case .closed:
            if worker.isDraining {
                task.record.closedBy = .tool
            } else if hasOriginEnded {
                task.record.closedBy = .origin
            }
            return false
        default: break
        }
        task.record.closedBy = .client
        if task.session != nil, !hasServed {
            throw task.silentEnd(failure)
        }
        if let failure, failure != .reset {
            throw ConnectionEnd(.broken, "client \(failure.detail)", by: .client)
        }
        return false
    }

    private func refuseHead(
        _ violation: HTTP1Violation, _ startedAt: Timestamp
    ) async throws(ConnectionEnd) -> Never {
        // What came is the evidence, as far as it came.
        beginBroken(longHead?.bytes ?? clientBuffer?.copy ?? [], startedAt)
        try await refuse(violation)
    }

    /// Answers a request that broke the protocol, and ends the connection.
    func refuse(_ violation: HTTP1Violation) async throws(ConnectionEnd) -> Never {
        let code = violation.isSmuggling ? "request-smuggling" : "bad-request"
        let detail = "the request is malformed: \(violation.detail) (\(violation.code))"
        exchange?.record.error = code
        _ = await answer(ToolResponse(violation.status, violation.code, detail), recordedAs: code)
        throw ConnectionEnd(
            .refused, "client sent a malformed request: \(violation.code)", by: .tool)
    }

    // MARK: One exchange

    private func serve(_ head: RequestHead) async throws(ConnectionEnd) -> Next {
        let route: RequestRoute
        let framing: BodyFraming
        do throws(HTTP1Violation) {
            route = try RequestRoute.of(head, through: entry)
            framing = try MessageFraming.ofRequest(head)
        } catch {
            try await refuse(error)
        }
        isRequestComplete = framing == .none
        guard task.admits(head, through: entry) else { return await answer(.unknownClient) }
        switch route {
        case .refuse(let answer):
            return await self.answer(answer)
        case .connect(let host, let port):
            return try await connect(host, port)
        case .forward(let origin, let target, let host):
            name(origin, of: head)
            if let refusal = task.blocking(head, to: origin) { return await answer(refusal) }
            if case .anyOrigin = entry, let machine = await task.plainProbe(origin) {
                forgetExchange()
                let early = loop.buffers.take()
                early.append(head.raw.span.extracting(..<min(head.raw.count, early.room)))
                try await task.serve(machine, early)
            }
            if let originFailure { return await answer(ToolResponse(originFailure.failure)) }
            return try await forward(
                OutgoingRequest(
                    head: head, origin: origin, target: target, host: host, framing: framing,
                    through: entry))
        }
    }

    @inline(never)
    private func name(_ origin: OriginTarget, of head: RequestHead) {
        exchange?.record.scheme = origin.scheme
        // Where the request goes is what counts: a false Host must not make it look local.
        exchange?.record.authority = origin.authority
        if case .anyOrigin = entry { task.note(origin) }
    }

    @inline(never)
    private func begin(_ head: RequestHead, _ startedAt: Timestamp) {
        let exchange = beginRecord(head.raw, startedAt)
        if case .http10 = head.version { exchange.record.protocolName = head.version.text }
        if let host = head.fields.first(.host) { exchange.record.authority = host.text }
        request = head
        exchange.watchContent(behind: head.fields, .request)
    }

    @inline(never)
    private func beginBroken(_ bytes: [UInt8], _ startedAt: Timestamp) {
        beginRecord(bytes, startedAt).record.authority = task.record.originHost
        request = nil
    }

    @inline(never)
    private func beginRecord(_ head: [UInt8], _ startedAt: Timestamp) -> ExchangeRecorder {
        let exchange = task.beginExchange(head, at: startedAt)
        self.exchange = exchange
        hasServed = true
        isRequestComplete = false
        hasResponseBegun = false
        hasTakenContent = false
        return exchange
    }

    /// Hands the finished exchange over to be recorded.
    @inline(never)
    func finish(error: String? = nil, _ detail: String? = nil) {
        guard let exchange = exchange.take() else { return }
        // What is recorded is not held by a connection that waits.
        request = nil
        if task.isCut {
            exchange.record.error = "cut"
            exchange.record.errorDetail = "the proxy was shut down"
        }
        exchange.finish(error: error, detail)
    }

    /// Gives back what a client that has paused does not need: memory, and the origin's connection,
    /// which others may use.
    func rest(idleFor time: UInt64) {
        guard exchange == nil, !isResting, loop.now >= idleSince + time else { return }
        isResting = true
        client.releaseMemory()
        lendOrigin()
    }

    /// Most connections have few exchanges: until so many, the origin's connection is lent after
    /// each; a busy one keeps it until it rests.
    private static let earlyExchanges: Int64 = 2

    private func lendOrigin() {
        guard let leg = task.origin, !leg.isPersonal, !leg.isOwned, leg.exchangeCount > 0
        else { return }
        task.origin = nil
        scratch = []
        task.release(leg)
    }

    func announce(olderThan microseconds: Int64) {
        exchange?.announce(olderThan: microseconds)
    }

    // MARK: Answers of the tool

    /// Sends a response of the tool's own and finishes the exchange.
    func answer(_ answer: ToolResponse, recordedAs code: String? = nil) async -> Next {
        guard !task.isCut else {
            finish()
            return .close
        }
        let closes = !isRequestComplete || !requestKeepsAlive || worker.isDraining
        let isHead = request?.knownMethod == .head
        let message = answer.message(closes: closes, includesContent: !isHead)
        exchange?.note(answer, message, recordedAs: code)
        let buffer = loop.buffers.take()
        defer { loop.buffers.give(buffer) }
        buffer.append(message.head)
        buffer.append(message.content)
        client.writeDeadline = loop.now + limits.bodyTimeout
        var next = closes ? Next.close : .nextRequest
        do throws(StreamFailure) {
            try await client.write(buffer)
        } catch {
            next = .close
        }
        finish()
        await worker.recorder.waitForRoom()
        return next
    }

    /// Whether the client wants to go on after this exchange (RFC 9112 §9.3).
    var requestKeepsAlive: Bool {
        guard let request else { return false }
        let fields = request.fields
        if fields.contains(.connection, token: "close") { return false }
        if fields.contains(.proxyConnection, token: "close") { return false }
        guard request.version == .http10 else { return true }
        return fields.asksToKeepAlive || fields.contains(.proxyConnection, token: "keep-alive")
    }

    func releaseClientBuffer() {
        guard let clientBuffer else { return }
        self.clientBuffer = nil
        loop.buffers.give(clientBuffer)
    }
}
