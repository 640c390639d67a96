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
    /// The response is complete, and the client has to see that nothing follows it.
    case afterResponse
    /// The request cannot be served, and this status says so.
    case refused(Int)
    case interrupted(ResponseInterruption.Ending)
}

/// One client's connection: secure, then read a head, answer, and again.
///
/// `@unchecked Sendable`: the task runs on one loop's executor, and the worker calls it on the same
/// thread.
final class HTTPServerTask: @unchecked Sendable {
    let worker: ServerWorker
    let channel: Channel
    let peer: String
    private(set) var stream: any ByteStream
    /// Bytes of the client that are not yet read.
    var held: ByteBuffer?
    private var isBetweenExchanges = true
    private var scheme: ServerRequest.Scheme { worker.tls == nil ? .http : .https }

    var loop: EventLoop { worker.loop }
    var limits: ServerLimits { worker.limits }

    init(_ channel: Channel, peer: SocketAddress, worker: ServerWorker) {
        self.worker = worker
        self.channel = channel
        self.peer = peer.description
        stream = PlainStream(channel)
    }

    func run() async {
        worker.opened(self)
        channel.setNoDelay()
        do throws(ServerEnd) {
            if let tls = worker.tls { try await secure(tls) }
            while let head = try await nextHead() {
                isBetweenExchanges = false
                try await serve(head)
                isBetweenExchanges = true
            }
        } catch {
            await end(error)
        }
        releaseHeld()
        channel.close()
        worker.closed(self)
    }

    // MARK: TLS

    /// Reads the ClientHello for the name that is asked for, then does the handshake.
    private func secure(_ context: TLSServerContext) async throws(ServerEnd) {
        channel.readDeadline = loop.now + limits.handshakeTimeout
        channel.writeDeadline = channel.readDeadline
        let name = try await peekServerName() ?? worker.ownName
        let secured = TLSStream(
            channel, session: context.makeSession(for: name, protocols: ["http/1.1"]),
            readAhead: held)
        held = nil
        do throws(StreamFailure) {
            try await secured.handshake()
        } catch {
            throw .ended
        }
        stream = secured
    }

    private func peekServerName() async throws(ServerEnd) -> String? {
        while true {
            try await receiveHello()
            guard let held else { throw .ended }
            // 22 is a handshake record; HTTP begins with a letter.
            guard held[0] == 22 else { throw .refused(400) }
            do throws(ClientHelloViolation) {
                if let hello = try ClientHelloReader.read(held.readable) { return hello.serverName }
            } catch {
                // OpenSSL finds the same fault and answers it with the right alert.
                return nil
            }
        }
    }

    private func receiveHello() async throws(ServerEnd) {
        do throws(ServerEnd) {
            if try await receive() { return }
        } catch {
            // No status can be told in the middle of a handshake.
            throw .ended
        }
        throw .ended
    }

    // MARK: The request's head

    /// Reads the next request's head; `nil` if the client is done.
    private func nextHead() async throws(ServerEnd) -> RequestHead? {
        var scanned = 0
        if held == nil {
            stream.readDeadline = loop.now + limits.idleTimeout
            guard try await receive() else { return nil }
        }
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
        return nil
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

    private func serve(_ head: RequestHead) async throws(ServerEnd) {
        guard head.knownMethod != .connect else { throw .refused(501) }
        let request: ServerRequest
        let framing: BodyFraming
        do throws(HTTP1Violation) {
            framing = try MessageFraming.ofRequest(head)
            request = try makeRequest(head)
        } catch {
            throw .refused(error.status)
        }
        let content = ConnectionBodySource(
            self, framing, expectsContinue: try Self.expectsContinue(head))
        let response = await worker.answer(request, content.body)
        let keepsAlive = Self.keepsAlive(head) && !worker.isDraining && content.isSkippable
        let plan = ResponsePlan(
            response, toMethod: request.method, version: request.version, keepsAlive: keepsAlive,
            date: worker.dateText(request.date))
        try await send(plan, response.body)
        if plan.closes { throw .afterResponse }
        try await content.skipRest()
    }

    private func makeRequest(_ head: RequestHead) throws(HTTP1Violation) -> ServerRequest {
        let path: ArraySlice<UInt8>
        var host: String?
        switch try RequestTarget(head) {
        case .origin(let target): path = target
        case .absolute(_, let name, _, let target, _): (host, path) = (name, target[...])
        case .asterisk: path = [0x2A]
        case .authority: throw .invalidTarget
        }
        if host == nil, let field = head.fields.first(.host), !field.isEmpty {
            guard let (name, _) = HostField.parse(field) else { throw .invalidTarget }
            host = name
        }
        guard let path = RequestPath(path) else { throw .invalidTarget }
        return ServerRequest(
            method: RequestMethod(head.method), path: path, host: host, version: head.version,
            fields: head.fields, scheme: scheme, peer: peer, receivedAt: .now())
    }

    /// Whether the client waits for a 100 (RFC 9110 §10.1.1); other expectations are refused.
    private static func expectsContinue(_ head: RequestHead) throws(ServerEnd) -> Bool {
        guard head.version != .http10, let value = head.fields.first(.expect) else { return false }
        guard value.trimmingWhitespace.equalsIgnoringCase("100-continue") else {
            throw .refused(417)
        }
        return true
    }

    /// Whether the client wants to go on after this exchange (RFC 9112 §9.3).
    private static func keepsAlive(_ head: RequestHead) -> Bool {
        if head.fields.contains(.connection, token: "close") { return false }
        return head.version != .http10 || head.fields.contains(.connection, token: "keep-alive")
    }

    // MARK: Ending

    private func end(_ reason: ServerEnd) async {
        switch reason {
        case .ended: await finish(lingers: false)
        case .afterResponse: await finish(lingers: true)
        case .interrupted(let ending): channel.close(reset: ending == .reset)
        case .refused(let status):
            let plan = ResponsePlan(
                .plain(status), toMethod: .get, version: .http11, keepsAlive: false,
                date: worker.dateText(HTTPDate(.now())))
            do throws(ServerEnd) {
                try await send(plan, ServerResponse.plain(status).body)
                await finish(lingers: true)
            } catch {
                channel.close()
            }
        }
    }

    /// - Parameter lingers: whether the client may still be sending.
    private func finish(lingers: Bool) async {
        await stream.endInOrder(
            discarding: lingers ? Self.discardLimit : 0, patience: Self.discardPatience)
    }

    /// In bytes.
    private static let discardLimit = 1 << 20
    /// In milliseconds.
    private static let discardPatience: UInt64 = 1_000

    // MARK: What the worker asks for

    /// Ends the connection now if it only waits for a request; else it ends after the exchange.
    func drain() {
        if isBetweenExchanges { channel.interrupt() }
    }

    func cut() {
        channel.close(reset: true)
    }
}
