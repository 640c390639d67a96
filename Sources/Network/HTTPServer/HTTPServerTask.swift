internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets
internal import TLS
internal import Transport

/// Why a connection ends.
enum ServerEnd: Error {
    /// The client is done, gone or silent.
    case ended
    /// What was waited for is not to come: the client has left, or the server stops.
    case left
    /// The client takes nothing more.
    case unwritable(isTimeout: Bool)
    /// The response is complete, and the client has to see that nothing follows it.
    case afterResponse
    /// The request cannot be served, and this status says so.
    case refused(Int)
    case interrupted(ResponseInterruption.Ending)
    /// On purpose.
    case cut(Delivery.Ending)
}

/// One client's connection: secure, see what it speaks, then read a head, answer, and again; the
/// streams of HTTP/2 are `HTTP2ServerTask`'s.
///
/// `@unchecked Sendable`: the task runs on one loop's executor, and the worker calls it on the same
/// thread.
final class HTTPServerTask: @unchecked Sendable {
    let worker: ServerWorker
    let channel: Channel
    /// For what an exchange of HTTP/1 waits for.
    let pause: ExchangePause
    private let address: SocketAddress
    private let number: UInt64
    private(set) var stream: any ByteStream
    /// Bytes of the client that are not yet read.
    var held: ByteBuffer?
    private var isBetweenExchanges = true
    /// Whether the client wants to go on after the exchange under way.
    private var wantsMore = true
    private var http2: HTTP2ServerTask?
    /// The last responses, as long as the client may have left bytes of them unread.
    private var unsettled: [Unsettled] = []
    /// Whether the request under way, or its beginning, came ahead of the end of the response before.
    private var isAhead = false
    private var isFinishing = false
    /// What is known of the request under way, for whoever is told that it was refused.
    private var client: ClientConnection?
    private var head: RequestHead?

    var loop: EventLoop { worker.loop }
    var limits: ServerLimits { worker.limits }

    init(_ channel: Channel, peer: SocketAddress, worker: ServerWorker) {
        self.worker = worker
        self.channel = channel
        address = peer
        number = worker.numbers.next()
        pause = ExchangePause(worker.loop, patience: worker.limits.halfClosedPatience)
        stream = PlainStream(channel)
    }

    func run() async {
        worker.opened(self)
        channel.setNoDelay()
        channel.onPeerEnd { [unowned self] in noteClientEnd() }
        await ClientPresence.$current.withValue(pause.presence) { await serveToEnd() }
        releaseHeld()
        channel.close()
        pause.close()
        worker.closed(self)
    }

    private func serveToEnd() async {
        do throws(ServerEnd) {
            try await serve()
            if isBrokenOff { doubt() }
        } catch {
            if case .refused(let status) = error { report(status) }
            if isBrokenOff { doubt() }
            await end(error)
        }
    }

    /// Whoever has only ended its direction may still read what it has asked for.
    private func noteClientEnd() {
        if channel.isBroken {
            pause.leave()
        } else if channel.peerEnded, !isBetweenExchanges {
            pause.halfClose()
        }
        // Both directions have ended in order too, so that only the error tells a reset.
        if isFinishing, channel.isBroken, channel.takeError() != nil { doubt() }
    }

    private func serve() async throws(ServerEnd) {
        let security = try await open()
        let client = ClientConnection(
            number: number, peer: address.description,
            host: clientHost, security: security)
        self.client = client
        var speaksHTTP2 = security?.applicationProtocol == "h2"
        // With TLS that has to be agreed on (RFC 9113 §3.2); but there are clients of push services
        // that do not.
        if security?.applicationProtocol == nil { speaksHTTP2 = try await beginsWithPreface() }
        if speaksHTTP2 { return try await serveHTTP2(client) }
        while try await waitForRequest() {
            isBetweenExchanges = false
            head = nil
            if try await !serveAgain(client) {
                try await serve(try await readHead(), of: client)
            }
            isBetweenExchanges = true
        }
    }

    private var clientHost: String { worker.isRelayed ? "relayed" : address.host }

    private func serveHTTP2(_ client: ClientConnection) async throws(ServerEnd) {
        let task = HTTP2ServerTask(stream, client: client, worker: worker)
        if let held {
            task.receive(held)
            releaseHeld()
        }
        http2 = task
        defer { http2 = nil }
        await task.run()
        throw .ended
    }

    // MARK: The request's head

    /// Waits for the next request's first bytes; `false` if the client is done.
    private func waitForRequest() async throws(ServerEnd) -> Bool {
        // Clients of old send one behind a request (RFC 9112 §2.2), which is no next one.
        if let held, held.readable.count >= 2, held.readable[0] == 0x0D, held.readable[1] == 0x0A {
            consume(2)
        }
        // What came while the response was written may lie in the socket.
        isAhead =
            held != nil
            || !unsettled.isEmpty && (stream.holdsBytes || (channel.arrivedCount ?? 0) > 0)
        guard held == nil else { return true }
        stream.readDeadline = loop.now + limits.idleTimeout
        return try await receive()
    }

    private func readHead() async throws(ServerEnd) -> RequestHead {
        var scanned = 0
        stream.readDeadline = loop.now + limits.headTimeout
        while let bytes = held {
            do throws(HTTP1Violation) {
                if let (head, consumed) = try RequestReader.read(
                    bytes.readable, limits: limits.head, alreadyScanned: scanned)
                {
                    consume(consumed)
                    return head
                }
            } catch {
                throw .refused(error.status)
            }
            scanned = bytes.count
            guard try await receive() else { throw .ended }
        }
        throw .ended
    }

    /// Receives more bytes behind those that are held; `false` at the client's end.
    func receive() async throws(ServerEnd) -> Bool {
        do throws(StreamFailure) {
            if held == nil { try await stream.waitReadable() }
            let buffer = held ?? loop.buffers.take()
            held = buffer
            buffer.compact()
            let count = try await stream.read(into: buffer)
            if buffer.isEmpty { releaseHeld() }
            return count > 0
        } catch {
            let isInHead = held.map { !$0.isEmpty } ?? false
            if held?.isEmpty == true { releaseHeld() }
            if error == .timedOut, isInHead { throw .refused(408) }
            throw .ended
        }
    }

    func take(_ secured: TLSStream) { stream = secured }

    func consume(_ count: Int) {
        held?.consume(count)
        if held?.isEmpty == true { releaseHeld() }
    }

    private func releaseHeld() {
        guard let held else { return }
        self.held = nil
        loop.buffers.give(held)
    }

    // MARK: One exchange

    private func serve(
        _ head: RequestHead, of client: ClientConnection
    ) async throws(ServerEnd) {
        noteGoingOn()
        self.head = head
        let framing: BodyFraming
        do throws(HTTP1Violation) {
            framing = try MessageFraming.ofRequest(head)
        } catch {
            throw .refused(error.status)
        }
        wantsMore = Self.keepsAlive(head)
        noteClientEnd()
        let exchange = try HTTP1ExchangeStream(self, head, framing)
        defer { exchange.release() }
        if try await worker.serve(head, of: client, over: exchange) { throw .afterResponse }
        try await exchange.skipRest()
    }

    /// Sends what the same head was answered with before, if that is known.
    private func serveAgain(_ client: ClientConnection) async throws(ServerEnd) -> Bool {
        guard !worker.isDraining, let held, let known = worker.known.find(held),
            let onEnd = known.repetition(client)
        else { return false }
        consume(known.request.count)
        let out = worker.content.take()
        defer { worker.content.give(out) }
        known.append(to: out, date: worker.dateText(HTTPDate(.now())))
        stream.writeDeadline = loop.now + limits.writeTimeout
        do throws(StreamFailure) {
            try await stream.write(out)
        } catch {
            onEnd(SentResponse(end: .left, count: 0, acknowledged: nil))
            throw .unwritable(isTimeout: error == .timedOut)
        }
        let open = channel.unacknowledgedCount.map(UInt64.init)
        let sent = SentResponse(
            end: .whole, count: known.count,
            acknowledged: open.map { known.count - min(known.count, $0) })
        onEnd(sent)
        noteGoingOn()
        if known.count > 0 { watch(sent, onEnd) }
        return true
    }

    var keepsAlive: Bool { wantsMore && !worker.isDraining }

    /// Whether the client wants to go on after this exchange (RFC 9112 §9.3).
    private static func keepsAlive(_ head: RequestHead) -> Bool {
        if head.fields.contains(.connection, token: "close") { return false }
        return head.version != .http10 || head.fields.contains(.connection, token: "keep-alive")
    }

    // MARK: Ending

    /// Whether the client has left ahead of the end of what was sent.
    private var isBrokenOff: Bool {
        channel.isBroken || channel.peerEnded && (channel.unacknowledgedCount ?? 0) > 0
    }

    /// Keeps a response in mind, of which the client may leave bytes unread.
    func watch(_ sent: SentResponse, _ onEnd: @escaping (SentResponse) -> Void) {
        unsettled.append((sent, onEnd))
        // Nobody leaves so many unread, as far as anybody knows.
        if unsettled.count > Self.unsettledLimit { unsettled.removeFirst(unsettled.count / 2) }
    }

    /// Who goes on has read what came before, but for what it had asked for ahead of that.
    private func noteGoingOn() {
        if !isAhead { unsettled = [] }
    }

    /// Tells that the client may have left bytes of the last responses unread.
    private func doubt() {
        for response in unsettled { Self.doubt(response) }
        unsettled = []
    }

    private static func doubt(_ response: Unsettled) {
        var sent = response.sent
        sent.isDoubtful = true
        response.onEnd(sent)
    }

    private typealias Unsettled = (sent: SentResponse, onEnd: (SentResponse) -> Void)
    private static let unsettledLimit = 1024

    private func report(_ status: Int) {
        guard let onRefusal = worker.onRefusal else { return }
        let bytes = head?.fields.raw ?? held?.copy ?? []
        // A handshake on a plain port is no request, and nothing of it is in the clear.
        guard let first = bytes.first, first.isASCIILetter else { return }
        // Where the handshake was not even begun, what came was in the clear.
        let client =
            client
            ?? ClientConnection(
                number: number, peer: address.description, host: clientHost)
        onRefusal(
            RefusedRequest(
                status: status, head: bytes, version: head?.version ?? .http11, connection: client))
    }

    private func end(_ reason: ServerEnd) async {
        switch reason {
        case .ended: await finish(lingers: false)
        case .afterResponse, .cut(.finish): await finish(lingers: true)
        case .cut(.truncate): await finish(lingers: true, isTruncated: true)
        case .interrupted(let ending): channel.close(reset: ending == .reset)
        case .unwritable(let isTimeout): channel.close(reset: isTimeout)
        case .left, .cut(.reset), .cut(.stream): channel.close(reset: true)
        case .refused(let status): await refuse(status)
        }
    }

    private func refuse(_ status: Int) async {
        let response = ServerResponse.plain(status)
        let plan = ResponsePlan(
            response, toMethod: .get, version: .http11, keepsAlive: false,
            date: worker.dateText(HTTPDate(.now())))
        var bytes = plan.head
        if case .bytes(let content) = response.body { bytes += content }
        let buffer = ByteBuffer(capacity: bytes.count)
        buffer.append(bytes)
        stream.writeDeadline = loop.now + limits.writeTimeout
        do throws(StreamFailure) {
            try await stream.write(buffer)
            await finish(lingers: true)
        } catch {
            channel.close()
        }
    }

    /// - Parameter lingers: whether the client may still be sending.
    private func finish(lingers: Bool, isTruncated: Bool = false) async {
        // Clients of TLS reset where they leave the close_notify unread, which says nothing.
        isFinishing = lingers && client?.security == nil
        await stream.sayGoodbye(
            discarding: lingers ? Self.discardLimit : 0, patience: Self.discardPatience,
            isTruncated: isTruncated)
        // What the client's system has not taken by now it may never take. Who has ended its own
        // direction alone was not waited for; a reset of TLS need not acknowledge what was read last.
        let isLeft = channel.isBroken || !channel.peerEnded
        let most =
            channel.isBroken && client?.security != nil ? Self.resetLength : Self.goodbyeLength
        if lingers, isLeft, (channel.unacknowledgedCount ?? 0) > most { doubt() }
        channel.close()
    }

    /// In bytes.
    private static let discardLimit = 1 << 20
    /// What TLS says last, and the end itself, at most: who leaves ahead of it leaves nothing. In bytes.
    private static let goodbyeLength = 100
    /// What a system has got and not acknowledged, at most: two segments, of 64 KiB on one machine (RFC
    /// 9293 §3.8.6.3). In bytes.
    private static let resetLength = 256 << 10
    /// In milliseconds.
    private static let discardPatience: UInt64 = 1_000

    // MARK: What the worker asks for

    /// Ends the connection now if it only waits for a request; else it ends after the exchange.
    func drain() {
        pause.end()
        if let http2 { return http2.drain() }
        if isBetweenExchanges { channel.interrupt() }
    }

    func cut() {
        pause.leave()
        http2?.cut()
        channel.close(reset: true)
    }
}
