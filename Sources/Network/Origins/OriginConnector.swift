internal import Base
internal import Contents
package import HTTP2
internal import HTTPCodecs
package import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// The way to origins for everything on one event loop: looks names up, connects, asks upstream
/// proxies, secures, and keeps what is not in use.
///
/// `@unchecked Sendable`: used on its loop's thread only.
package final class OriginConnector: @unchecked Sendable {
    package let loop: EventLoop
    package let configuration: OriginConfiguration
    private let resolver: Resolver
    /// `nil` where every address may be connected to.
    private weak var rule: (any AddressRule)?
    /// Made when an origin is first asked: it reads the system's certificates.
    private lazy var context = TLSClientContext(
        versions: configuration.versions, extraAuthorities: configuration.extraAuthorities,
        keepsSecrecy: configuration.keepsSecrecy)
    private var pool: OriginPool
    /// What connections of HTTP/2 are run by, and what else goes on without a client.
    package let background: BackgroundTasks
    package let longHeads: LongHeadLedger
    /// Connections of HTTP/2, whoever uses them.
    private var running: [ObjectIdentifier: HTTP2Connection] = [:]
    private var lookUps: [ObjectIdentifier: LoopWakeup] = [:]
    /// Whether nothing is begun any more.
    private var isCut = false

    package init(
        _ configuration: OriginConfiguration, on loop: EventLoop, resolver: Resolver,
        rule: (any AddressRule)? = nil, background: BackgroundTasks = BackgroundTasks(),
        longHeads: LongHeadLedger = LongHeadLedger()
    ) {
        self.configuration = configuration
        self.loop = loop
        self.resolver = resolver
        self.rule = rule
        self.background = background
        self.longHeads = longHeads
        pool = OriginPool(
            countLimit: configuration.idleCount, idleLimit: configuration.idleTimeout)
    }

    package var text: OriginFailureText { OriginFailureText(configuration) }

    // MARK: Reaching

    /// Connects to a host without TLS yet.
    ///
    /// - Parameter isSecure: whether TLS will be spoken to it; `nil` if that is not known.
    @inline(never)
    package func dial(
        _ host: String, _ port: UInt16, reach: OriginReach, isSecure: Bool? = nil
    ) async throws(OriginFailure) -> DialledOrigin {
        if isCut { throw text.ended() }
        if let address = configuration.hosted?.address(of: host, port) {
            // Who runs the proxy has put it there, for its clients to reach.
            let channel = try await connect(to: [address], for: host, port).channel
            return DialledOrigin(channel: channel, address: address, reach: reach)
        }
        var ways = try ways(to: host, port, isSecure: isSecure ?? true)[...]
        while let way = ways.popFirst() {
            guard case .upstream(let upstream) = way else { break }
            do throws(OriginFailure) {
                return try await dial(host, port, by: upstream, reach: reach, isSecure)
            } catch {
                // Of several proxies, the next one takes the place of one that is not there.
                // One that is there and refuses is not passed by.
                guard error.outcome == .originUnreachable, !ways.isEmpty, !isCut,
                    !["upstream-failed", OriginFailureText.proxyLoginCode]
                        .contains(error.failure.code)
                else {
                    throw error
                }
            }
        }
        return try await dialDirectly(host, port, reach: reach, isChosen: true)
    }

    /// Whether what is sent to an origin does not leave this machine.
    package func staysHere(_ target: OriginTarget) -> Bool {
        guard LoopbackHost.contains(target.host) else { return false }
        do throws(OriginFailure) {
            return try ways(to: target.host, target.port, isSecure: target.isSecure).allSatisfy {
                guard case .upstream(let upstream) = $0 else { return true }
                return LoopbackHost.contains(upstream.host)
            }
        } catch {
            return false
        }
    }

    private func ways(
        to host: String, _ port: UInt16, isSecure: Bool
    ) throws(OriginFailure) -> [OriginWay] {
        if let upstream = configuration.upstreams.first(where: { $0.leads(to: host) }) {
            return [.upstream(upstream)]
        }
        do throws(ProxyScriptViolation) {
            return try configuration.proxies.ways(to: host, port, isSecure: isSecure)
        } catch {
            throw text.withoutWay(host, error)
        }
    }

    private func dial(
        _ host: String, _ port: UInt16, by upstream: UpstreamProxy, reach: OriginReach,
        _ isSecure: Bool?
    ) async throws(OriginFailure) -> DialledOrigin {
        // The way to it was chosen by who runs the proxy, and not by the client.
        let dialled: DialledOrigin
        do throws(OriginFailure) {
            dialled = try await dialDirectly(
                upstream.host, upstream.port, reach: .everywhere, isChosen: false)
        } catch {
            throw text.unreached(upstream, error)
        }
        if let refusal = await refusal(of: host, port, reach: reach, behind: dialled) {
            dialled.close()
            throw refusal
        }
        if configuration.forwardsCleartext, isSecure == false, upstream.scheme == .http {
            return DialledOrigin(
                channel: dialled.channel, address: dialled.address, reach: reach,
                forwarder: upstream)
        }
        try await ask(upstream, for: host, port, over: dialled.channel)
        // Its own address tells nothing of where it leads.
        return DialledOrigin(channel: dialled.channel, address: dialled.address, reach: reach)
    }

    /// Why a proxy on this machine is not asked for one of this machine's own addresses: it would
    /// lead where the client must not go.
    private func refusal(
        of host: String, _ port: UInt16, reach: OriginReach, behind upstream: DialledOrigin
    ) async -> OriginFailure? {
        let isHere =
            upstream.address.isLoopback
            || upstream.channel.localAddress?.host == upstream.address.host
        let isNamed = LoopbackHost.isName(host)
        guard isHere else { return nil }
        var addresses: [SocketAddress] = []
        if let literal = SocketAddress(literal: isNamed ? "127.0.0.1" : host, port: port) {
            addresses = [literal]
        } else if reach != .everywhere {
            // A client from elsewhere could name this machine in many ways; what cannot be judged
            // is refused.
            do throws(Failure) {
                addresses = try await self.addresses(of: host, port)
            } catch {
                return OriginFailure(failure: error, outcome: .originUnreachable)
            }
        }
        if let own = addresses.first(where: isOwn) { return text.loop(own) }
        return addresses.first { !reach.includes($0) }.map { text.outOfReach(host, $0) }
    }

    /// - Parameter isChosen: whether a client chose the host; one that leads to origins it did not.
    private func dialDirectly(
        _ host: String, _ port: UInt16, reach: OriginReach,
        isChosen: Bool
    ) async throws(OriginFailure) -> DialledOrigin {
        var addresses: [SocketAddress]
        do throws(Failure) {
            addresses = try await self.addresses(of: host, port)
        } catch {
            throw OriginFailure(failure: error, outcome: .originUnreachable)
        }
        if configuration.bridgesLoopback, host == "::1",
            let other = SocketAddress(literal: "127.0.0.1", port: port)
        {
            addresses.append(other)
        }
        if isChosen, let rule, let reason = addresses.lazy.compactMap(rule.blockReason).first {
            addresses.removeAll { rule.blockReason($0) != nil }
            if addresses.isEmpty { throw text.blocked(host, reason) }
        }
        if let own = addresses.first(where: isOwn) { throw text.loop(own) }
        if let local = addresses.first(where: { !reach.includes($0) }) {
            throw text.outOfReach(host, local)
        }
        if isCut { throw text.ended() }
        let (channel, address) = try await connect(to: addresses, for: host, port)
        // A connection that leads nowhere near is for everybody, whoever asked for it.
        return DialledOrigin(
            channel: channel, address: address,
            reach: OriginReach.beyondLoopback.includes(address) ? .beyondLoopback : .everywhere)
    }

    private func connect(
        to addresses: [SocketAddress], for host: String, _ port: UInt16
    ) async throws(OriginFailure) -> (channel: Channel, address: SocketAddress) {
        do throws(SystemError) {
            let deadline = loop.now + configuration.connectTimeout
            let (channel, address) = try await Channel.connect(
                toFirstOf: addresses, on: loop, deadline: deadline)
            if rule?.leadsBack(channel, to: address, port) ?? false {
                channel.close()
                throw SystemError.unreachable
            }
            return (channel, address)
        } catch {
            throw text.unconnected(host, port, error)
        }
    }

    private func isOwn(_ address: SocketAddress) -> Bool { rule?.isOwn(address) ?? false }

    /// The addresses of a host, while there is time for a connection to it.
    ///
    /// Errors: `name-not-found`, `name-lookup-failed`.
    private func addresses(of host: String, _ port: UInt16) async throws(Failure) -> [SocketAddress]
    {
        let wakeup = LoopWakeup(loop)
        lookUps[ObjectIdentifier(wakeup)] = wakeup
        defer { lookUps[ObjectIdentifier(wakeup)] = nil }
        // Names below localhost are not asked of a name server, which could lead anywhere with them
        // (RFC 6761 §6.3).
        return try await resolver.addresses(
            of: LoopbackHost.isName(host) ? "localhost" : host, port: port, waking: wakeup,
            until: loop.now + configuration.connectTimeout)
    }

    // MARK: Connections

    /// A connection to an origin, ready for a request: an unused one, or a new one.
    ///
    /// - Parameters:
    ///   - serverName: the SNI to send; `nil` for none.
    ///   - dialled: one that was opened for it already.
    ///   - isOwned: whether it is for one client alone; an unused one will not do then.
    package func leg(
        to target: OriginTarget, serverName: String?, offer: OriginOffer, reach: OriginReach,
        dialled: DialledOrigin? = nil, isOwned: Bool
    ) async throws(OriginFailure) -> OriginLeg {
        if dialled == nil, !isOwned,
            let leg = pool.take(target, serverName: serverName, offer: offer, reach: reach)
        {
            return leg
        }
        let leg = try await open(target, serverName, offer, reach, dialled)
        leg.isOwned = isOwned
        if leg.speaksHTTP2 { speakHTTP2(on: leg) }
        return leg
    }

    /// Opens a connection, which speaks nothing yet.
    package func open(
        _ target: OriginTarget, _ serverName: String?, _ offer: OriginOffer, _ reach: OriginReach,
        _ dialled: DialledOrigin? = nil
    ) async throws(OriginFailure) -> OriginLeg {
        let reached: DialledOrigin
        if let dialled {
            reached = dialled
        } else {
            reached = try await dial(
                target.host, target.port, reach: reach, isSecure: target.isSecure)
        }
        let leg =
            target.isSecure
            ? try await secure(reached.channel, reached.address, target, serverName, offer)
            : OriginLeg(
                target: target, serverName: nil, stream: PlainStream(reached.channel),
                offer: offer, address: reached.address, tls: nil)
        leg.reach = reached.reach
        leg.forwarder = reached.forwarder
        return leg
    }

    /// Begins to read and write frames on a connection, for as long as it lasts.
    package func speakHTTP2(on leg: OriginLeg) {
        let connection = HTTP2Connection(
            leg.stream, role: .client,
            times: HTTP2Times(
                write: configuration.writeTimeout, idle: configuration.streamIdleTimeout))
        run(connection, on: leg)
    }

    /// - Parameters:
    ///   - connection: one that has not begun to run.
    ///   - finish: called when it is over.
    package func run(
        _ connection: HTTP2Connection, on leg: OriginLeg,
        finish: @escaping @Sendable () -> Void = {}
    ) {
        leg.http2 = connection
        running[ObjectIdentifier(connection)] = connection
        background.add { [self] in
            await connection.run()
            running[ObjectIdentifier(connection)] = nil
            await leg.stream.endInOrder(discarding: 0)
            finish()
        }
    }

    @inline(never)
    private func secure(
        _ channel: Channel, _ address: SocketAddress, _ target: OriginTarget,
        _ serverName: String?, _ offer: OriginOffer
    ) async throws(OriginFailure) -> OriginLeg {
        let name = serverName ?? target.host
        var protocols: [String] = []
        if case .protocols(let names) = offer { protocols = names }
        let session = context.makeSession(
            verifying: name, serverName: serverName, protocols: protocols,
            resumptionKey: "\(target.host):\(target.port):\(name)")
        // By the name that the origin has to prove: a connection is found again in the pool, and its
        // session resumed, by that name and the address alone.
        // One that need not prove it has to be asked for by it, or any client's SNI would choose.
        session.identity =
            configuration.identities.first { identity in
                identity.host.matches(name)
                    && (!configuration.trustsAnybody || identity.host.matches(target.host))
            }?.identity
        session.trustsAnybody = configuration.trustsAnybody
        let stream = TLSStream(channel, session: session)
        channel.readDeadline = loop.now + configuration.handshakeTimeout
        channel.writeDeadline = channel.readDeadline
        do throws(StreamFailure) {
            try await stream.handshake()
        } catch {
            channel.close()
            let record = TLSRecord(session, serverName: serverName)
            throw OriginFailure(
                failure: text.handshake(
                    error, with: target, hasShownCertificate: !record.clientChain.isEmpty),
                outcome: .originHandshakeFailed, tls: record, address: address)
        }
        let record = TLSRecord(session, serverName: serverName)
        return OriginLeg(
            target: target, serverName: serverName, stream: stream, offer: offer, address: address,
            tls: record)
    }

    // MARK: Ending

    /// Takes a connection back from a client that is done with it.
    package func give(_ leg: OriginLeg) { pool.give(leg, now: loop.now) }

    /// Whether connections of HTTP/2 are open.
    package var isRunning: Bool { !running.isEmpty }

    /// Closes what was unused for too long; to be called now and then.
    package func sweep() {
        pool.sweep(now: loop.now)
        for connection in running.values { connection.sweep() }
    }

    /// Closes what is not in use, and keeps nothing any more that is given back.
    package func retire() { pool.retire() }

    /// Ends connections once their streams have.
    package func drain() {
        pool.closeAll()
        for connection in running.values { connection.drain() }
        background.stop()
    }

    /// Ends whatever is left, and begins nothing any more.
    package func cut() {
        isCut = true
        for connection in running.values { connection.cut() }
        for lookUp in lookUps.values { lookUp.stop() }
    }
}
