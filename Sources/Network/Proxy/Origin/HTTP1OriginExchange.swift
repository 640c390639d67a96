internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Sockets
internal import Transport

/// An exchange over a connection of HTTP/1, which it has to itself.
///
/// `@unchecked Sendable`: the tasks that use it run on its loop's executor.
final class HTTP1OriginExchange: OriginExchange, @unchecked Sendable {
    let leg: OriginLeg
    let isOnUsedConnection: Bool
    let version = HTTPVersion.http11
    let refusesUpgrades = false
    private let worker: ProxyWorker
    private let owner: any OriginSource
    private var isChunkedUp = false
    private var method = KnownMethod.other
    /// What was offered to the origin to change over to.
    private var offer = UpgradeOffer.none
    private var isRequestWhole = false
    /// What the client of HTTP/2 asked for instead of a response.
    private var upgrade: StreamUpgrade?
    /// Reads the content of the final response; `nil` while somebody else does.
    private var body: BodyReader?
    private(set) var hasNoContent = true
    private(set) var trailers = Fields.none
    private(set) var framing = BodyFraming.none
    private(set) var refusedHead: ResponseHead?
    private var keepsAlive = false
    private var isFinished = false
    /// Until when the next head is waited for at most.
    private var readLimit = UInt64.max

    /// - Parameter owner: takes the connection back when the exchange has ended.
    init(_ leg: OriginLeg, worker: ProxyWorker, owner: any OriginSource) {
        self.leg = leg
        self.worker = worker
        self.owner = owner
        isOnUsedConnection = leg.exchangeCount > 0
        leg.exchangeCount += 1
        leg.stream.channel.resumeWaiting()
    }

    var http1: HTTP1OriginExchange? { self }

    // MARK: The request

    func send(
        _ request: OutgoingRequest, with content: ByteBuffer?, endsRequest: Bool
    ) async throws(RelayFailure) {
        isRequestWhole = endsRequest || request.upgrade != nil
        let out = worker.loop.buffers.take()
        defer { worker.loop.buffers.give(out) }
        writeHead(of: request, endsRequest: endsRequest)
        if worker.scratch.count <= out.room {
            out.append(worker.scratch)
        } else {
            try await put(worker.takeScratch(), behind: out)
        }
        if let content, !content.isEmpty {
            if isChunkedUp || content.count > out.room { try await write(out) }
            if isChunkedUp { return try await sendContent(content) }
            out.append(content.readable)
            content.removeAll()
        }
        try await write(out)
    }

    /// Writes the head into the worker's `scratch`.
    @inline(never)
    private func writeHead(of request: OutgoingRequest, endsRequest: Bool) {
        leg.notePersonal(request.head)
        upgrade = request.upgrade
        offer = request.offer(isOriginClear: leg.tls == nil)
        method = request.upgrade == nil ? request.head.knownMethod : .get
        let forwarding =
            request.head.version == .http2
            ? forwardingOfHTTP2(request, endsRequest: endsRequest) : forwardingOfHTTP1(request)
        worker.scratch.removeAll(keepingCapacity: true)
        HeadWriter.writeRequest(
            request.head, method: request.upgrade.map { _ in [UInt8]("GET".utf8)[...] },
            target: request.target.map { $0[...] }, forwarding: forwarding, into: &worker.scratch)
    }

    private func forwardingOfHTTP2(_ request: OutgoingRequest, endsRequest: Bool) -> Forwarding {
        var forwarding = Forwarding(
            keepsProxyFields: request.keepsProxyFields, host: request.host, joinsCookies: true)
        if let upgrade = request.upgrade {
            forwarding.adding = upgrade.fields
            forwarding.dropping = [":protocol", "sec-websocket-key"]
        } else if !endsRequest, !request.head.fields.contains(.contentLength) {
            isChunkedUp = true
            forwarding.framing = .chunked
        }
        return forwarding
    }

    /// An origin of the client's own is told what the client says of its connection, another one
    /// what holds between it and us.
    private func forwardingOfHTTP1(_ request: OutgoingRequest) -> Forwarding {
        let head = request.head
        guard leg.isOwned else {
            // HTTP/1.1 wants a Host that HTTP/1.0 does not (RFC 9112 §3.2).
            let host = head.fields.contains(.host) ? nil : Array(request.origin.authority.utf8)
            return Forwarding(
                keepsUpgrade: !offer.isEmpty, keepsProxyFields: request.keepsProxyFields,
                host: request.host ?? host)
        }
        let isOld = head.version == .http10
        return Forwarding(
            keepsVersion: true, keepsUpgrade: !offer.isEmpty,
            keepsProxyFields: request.keepsProxyFields,
            closes: isOld
                ? head.fields.contains(.connection, token: "close") : !head.asksForAnother,
            keepsAlive: head.fields.asksToKeepAlive, host: request.host)
    }

    /// Puts bytes into `out`; what does not fit goes ahead.
    private func put(_ bytes: [UInt8], behind out: ByteBuffer) async throws(RelayFailure) {
        var start = 0
        while bytes.count - start > out.room {
            let count = out.room
            out.append(bytes.span.extracting(start..<start + count))
            start += count
            try await write(out)
        }
        out.append(bytes.span.extracting(start...))
    }

    private func write(_ buffer: ByteBuffer) async throws(RelayFailure) {
        guard !buffer.isEmpty else { return }
        leg.stream.writeDeadline = worker.loop.now + worker.limits.bodyTimeout
        do throws(StreamFailure) {
            if try leg.stream.writeAtOnce(buffer) { return }
            try await leg.stream.write(buffer)
        } catch {
            throw .origin(error)
        }
    }

    func sendContent(_ buffer: ByteBuffer) async throws(RelayFailure) {
        guard isChunkedUp else { return try await write(buffer) }
        guard !buffer.isEmpty else { return }
        let out = worker.loop.buffers.take()
        defer { worker.loop.buffers.give(out) }
        while !buffer.isEmpty {
            let count = min(buffer.count, out.room - 16)
            out.append([UInt8]((String(count, radix: 16) + "\r\n").utf8))
            out.append(buffer.readable.extracting(..<count))
            out.append("\r\n")
            buffer.consume(count)
            try await write(out)
        }
    }

    func endContent(trailers: Fields) async throws(RelayFailure) {
        defer { isRequestWhole = true }
        guard isChunkedUp else { return }
        let passing = TrailerFields.passing(trailers).raw
        let out = worker.loop.buffers.take()
        defer { worker.loop.buffers.give(out) }
        try await put([UInt8]("0\r\n".utf8) + (passing.isEmpty ? [13, 10] : passing), behind: out)
        try await write(out)
    }

    // MARK: The response

    func nextHead(deadline: UInt64) async throws(RelayFailure) -> ResponseHead {
        leg.stream.readDeadline = min(deadline, readLimit)
        let head: ResponseHead
        do throws(OriginReadFailure) {
            head = try await leg.readHead(
                limits: worker.limits.responseHead, longHeads: worker.longHeads)
        } catch {
            throw RelayFailure(error)
        }
        try judge(head)
        return head
    }

    @inline(never)
    private func judge(_ head: ResponseHead) throws(RelayFailure) {
        do throws(HTTP1Violation) {
            framing = try MessageFraming.ofResponse(
                head, toMethod: method, offer: offer, isRequestWhole: isRequestWhole)
        } catch {
            if !head.isInterim { refusedHead = head }
            throw .originViolation(error)
        }
        guard !head.isInterim else { return }
        if let upgrade { try judge(head, behind: upgrade) }
        leg.notePersonal(head)
        let reader = BodyReader(framing, trailerLimits: .response)
        hasNoContent = reader.isComplete
        body = reader
        keepsAlive = head.keepsConnection && framing != .untilClose && framing != .tunnel
    }

    /// On a stream of HTTP/2 a 2xx opens a WebSocket (RFC 8441 §5), and no key is left by which the
    /// client could see that nobody agreed (RFC 6455 §4.1).
    private func judge(
        _ head: ResponseHead, behind upgrade: StreamUpgrade
    ) throws(RelayFailure) {
        let agrees =
            switch head.status {
            case 101:
                head.fields.first(named: "sec-websocket-accept")?.trimmingWhitespace
                    .elementsEqual(upgrade.acceptKey.utf8) ?? false
            case 200..<300: false
            default: true
            }
        if !agrees { throw .unanswered(.disagreedWebSocket(head.status)) }
    }

    var isSwitching: Bool { framing == .tunnel }

    var readsOn: Bool {
        let channel = leg.stream.channel
        return framing != .untilClose && !channel.peerEnded && !channel.isBroken
    }

    func onLeaving(_ action: (() -> Void)?) { leg.stream.channel.onPeerEnd(action) }

    var brokenHead: [UInt8] { leg.brokenHead }

    var isContentWaiting: Bool { leg.unread != nil || hasNoContent }

    /// Gives the content's reader away, to whoever passes the content on as it comes.
    func takeReader() -> BodyReader? { body.take() }

    /// Takes note that a reader has come to the end.
    func noteEnd(of reader: borrowing BodyReader) {
        hasNoContent = true
        trailers = reader.trailers
        leg.leniency.formUnion(reader.leniency)
    }

    func readContent(
        into buffer: ByteBuffer, deadline: UInt64
    ) async throws(RelayFailure) -> Int {
        while !hasNoContent {
            if leg.unread == nil {
                guard try await fill(until: deadline) else { return 0 }
            }
            let count = try takeContent(into: buffer)
            if count > 0 { return count }
        }
        return 0
    }

    /// Reads more of the content; `false` at the end of one that ends with its connection.
    func fill(until deadline: UInt64) async throws(RelayFailure) -> Bool {
        leg.stream.readDeadline = deadline
        do throws(OriginReadFailure) {
            try await leg.fill()
            return true
        } catch {
            guard case .ended = error, framing == .untilClose else { throw RelayFailure(error) }
            guard leg.stream.endedInOrder else { throw .originTruncated }
            return false
        }
    }

    /// Takes content out of what has been read; a head of chunks may hold none.
    private func takeContent(into buffer: ByteBuffer) throws(RelayFailure) -> Int {
        guard let unread = leg.unread else { throw .originEnded }
        let before = buffer.count
        let bytes = unread.readable
        let room = min(bytes.count, buffer.room)
        guard var reader = body.take() else { throw .originEnded }
        do throws(HTTP1Violation) {
            let consumed = try reader.consume(bytes.extracting(..<room)) { range in
                buffer.append(bytes.extracting(range))
            }
            unread.consume(consumed)
        } catch {
            throw .originViolation(error)
        }
        if unread.isEmpty { leg.releaseUnread() }
        if reader.isComplete { noteEnd(of: reader) }
        body = reader
        return buffer.count - before
    }

    // MARK: Ending

    func tunnel() -> (stream: any TunnelStream, late: ByteBuffer?) {
        (leg.stream, leg.unread.take())
    }

    func stopSending() { leg.stream.channel.interrupt() }
    func stopReceiving() { leg.stream.channel.interrupt() }

    func hurry(until deadline: UInt64) {
        readLimit = deadline
        leg.stream.channel.hurryReading(until: deadline)
    }

    func finish(isWhole: Bool) {
        guard !isFinished else { return }
        isFinished = true
        owner.takeBack(
            leg, isReusable: isWhole && keepsAlive && leg.unread == nil && hasNoContent)
    }
}
