internal import Base
internal import HTTP2
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
@safe
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
    /// The same for HTTP/2.
    var http2Relay: HTTP2Relay?
    /// What is spoken, if it is neither HTTP nor passed on as it is.
    weak var dialogue: DialogueRelay?
    var handshakeDoneTick: UInt64?
    /// The number of an exchange that was not recorded, for the next one.
    var unusedNumber: Int64?
    var isCut = false
    /// Whom the certificate is for that the client was shown.
    private(set) var shownNames: [String] = []
    /// The host whose certificate the client was shown, as it is remembered who distrusts it.
    var interceptedHost: String?
    /// Whether connections to origins are opened for this client alone, and end with it.
    private(set) var ownsOrigins = false
    /// Whether its origin is a server of the confined command's own.
    var isInside = false
    /// Who broke it off, where the client was told and could go on.
    var brokenBy: ConnectionRecord.Side?
    var failedOrigin: FailedOrigin?
    /// Whether it is remembered that the client took that certificate.
    var isTakenNoted = false
    /// How many tunnels lead back into connections of their own.
    private var nestingCount = 0
    /// Whether the client runs on this machine.
    let isLocal: Bool
    let peer: SocketAddress
    let port: ProxyPort
    /// Whether the client's program is still looked for, and who waits for that.
    var isProcessSought = false
    var processWaiter: UnsafeContinuation<Void, Never>?
    /// Bytes of segments that were recorded.
    var segmentBytes: Int64 = 0
    private let openedTick: UInt64
    private var isAnnounced = false

    /// Which addresses this client's requests may go to. What it names itself must not lead a
    /// client from elsewhere to the services that this machine keeps to itself.
    var reach: OriginReach {
        if case .reverse = port.mode { return .everywhere }
        return isLocal ? .everywhere : .beyondLoopback
    }

    var id: Int64 { record.id }
    var loop: EventLoop { lane.loop }
    var limits: ProxyLimits { lane.plan.limits }

    /// - Parameter isLocal: whether the client runs on this machine; `nil` for what its address says.
    init(
        _ channel: Channel, peer: SocketAddress, port: ProxyPort, lane: ProxyLoop,
        isLocal: Bool? = nil
    ) {
        self.lane = lane
        self.channel = channel
        self.peer = peer
        self.port = port
        client = PlainStream(channel)
        openedTick = lane.loop.now
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
            id: lane.recorder.numbers.nextConnection(), openedAt: .now(), client: peer.description,
            listener: port.text, mode: mode)
    }

    /// Accept → peek → route → open the origin → secure → relay → record.
    func run() async {
        lane.opened(self)
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

    /// Serves what client and origin speak, whatever it is.
    func serveAnything(of host: String, _ port: UInt16) async throws(ConnectionEnd) {
        note(OriginTarget(isSecure: false, host: host, port: port))
        if let refusal = blocking(host) {
            throw ConnectionEnd(.refused, refusal.detail, by: .tool)
        }
        let early = isClaimed(host, port) ? try await serveProbe(to: host, port, nil) : nil
        let dialled = try await dial(host, port)
        record.originAddress = dialled.address.description
        try await serveTunnel(to: host, port, dialled, readAhead: early)
    }

    /// Connects to what the connection is for; a failure is its end.
    func dial(_ host: String, _ port: UInt16) async throws(ConnectionEnd) -> DialledOrigin {
        do throws(OriginFailure) {
            return try await lane.dial(host, port, reach: reach)
        } catch {
            note(error)
            throw ConnectionEnd(error.outcome, error.failure.detail, by: .tool)
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

    /// Looks into a tunnel that the client asked for by CONNECT.
    ///
    /// - Parameter dialled: the connection to the origin that was opened for it.
    func serveTunnel(
        to host: String, _ port: UInt16, _ dialled: DialledOrigin, readAhead: ByteBuffer?
    ) async throws(ConnectionEnd) {
        ownsOrigins = true
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
            if lane.plan.responder == nil {
                adopt(dialled, for: target, offer: lane.plan.offer(to: target, []))
            } else {
                dialled.close()
            }
            try await serveHTTP(
                PlainStream(channel, readAhead: opening.takeBytes()),
                through: .fixed(target, host: nil))
        case .http2Preface:
            let target = OriginTarget(isSecure: false, host: host, port: port)
            record.protocolName = "h2c"
            if lane.plan.responder == nil {
                adopt(
                    dialled, for: target,
                    offer: lane.plan.originVersion == .http1 ? .plain : .plainHTTP2)
            } else {
                dialled.close()
            }
            try await serveHTTP2(
                PlainStream(channel, readAhead: opening.takeBytes()),
                through: .fixed(target, host: nil))
        case .brokenTLS:
            dialled.close()
            try await refuse(opening)
        case .socks, .unknown, .silent:
            try await serveDialogue(dialled, early: opening.takeBytes())
        }
    }

    /// Secures both legs, the origin's first, and serves what is spoken inside.
    private func intercept(
        _ target: OriginTarget, _ hello: ClientHello, _ opening: PeekedOpening, serverName: String?,
        dialled: DialledOrigin? = nil, entry: Entry
    ) async throws(ConnectionEnd) {
        note(target)
        note(hello)
        let host = hello.serverName ?? target.host
        switch disposition(of: host, at: target) {
        case .intercept: interceptedHost = HostPattern.canonical(host.lowercased())
        case .pass(let reason):
            return try await passThrough(target, opening, dialled, reason: reason)
        case .block(let reason):
            dialled?.close()
            try await block(host, reason)
        }
        if let responder = lane.plan.responder {
            return try await serve(responder, for: target, hello, opening, dialled, entry)
        }
        var failure: OriginFailure?
        let giveUp = giveUpWithClient(dialled)
        do throws(OriginFailure) {
            let leg = try await openOrigin(
                target, serverName, lane.plan.offer(to: target, hello.alpn), dialled)
            channel.onPeerEnd(nil)
            note(leg)
            failure = refusal(of: leg)
            if failure != nil { dropOrigin() }
        } catch {
            channel.onPeerEnd(nil)
            if giveUp.isDone {
                record.originTLS = error.tls
                throw ConnectionEnd(
                    .broken, "client ended the connection while its origin was waited for",
                    by: .client)
            }
            failure = error
        }
        if let failure { note(failure) }
        if let failure, mirrorsOrigin, failure.outcome == .originHandshakeFailed {
            // Without us, its client would have met the same refusal.
            await sendAlert(40)
            throw ConnectionEnd(failure.outcome, failure.failure.detail, by: .origin)
        }
        let stream = try await secure(
            hello.serverName ?? target.host, opening, protocols: protocols(for: hello))
        switch session?.parameters.alpn {
        case "h2":
            try await serveHTTP2(
                stream, through: entry, originFailure: failure, serverName: serverName)
        case "http/1.1":
            try await serveHTTP(
                stream, through: entry, originFailure: failure, serverName: serverName)
        case let other?:
            guard let origin else { throw ConnectionEnd(.broken, other, by: .tool) }
            try await serveSecuredDialogue(stream, origin, nil, early: nil, late: nil)
        case nil:
            try await serveUnnamed(
                stream, through: entry, originFailure: failure, serverName: serverName)
        }
    }

    /// Lets an origin's connection end when its client leaves before the handshakes are done: without
    /// us it would, and an origin that serves one at a time waits for that.
    private func giveUpWithClient(_ dialled: DialledOrigin?) -> GivingUp {
        let giveUp = GivingUp()
        let act = {
            giveUp.isDone = true
            dialled?.channel.interrupt()
        }
        channel.onPeerEnd(act)
        if channel.peerEnded || channel.isBroken { act() }
        return giveUp
    }

    private final class GivingUp {
        var isDone = false
    }

    /// An origin that speaks HTTP/2 alone refuses a client's offer of HTTP/1: it is asked again.
    private func openOrigin(
        _ target: OriginTarget, _ serverName: String?, _ offer: OriginOffer,
        _ dialled: DialledOrigin?
    ) async throws(OriginFailure) -> OriginLeg {
        do throws(OriginFailure) {
            return try await leg(
                to: target, serverName: serverName, offer: offer, dialled: dialled)
        } catch {
            let alerts = error.tls?.alerts ?? []
            guard offer == .http1 || offer == .protocols([]),
                alerts.contains(where: { $0.name == "no_application_protocol" })
            else { throw error }
            return try await leg(
                to: target, serverName: serverName, offer: .protocols(["h2"]))
        }
    }

    /// What the client may choose: what the origin chose, and what we can translate.
    private func protocols(for hello: ClientHello) -> [String] {
        let offered = hello.alpn
        guard let origin else { return ["http/1.1", "h2"] }
        if origin.http2 != nil { return ["h2", "http/1.1"] }
        if let chosen = origin.tls?.alpn, chosen != "http/1.1" { return [chosen] }
        return offered.contains("http/1.1") ? ["http/1.1"] : ["h2"]
    }

    /// Does the handshake with the client.
    func secure(
        _ name: String, _ opening: PeekedOpening, protocols: [String]
    ) async throws(ConnectionEnd) -> TLSStream {
        let address = addressAsked
        shownNames = [name] + (address.map { $0 == name ? [] : [$0] } ?? [])
        let session = lane.serverContext.makeSession(for: name, and: address, protocols: protocols)
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
        let relay = HTTPRelay(
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
                ?? (lane.plan.responder != nil))
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
        let target = upgraded.exchange.leg.target
        let relay = HTTP2Relay(
            self, entry: entry.isProxy ? .upgraded(target) : .fixed(target, host: nil),
            originFailure: nil, serverName: nil, connection: upgraded.connection)
        http2Relay = relay
        defer { http2Relay = nil }
        try await relay.serve(first: upgraded)
    }

    /// Serves a tunnel that was asked for inside of something else than a plain socket: what comes
    /// through it is a connection of its own.
    ///
    /// - Parameters:
    ///   - dialled: the connection to the origin that was opened for it.
    ///   - readAhead: what came through the tunnel before; owned by it now.
    func nest(
        _ outer: any TunnelStream, to host: String, _ port: UInt16, dialled: DialledOrigin,
        readAhead: ByteBuffer?
    ) async {
        let ends: (Channel, Channel)
        do throws(SystemError) {
            ends = try Channel.pair(on: loop)
        } catch {
            dialled.close()
            if let readAhead { loop.buffers.give(readAhead) }
            outer.interrupt()
            return
        }
        let inner = ConnectionTask(
            ends.0, peer: peer, port: self.port, lane: lane, isLocal: isLocal)
        let tunnel = TunnelTask(
            client: outer, origin: PlainStream(ends.1), lane: lane, early: readAhead, late: nil
        ) { _, _ in }
        nestingCount += 1
        await withDiscardingTaskGroup { group in
            group.addTask {
                await inner.runTunnel(to: host, port, dialled)
                tunnel.interruptClient(in: self.lane.isDraining ? 100 : self.limits.halfCloseGrace)
            }
            group.addTask {
                _ = await tunnel.run()
                ends.1.close()
            }
        }
        nestingCount -= 1
    }

    private func runTunnel(to host: String, _ port: UInt16, _ dialled: DialledOrigin) async {
        lane.opened(self)
        note(OriginTarget(isSecure: true, host: host, port: port))
        do throws(ConnectionEnd) {
            try await serveTunnel(to: host, port, dialled, readAhead: nil)
        } catch {
            note(error)
        }
        await end()
    }

    /// How much of what a client goes on to send is read behind our end, in bytes: all of an upload
    /// that was answered early, and little of one who broke the protocol.
    private var discardLimit: Int {
        guard record.closedBy == .tool else { return 0 }
        return record.outcome == .refused ? 1 << 20 : 1 << 30
    }

    @inline(never)
    private func end() async {
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
        if let http2Relay, record.exchangeCount > 0 || !judgesUnread {
            http2Relay.connection.drain()
            return false
        }
        guard relay?.isBetweenExchanges ?? true, nestingCount == 0, !channel.isClosed else {
            return false
        }
        if judgesUnread, !channel.isQuiet { return true }
        if record.exchangeCount == 0 { noteCut() }
        dialogue?.interrupt()
        channel.interrupt()
        return false
    }

    func cut() {
        noteCut()
        http2Relay?.connection.cut()
        channel.close(reset: true)
        origin?.stream.close()
    }

    /// What was judged before is why it ends.
    private func noteCut() {
        if record.outcome == .open { isCut = true }
    }
}
