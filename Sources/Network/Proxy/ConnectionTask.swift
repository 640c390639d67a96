internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// One client's connection, from its first byte to its record.
///
/// `@unchecked Sendable`: the task and its children run on one loop's executor, and the loop's sweep
/// runs on the same thread.
@safe
final class ConnectionTask: @unchecked Sendable {
    let worker: ProxyWorker
    /// What it is served by to its end.
    let policy: PolicyInForce
    let channel: Channel
    var record: ConnectionRecord
    /// The client as it is spoken to now: plain first, TLS once it is secured.
    var client: any ByteStream
    /// The client's TLS session, to take its late facts from.
    var session: TLSSession?
    /// The origin that was used last; it stays the client's until the client is gone.
    var origin: OriginLeg?
    /// The exchanges of this connection, once it speaks HTTP.
    var relay: HTTP1Relay?
    /// The same for HTTP/2.
    var http2Relay: HTTP2Relay?
    /// What is spoken, if it is neither HTTP nor passed on as it is.
    weak var dialogue: DialogueRelay?
    /// What passes bytes on as they are: the connection's, or those of exchanges that have changed over
    /// to another protocol.
    private var tunnels: [TunnelTask] = []
    var handshakeDoneTick: UInt64?
    /// The number of an exchange that was not recorded, for the next one.
    private var unusedNumber: Int64?
    var isCut = false
    /// Whom the certificate is for that the client was shown.
    private(set) var shownNames: [String] = []
    /// The host whose certificate the client was shown, as it is remembered who distrusts it.
    var interceptedHost: String?
    /// Whether connections to origins are opened for this client alone, and end with it.
    var ownsOrigins = false
    /// Whether its origin is a server of the confined command's own.
    var isInside = false
    /// Who broke it off, where the client was told and could go on.
    var brokenBy: ConnectionRecord.Side?
    var failedOrigin: FailedOrigin?
    /// Whether it is remembered that the client took that certificate.
    var isTakenNoted = false
    /// How many tunnels lead back into connections of their own.
    var nestingCount = 0
    /// Whether the client runs on this machine.
    let isLocal: Bool
    let peer: SocketAddress
    let port: ProxyPort
    /// Whether the client's program is still looked for, and who waits for that.
    var isProcessSought = false
    var processWaiters: [UnsafeContinuation<Void, Never>] = unsafe []
    /// Bytes of segments that were recorded.
    var segmentBytes: Int64 = 0
    /// When it is looked again whether the client is there, in milliseconds of the loop's clock; the
    /// longer it only listens, the rarer.
    var nextLook: UInt64 = 0
    var lookInterval: UInt64 = 100
    static let lookLimit: UInt64 = 2_000
    let openedTick: UInt64
    private var isAnnounced = false

    /// Which addresses this client's requests may go to. What it names itself must not lead a
    /// client from elsewhere to the services that this machine keeps to itself.
    var reach: OriginReach {
        if case .reverse = port.mode { return .everywhere }
        return isLocal ? .everywhere : .beyondLoopback
    }

    func nextExchangeNumber() -> Int64 {
        unusedNumber.take() ?? worker.recorder.numbers.nextExchange()
    }

    /// Takes back that there was an exchange: the record of a connection tells enough.
    func forgetExchange(_ number: Int64?) {
        unusedNumber = number
        record.exchangeCount -= 1
    }

    var id: Int64 { record.id }
    var loop: EventLoop { worker.loop }
    var limits: ProxyLimits { worker.limits }

    /// - Parameters:
    ///   - policy: what it is served by; `nil` for the latest.
    ///   - isLocal: whether the client runs on this machine; `nil` for what its address says.
    init(
        _ channel: Channel, peer: SocketAddress, port: ProxyPort, worker: ProxyWorker,
        policy: PolicyInForce? = nil, isLocal: Bool? = nil
    ) {
        self.worker = worker
        self.policy = policy ?? worker.policy
        self.channel = channel
        self.peer = peer
        self.port = port
        client = PlainStream(channel)
        openedTick = worker.loop.now
        self.isLocal =
            isLocal
            ?? (peer.isLoopback || port.mode == .captured
                || channel.localAddress?.host == peer.host)
        let mode: ConnectionRecord.Mode =
            switch port.mode {
            case .explicit: .explicit
            case .reverse: .reverse
            case .transparent: .transparent
            case .captured: .captured
            }
        record = ConnectionRecord(
            id: worker.recorder.numbers.nextConnection(), openedAt: .now(),
            client: peer.description,
            listener: port.text, mode: mode)
        record.policyVersion = self.policy.version
    }

    /// Accept → peek → route → open the origin → secure → relay → record.
    func run() async {
        worker.opened(self)
        channel.setNoDelay()
        findProcess()
        do throws(ConnectionEnd) {
            switch port.mode {
            case .explicit: try await serveExplicit(try await peek(nil))
            case .reverse(let target) where target.scheme == .tcp:
                try await serveAnything(of: target.host, target.port)
            case .reverse(let target): try await serveReverse(try await peek(nil), target)
            case .transparent, .captured: try await serveTransparent()
            }
        } catch {
            note(error)
        }
        await end()
    }

    private func serveExplicit(_ opening: PeekedOpening) async throws(ConnectionEnd) {
        switch opening.kind {
        case .http:
            try await serveHTTP(
                PlainStream(channel, readAhead: opening.takeBytes()), through: .anyOrigin)
        case .http2Preface:
            record.protocolName = "h2c"
            try await serveHTTP2(
                PlainStream(channel, readAhead: opening.takeBytes()), through: .anyOrigin)
        case .tls(let hello):
            // TLS to the proxy itself: what comes inside is for a proxy.
            note(hello)
            let name = hello.serverName ?? channel.localAddress?.host ?? "localhost"
            let stream = try await secure(name, opening, protocols: ["h2", "http/1.1"])
            if session?.parameters.alpn == "h2" {
                try await serveHTTP2(stream, through: .anyOrigin)
            } else {
                try await serveHTTP(stream, through: .anyOrigin)
            }
        case .socks: try await serveSOCKS(opening.takeBytes())
        case .brokenTLS, .unknown, .silent:
            try await refuse(opening)
        }
    }

    private func serveReverse(
        _ opening: PeekedOpening, _ reverse: ProxyPlan.ReverseTarget
    ) async throws(ConnectionEnd) {
        let target = OriginTarget(
            isSecure: reverse.scheme == .https, host: reverse.host, port: reverse.port)
        note(target)
        switch opening.kind {
        case .tls(let hello):
            try await intercept(
                target, hello, opening,
                serverName: target.isSecure ? target.serverName : hello.serverName,
                entry: .fixed(target, host: [UInt8](target.authority.utf8)))
        case .http where !target.isSecure:
            try await serveHTTP(
                PlainStream(channel, readAhead: opening.takeBytes()),
                through: .fixed(target, host: [UInt8](target.authority.utf8)))
        case .http2Preface where !target.isSecure:
            record.protocolName = "h2c"
            try await serveHTTP2(
                PlainStream(channel, readAhead: opening.takeBytes()),
                through: .fixed(target, host: [UInt8](target.authority.utf8)))
        default:
            try await refuse(opening)
        }
    }

    /// Does the handshake with the client.
    func secure(
        _ name: String, _ opening: PeekedOpening, protocols: [String]
    ) async throws(ConnectionEnd) -> TLSStream {
        let address = addressAsked
        shownNames = [name] + (address.map { $0 == name ? [] : [$0] } ?? [])
        let session = worker.serverContext.makeSession(
            for: name, and: address, protocols: protocols,
            asksForCertificate: policy.value.asksForCertificates.contains { $0.matches(name) })
        self.session = session
        let stream = TLSStream(channel, session: session, readAhead: opening.takeBytes())
        channel.readDeadline = loop.now + limits.handshakeTimeout
        channel.writeDeadline = channel.readDeadline
        do throws(StreamFailure) {
            try await stream.handshake()
        } catch {
            throw handshakeEnd(error)
        }
        handshakeDoneTick = loop.now
        noteHandshake()
        return stream
    }

    /// The address that a client of a reverse proxy asked for, if it names no host: that is what it
    /// looks for in the certificate.
    private var addressAsked: String? {
        guard case .reverse = port.mode, record.clientTLS?.sni == nil else { return nil }
        return channel.localAddress?.unmappedHost
    }

    func serveHTTP(
        _ stream: any ByteStream, through entry: Entry, originFailure: OriginFailure? = nil,
        serverName: String? = nil, readAhead: ByteBuffer? = nil
    ) async throws(ConnectionEnd) {
        client = stream
        record.protocolName = "http/1.1"
        let relay = HTTP1Relay(
            self, entry: entry, originFailure: originFailure, serverName: serverName,
            readAhead: readAhead)
        self.relay = relay
        defer { self.relay = nil }
        try await relay.serve()
        if let upgraded = relay.upgraded { try await serve(upgraded, through: entry) }
    }

    @inline(never)
    func serveHTTP2(
        _ stream: any ByteStream, through entry: Entry, originFailure: OriginFailure? = nil,
        serverName: String? = nil
    ) async throws(ConnectionEnd) {
        client = stream
        if record.protocolName != "h2c" { record.protocolName = "h2" }
        // An origin of HTTP/1 is asked for a WebSocket in its own way; one of HTTP/2 has to allow it.
        let connection = HTTP2Connection(
            stream, role: .server,
            times: HTTP2Times(write: limits.bodyTimeout, idle: limits.idleTimeout),
            allowsExtendedConnect: origin.map {
                $0.http2?.peerSettings.allowsExtendedConnect ?? true
            }
                ?? !worker.interceptors.responders.isEmpty)
        if let http2 = origin?.http2 {
            http2.onSettings = { [weak connection] settings in
                if settings.allowsExtendedConnect { connection?.allowExtendedConnect() }
            }
        }
        let relay = HTTP2Relay(
            self, entry: entry, originFailure: originFailure, serverName: serverName,
            connection: connection)
        http2Relay = relay
        defer { http2Relay = nil }
        try await relay.serve()
    }

    /// Goes on with a connection that has changed over to HTTP/2.
    private func serve(
        _ upgraded: UpgradedConnection, through entry: Entry
    ) async throws(ConnectionEnd) {
        client = upgraded.stream
        record.protocolName = "h2c"
        relay = nil
        let target = upgraded.origin.leg.target
        let relay = HTTP2Relay(
            self, entry: entry.isProxy ? .upgraded(target) : .fixed(target, host: nil),
            originFailure: nil, serverName: nil, connection: upgraded.connection)
        http2Relay = relay
        defer { http2Relay = nil }
        try await relay.serve(first: upgraded)
    }

    /// How much of what a client goes on to send is read behind our end, in bytes: all of an upload
    /// that was answered early, and little of one who broke the protocol.
    private var discardLimit: Int {
        guard record.closedBy == .tool else { return 0 }
        return record.outcome == .refused ? 1 << 20 : 1 << 30
    }

    @inline(never)
    func end() async {
        noteSession()
        noteTrust()
        if let origin {
            self.origin = nil
            release(origin)
        }
        record.clientBytes = bytes(of: channel)
        await awaitProcess()
        conclude()
        if isRefusalDue { channel.close(reset: true) }
        await client.endInOrder(discarding: discardLimit)
        record.closedAt = .now()
        if channel.hasConflicted {
            noteOnce("internal-error", "two tasks waited for one connection; please report this")
        }
        if isCut {
            record.outcome = .cut
            record.cause = "the proxy was shut down"
            record.closedBy = .tool
        } else if record.outcome == .open {
            record.outcome = .completed
        }
        worker.closed(self)
        worker.recorder.record(.connection(record))
        await worker.recorder.waitForRoom()
    }

    // MARK: What the loop asks for

    /// Tells the store of a connection that lasts, once.
    func announce(olderThan age: UInt64) {
        guard !isAnnounced, loop.now >= openedTick + age else { return }
        isAnnounced = true
        record.clientBytes = bytes(of: channel)
        worker.recorder.record(.connection(record))
        // What was told need not be held; the store keeps it.
        record.clientTLS?.clientHello = []
        record.clientTLS?.keyLog = []
        record.originTLS?.keyLog = []
        record.originTLS?.chain = []
    }

    /// Ends the connection now if it only waits for the client; else it ends after the exchange.
    ///
    /// - Parameter judgesUnread: whether a client that has spoken or gone, and was not yet heard, is
    ///   left to be heard: a request of its is answered, and a refusal is told as one.
    /// - Returns: whether it was left, to be looked at again: in what is passed on without exchanges, only
    ///   silence tells that nothing is under way.
    func drain(judgesUnread: Bool) -> Bool {
        if let http2Relay, http2Relay.hasServed || !judgesUnread {
            http2Relay.connection.drain()
            for tunnel in tunnels { tunnel.endIfResting(for: Self.quietTime) }
            return !tunnels.isEmpty
        }
        let mayEnd = !tunnels.isEmpty || relay?.isBetweenExchanges ?? true
        guard mayEnd, nestingCount == 0, !channel.isClosed else { return false }
        if judgesUnread, !channel.isQuiet { return true }
        let isInUse =
            tunnels.contains { $0.isInUse(within: Self.quietTime) }
            || dialogue?.isInUse(within: Self.quietTime) ?? false
        if isInUse { return true }
        if record.exchangeCount == 0 { noteCut() }
        dialogue?.interrupt()
        channel.interrupt()
        return false
    }

    /// Runs what passes bytes on, so that a drain can end it.
    ///
    /// - Returns: the side that ended first.
    func passBytes(through tunnel: TunnelTask) async -> ConnectionRecord.Side {
        tunnels.append(tunnel)
        defer { tunnels.removeAll { $0 === tunnel } }
        return await tunnel.run()
    }

    /// In milliseconds: so long nothing passes through what may be ended in a drain.
    private static let quietTime: UInt64 = 500

    func cut() {
        noteCut()
        http2Relay?.connection.cut()
        channel.close(reset: true)
        origin?.stream.close(reset: true)
    }

    /// What was judged before is why it ends.
    private func noteCut() {
        if record.outcome == .open { isCut = true }
    }
}
