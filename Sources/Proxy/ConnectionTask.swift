internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// One client's connection, from its first byte to its record.
///
/// `@unchecked Sendable`: the task and its children run on one loop's executor, and the loop's sweep
/// runs on the same thread.
final class ConnectionTask: @unchecked Sendable {
    let lane: ProxyLoop
    let channel: Channel
    var record: ConnectionRecord
    /// The client as it is spoken to now: plain first, TLS once it is secured.
    var client: any ByteStream
    /// The client's TLS session, to take its late facts from.
    var session: TLSSession?
    /// The origin that was used last; it stays the client's until the client is gone.
    var origin: OriginLeg?
    /// The exchanges of this connection, once it speaks HTTP.
    var relay: HTTPRelay?
    var handshakeDoneTick: UInt64?
    /// The number of an exchange that was not recorded, for the next one.
    var unusedNumber: Int64?
    var isCut = false
    /// Whether the client runs on this machine.
    let isLocal: Bool
    private let openedTick: UInt64
    private var isAnnounced = false

    /// Which addresses this client's requests may go to. What it names itself must not lead a
    /// client from elsewhere to the services that this machine keeps to itself.
    var reach: OriginReach {
        isLocal || lane.plan.mode != .explicit ? .everywhere : .beyondLoopback
    }

    var id: Int64 { record.id }
    var loop: EventLoop { lane.loop }
    var limits: ProxyLimits { lane.plan.limits }

    init(_ channel: Channel, peer: SocketAddress, lane: ProxyLoop) {
        self.lane = lane
        self.channel = channel
        client = PlainStream(channel)
        openedTick = lane.loop.now
        isLocal = peer.isLoopback || channel.localAddress?.host == peer.host
        let mode: ConnectionRecord.Mode = lane.plan.mode == .explicit ? .explicit : .reverse
        record = ConnectionRecord(
            id: lane.recorder.numbers.nextConnection(), openedAt: .now(), client: peer.description,
            listener: lane.listenText, mode: mode)
    }

    /// Accept → peek → route → open the origin → secure → relay → record.
    func run() async {
        lane.opened(self)
        channel.setNoDelay()
        do throws(ConnectionEnd) {
            let opening = try await peek(nil)
            switch lane.plan.mode {
            case .explicit: try await serveExplicit(opening)
            case .reverse(let target): try await serveReverse(opening, target)
            }
        } catch {
            note(error)
        }
        await end()
    }

    private func serveExplicit(_ opening: PeekedOpening) async throws(ConnectionEnd) {
        guard case .http = opening.kind else { try await refuse(opening) }
        try await serveHTTP(
            PlainStream(channel, readAhead: opening.takeBytes()), through: .anyOrigin)
    }

    private func serveReverse(
        _ opening: PeekedOpening, _ reverse: ProxyPlan.ReverseTarget
    ) async throws(ConnectionEnd) {
        let target = OriginTarget(
            isSecure: reverse.isSecure, host: reverse.host, port: reverse.port)
        note(target)
        switch opening.kind {
        case .tls(let hello) where target.isSecure:
            try await intercept(
                target, hello, opening, serverName: target.serverName,
                entry: .fixed(target, host: [UInt8](target.authority.utf8)))
        case .http where !target.isSecure:
            try await serveHTTP(
                PlainStream(channel, readAhead: opening.takeBytes()),
                through: .fixed(target, host: [UInt8](target.authority.utf8)))
        default:
            try await refuse(opening)
        }
    }

    /// Looks into a tunnel that the client asked for by CONNECT.
    ///
    /// - Parameter dialled: the connection to the origin that was opened for it.
    func serveTunnel(
        to host: String, _ port: UInt16, _ dialled: DialledOrigin, readAhead: ByteBuffer?
    ) async throws(ConnectionEnd) {
        let opening: PeekedOpening
        do throws(ConnectionEnd) {
            opening = try await peekTunnel(readAhead, dialled)
        } catch {
            dialled.close()
            throw error
        }
        switch opening.kind {
        case .tls(let hello):
            let target = OriginTarget(isSecure: true, host: host, port: port)
            // Some clients send no SNI for short names; the origin still has to know who is meant.
            let name = hello.serverName ?? target.serverName
            try await intercept(
                target, hello, opening, serverName: name, dialled: dialled,
                entry: .fixed(target, host: nil))
        case .http:
            let target = OriginTarget(isSecure: false, host: host, port: port)
            adopt(dialled, for: target)
            try await serveHTTP(
                PlainStream(channel, readAhead: opening.takeBytes()),
                through: .fixed(target, host: nil))
        case .brokenTLS:
            dialled.close()
            try await refuse(opening)
        case .http2Preface, .socks, .unknown, .silent:
            try await passThrough(opening, dialled)
        }
    }

    /// Secures both legs, the origin's first, and serves what is spoken inside.
    private func intercept(
        _ target: OriginTarget, _ hello: ClientHello, _ opening: PeekedOpening, serverName: String?,
        dialled: DialledOrigin? = nil, entry: Entry
    ) async throws(ConnectionEnd) {
        note(target)
        note(hello)
        var failure: OriginFailure?
        do throws(OriginFailure) {
            let leg = try await lane.origin(
                target, serverName: serverName, reach: reach, dialled: dialled)
            note(leg)
            failure = refusal(of: leg)
            if failure != nil { dropOrigin() }
        } catch {
            failure = error
        }
        if let failure { note(failure) }
        let stream = try await secure(hello.serverName ?? target.host, opening)
        try await serveHTTP(
            stream, through: entry, originFailure: failure, serverName: serverName)
    }

    /// Does the handshake with the client.
    private func secure(_ name: String, _ opening: PeekedOpening) async throws(ConnectionEnd)
        -> TLSStream
    {
        let session = lane.serverContext.makeSession(for: name, protocols: ["http/1.1"])
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

    private func serveHTTP(
        _ stream: any ByteStream, through entry: Entry, originFailure: OriginFailure? = nil,
        serverName: String? = nil
    ) async throws(ConnectionEnd) {
        client = stream
        record.protocolName = "http/1.1"
        let relay = HTTPRelay(
            self, entry: entry, originFailure: originFailure, serverName: serverName)
        self.relay = relay
        defer { self.relay = nil }
        try await relay.serve()
    }

    @inline(never)
    private func end() async {
        noteSession()
        if let origin {
            self.origin = nil
            note(endOf: origin)
            lane.release(origin)
        }
        record.clientBytes = bytes(of: channel)
        await client.endInOrder(lingers: record.closedBy == .tool)
        record.closedAt = .now()
        if isCut {
            record.outcome = .cut
            record.cause = "the proxy was shut down"
            record.closedBy = .tool
        } else if record.outcome == .open {
            record.outcome = .completed
        }
        lane.closed(self)
        lane.recorder.record(.connection(record))
        await lane.recorder.waitForRoom()
    }

    // MARK: What the loop asks for

    /// Tells the store of a connection that lasts, once.
    func announce(olderThan age: UInt64) {
        guard !isAnnounced, loop.now >= openedTick + age else { return }
        isAnnounced = true
        record.clientBytes = bytes(of: channel)
        lane.recorder.record(.connection(record))
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
    /// - Returns: whether it was left.
    func drain(judgesUnread: Bool) -> Bool {
        guard relay?.isBetweenExchanges ?? true, !channel.isClosed else { return false }
        if judgesUnread, !channel.isQuiet { return true }
        if record.exchangeCount == 0 { noteCut() }
        channel.interrupt()
        return false
    }

    func cut() {
        noteCut()
        channel.close(reset: true)
        origin?.stream.close()
    }

    /// What was judged before is why it ends.
    private func noteCut() {
        if record.outcome == .open { isCut = true }
    }
}
