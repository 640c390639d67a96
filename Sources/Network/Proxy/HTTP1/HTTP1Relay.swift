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
    let originFailure: OriginFailure?
    /// The SNI for the only origin, as the client sent it.
    let serverName: String?

    private let headLimits: HeadLimits
    /// The start of a head that does not fit into `clientBuffer`.
    private var longHead: LongHead?
    /// Bytes of the client that are not yet relayed.
    var clientBuffer: ByteBuffer?
    /// The exchange that began last; `nil` before the first and once it is done.
    private(set) var exchange: ExchangeTask?
    /// The request's content, as far as it was read.
    var requestBody: BodyReader?
    /// How long more of the content is waited for, in milliseconds.
    var contentPatience: UInt64 = 0
    var hasReadContent = true
    var requestTrailers = Fields.none
    /// Whether it goes on with its framing, and what then stands in the place of its end.
    var keepsRequestFraming = false
    var closing: ArraySlice<UInt8> = []
    /// What of a response waits to be sent with what follows.
    var heldBack: ByteBuffer?
    var coding = Coding.asCame
    /// How much of a response's content the client has not been given yet, in bytes; `nil` if its head
    /// does not tell a length.
    var lengthLeft: UInt64?
    /// Whether the connection ends behind the exchange.
    var closesConnection = false
    /// Whether the origin was told that the client has ended its direction.
    var hasPassedEndOn = false
    /// Whether a request has come; the CONNECT that made the tunnel is not one of these.
    private(set) var hasServed = false
    /// Since when a request is waited for, in milliseconds of the loop's clock.
    private var idleSince: UInt64 = 0
    private var isResting = false
    /// What the connection goes on as, once it has changed over to HTTP/2.
    var upgraded: UpgradedConnection?

    var isBetweenExchanges: Bool { exchange?.isOver ?? true }

    /// - Parameter readAhead: bytes of the client that were read before; the relay owns them now.
    init(
        _ task: ConnectionTask, entry: Entry, originFailure: OriginFailure?, serverName: String?,
        readAhead: ByteBuffer? = nil
    ) {
        clientBuffer = readAhead
        self.task = task
        worker = task.worker
        loop = task.worker.loop
        limits = task.worker.limits
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
            client.channel.onLoss(nil)
            releaseClientBuffer()
            releaseHeldBack()
            exchange = nil
        }
        while let exchange = try await nextExchange() {
            closesConnection = false
            try await exchange.run()
            self.exchange = nil
            releaseHeldBack()
            if upgraded != nil { return }
            if closesConnection || worker.isDraining {
                task.record.closedBy = task.record.closedBy ?? .tool
                return
            }
        }
    }

    // MARK: The request's head

    /// Reads the next request's head; `nil` if the client is done.
    private func nextExchange() async throws(ConnectionEnd) -> ExchangeTask? {
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
                    return begin(head.raw, head, startedAt)
                }
            } catch {
                // What came is the evidence, as far as it came.
                let bytes = longHead?.bytes ?? clientBuffer?.copy ?? []
                try await begin(bytes, nil, startedAt).refuse(error)
                return nil
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
        if task.mirrorsOrigin { watchOrigin() }
        let failure: StreamFailure?
        do throws(StreamFailure) {
            defer { task.origin?.stream.channel.onPeerEnd(nil) }
            if try await client.read(into: buffer) > 0 { return true }
            failure = nil
        } catch {
            failure = error
        }
        guard !buffer.isEmpty || longHead != nil else {
            return try endWhereRequestIsDue(failure)
        }
        let broken = begin((longHead?.bytes ?? []) + buffer.copy, nil, startedAt)
        if failure == .timedOut {
            await broken.answer(
                ToolResponse(408, "timed-out", "the request's head did not end in time"))
            throw ConnectionEnd(
                .timedOut, "client was silent in the middle of a request's head", by: .tool)
        }
        if failure == .closed, !worker.isDraining, hasOriginEnded {
            try await passLastWords(behind: broken)
        }
        if failure == .closed {
            broken.finish(error: "cut", "the proxy was shut down")
            throw ConnectionEnd(.cut, "the proxy was shut down", by: .tool)
        }
        let detail = "client ended the connection in the middle of a request's head"
        broken.finish(error: "client-closed", detail)
        throw ConnectionEnd(.broken, detail, by: .client)
    }

    /// Ends a client in the middle of a request's head as its origin did, with what that said, as of
    /// a request that took too long.
    @inline(never)
    private func passLastWords(behind broken: ExchangeTask) async throws(ConnectionEnd) -> Never {
        client.channel.resumeWaiting()
        do throws(OriginReadFailure) {
            // Nothing is waited for: the end is there.
            if let leg = task.origin, leg.unread == nil { try await leg.fill() }
        } catch {
            // It said nothing.
        }
        if let words = task.origin?.unread {
            broken.record?.record.responseHead = words.copy
            do throws(RelayFailure) {
                try await sendToClient(words)
            } catch {
                // It is not there to hear it.
            }
        }
        let detail = "origin ended the connection in the middle of a request's head"
        broken.finish(error: "origin-closed", detail)
        throw ConnectionEnd(.broken, detail, by: .origin)
    }

    /// Judges the end of a connection between two requests.
    private func endWhereRequestIsDue(_ failure: StreamFailure?) throws(ConnectionEnd) -> Bool {
        switch failure {
        case .timedOut:
            task.record.closedBy = .tool
            guard hasServed else { throw task.silentEnd(failure) }
            return false
        case .closed:
            if worker.isDraining {
                task.record.closedBy = .tool
            } else if hasOriginEnded {
                task.record.closedBy = .origin
                guard hasServed else {
                    throw ConnectionEnd(
                        .completed, "origin ended the connection before a request came",
                        by: .origin)
                }
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

    /// Begins an exchange.
    ///
    /// - Parameter request: `nil` for bytes that are none.
    @inline(never)
    private func begin(
        _ bytes: [UInt8], _ request: RequestHead?, _ startedAt: Timestamp
    ) -> ExchangeTask {
        let exchange = ExchangeTask(
            bytes, request, at: startedAt, client: self, origins: self)
        if request == nil { exchange.record?.record.authority = task.record.originHost }
        if case .http10 = request?.version {
            exchange.record?.record.protocolName = HTTPVersion.http10.text
        }
        self.exchange = exchange
        lengthLeft = nil
        hasServed = true
        return exchange
    }

    /// Gives back what a client that has paused does not need: memory, and the origin's connection,
    /// which others may use.
    func rest(idleFor time: UInt64) {
        guard isBetweenExchanges, !isResting, loop.now >= idleSince + time else { return }
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
        task.release(leg)
    }

    func announce(olderThan microseconds: Int64) {
        exchange?.announce(olderThan: microseconds)
    }

    func releaseClientBuffer() {
        guard let clientBuffer else { return }
        self.clientBuffer = nil
        loop.buffers.give(clientBuffer)
    }

    private func releaseHeldBack() {
        guard let heldBack else { return }
        self.heldBack = nil
        loop.buffers.give(heldBack)
    }
}
