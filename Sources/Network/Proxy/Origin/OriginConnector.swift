internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// An origin that could not be reached, with what is known of the attempt.
///
/// A class, because it stands on the stack of every connection and hardly ever happens.
final class OriginFailure: Error, Sendable {
    let failure: Failure
    let outcome: ConnectionRecord.Outcome
    let tls: TLSRecord?
    let address: SocketAddress?

    init(
        failure: Failure, outcome: ConnectionRecord.Outcome, tls: TLSRecord? = nil,
        address: SocketAddress? = nil
    ) {
        self.failure = failure
        self.outcome = outcome
        self.tls = tls
        self.address = address
    }
}

/// Where a client's requests may go.
enum OriginReach {
    case everywhere
    case beyondLoopback

    func includes(_ address: SocketAddress) -> Bool {
        self == .everywhere || !(address.isLoopback || address.isWildcard)
    }

    /// Whether a connection that was opened with `other` leads nowhere else.
    func includes(_ other: OriginReach) -> Bool { self == .everywhere || other == self }
}

/// Whose an origin's connection is.
enum OriginTenure {
    /// Whoever asks for the same origin next.
    case shared
    /// One client's, for as long as that is there.
    case owned
}

extension ProxyLoop {
    /// Connects to a host without TLS yet, or to who answers in its place.
    func dial(
        _ host: String, _ port: UInt16, reach: OriginReach
    ) async throws(OriginFailure) -> DialledOrigin {
        if isCut { throw Self.endedFailure }
        if let responder = plan.responder { return try stage(responder, host, port) }
        return try await dialOut(host, port, reach: reach)
    }

    @inline(never)
    private func dialOut(
        _ host: String, _ port: UInt16, reach: OriginReach
    ) async throws(OriginFailure) -> DialledOrigin {
        guard plan.responder?.fallsBack ?? true else {
            preconditionFailure("an origin would be dialled where a responder answers alone")
        }
        guard let upstream = plan.upstreams.first(where: { $0.leads(to: host) }) else {
            return try await dialDirectly(host, port, reach: reach, rules: plan.disposition)
        }
        // The way to it was chosen by who runs the proxy, and not by the client.
        let dialled = try await dialDirectly(upstream.host, upstream.port, reach: .everywhere)
        if let refusal = await refusal(of: host, port, reach: reach, behind: dialled) {
            dialled.close()
            throw refusal
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
        let name = HostPattern.canonical(host)
        let isNamed = name == "localhost" || name.hasSuffix(".localhost")
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
        if let own = addresses.first(where: isOwn) { return loopFailure(own) }
        return addresses.first { !reach.includes($0) }.map { reachFailure(host, $0) }
    }

    /// - Parameter rules: what addresses are not connected to; a proxy that leads to origins is none
    ///   that a client chose.
    private func dialDirectly(
        _ host: String, _ port: UInt16, reach: OriginReach,
        rules: DispositionRules = DispositionRules()
    ) async throws(OriginFailure) -> DialledOrigin {
        var addresses: [SocketAddress]
        do throws(Failure) {
            addresses = try await self.addresses(of: host, port)
        } catch {
            throw OriginFailure(failure: error, outcome: .originUnreachable)
        }
        let reasons = addresses.compactMap { rules.blockReason(address: $0.host) }
        if let reason = reasons.first {
            addresses.removeAll { rules.blockReason(address: $0.host) != nil }
            if addresses.isEmpty { throw blockFailure(host, reason) }
        }
        if let own = addresses.first(where: isOwn) { throw loopFailure(own) }
        if let local = addresses.first(where: { !reach.includes($0) }) {
            throw reachFailure(host, local)
        }
        if isCut { throw Self.endedFailure }
        do throws(SystemError) {
            let deadline = loop.now + plan.limits.connectTimeout
            let (channel, address) = try await Channel.connect(
                toFirstOf: addresses, on: loop, deadline: deadline)
            if ownPorts.contains(port), channel.localAddress?.host == address.host {
                channel.close()
                throw SystemError.unreachable
            }
            // A connection that leads nowhere near is for everybody, whoever asked for it.
            return DialledOrigin(
                channel: channel, address: address,
                reach: OriginReach.beyondLoopback.includes(address) ? .beyondLoopback : .everywhere)
        } catch {
            let code = error == .timedOut ? "connect-timed-out" : "connect-failed"
            throw OriginFailure(
                failure: Failure(
                    code, party: .origin, "cannot connect to \(host) port \(port): \(error)"),
                outcome: .originUnreachable)
        }
    }

    private static let endedFailure = OriginFailure(
        failure: Failure("cut", party: .tool, "the proxy was shut down"),
        outcome: .originUnreachable)

    private func reachFailure(_ host: String, _ address: SocketAddress) -> OriginFailure {
        OriginFailure(
            failure: Failure(
                "loopback-origin", party: .client,
                "\(host) is \(address.host), which only clients on this machine may reach"),
            outcome: .originUnreachable)
    }

    private func blockFailure(_ host: String, _ reason: String) -> OriginFailure {
        OriginFailure(
            failure: Failure(
                "host-blocked", party: .tool, "\(host) is not served: \(reason)"),
            outcome: .refused)
    }

    private func loopFailure(_ address: SocketAddress) -> OriginFailure {
        OriginFailure(
            failure: Failure(
                "proxy-loop", party: .client, "\(address) is this proxy itself",
                hint: "ask for the origin's own address"),
            outcome: .originUnreachable)
    }

    /// A connection to an origin, ready for a request: an unused one, or a new one.
    ///
    /// - Parameter serverName: the SNI to send; `nil` for none.
    /// - Parameter tenure: whether an unused connection will do.
    func origin(
        _ target: OriginTarget, serverName: String?, offer: OriginOffer, reach: OriginReach,
        dialled: DialledOrigin? = nil, tenure: OriginTenure
    ) async throws(OriginFailure) -> OriginLeg {
        if dialled == nil, tenure == .shared,
            let leg = pool.take(target, serverName: serverName, offer: offer, reach: reach)
        {
            return leg
        }
        let reached: DialledOrigin
        if let dialled {
            reached = dialled
        } else {
            reached = try await dialOut(target.host, target.port, reach: reach)
        }
        guard target.isSecure else {
            let leg = OriginLeg(
                target: target, serverName: nil, stream: PlainStream(reached.channel),
                offer: offer, address: reached.address, tls: nil)
            leg.reach = reached.reach
            leg.isOwned = tenure == .owned
            if offer == .plainHTTP2 { speakHTTP2(on: leg) }
            return leg
        }
        let leg = try await secure(reached.channel, reached.address, target, serverName, offer)
        leg.reach = reached.reach
        leg.isOwned = tenure == .owned
        if leg.tls?.alpn == "h2" { speakHTTP2(on: leg) }
        return leg
    }

    /// Begins to read and write frames on a connection, for as long as it lasts.
    func speakHTTP2(on leg: OriginLeg) {
        let connection = HTTP2Connection(
            leg.stream, role: .client,
            times: HTTP2Times(write: plan.limits.bodyTimeout, idle: plan.limits.idleTimeout))
        run(connection, on: leg)
    }

    /// - Parameter connection: one that has not begun to run.
    func run(_ connection: HTTP2Connection, on leg: OriginLeg) {
        leg.http2 = connection
        http2Origins[ObjectIdentifier(connection)] = connection
        background.add { [self] in
            await connection.run()
            http2Origins[ObjectIdentifier(connection)] = nil
            await leg.stream.endInOrder(discarding: 0)
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
        let session = clientContext.makeSession(
            verifying: name, serverName: serverName, protocols: protocols,
            resumptionKey: "\(target.host):\(target.port):\(name)")
        let stream = TLSStream(channel, session: session)
        channel.readDeadline = loop.now + plan.limits.handshakeTimeout
        channel.writeDeadline = channel.readDeadline
        do throws(StreamFailure) {
            try await stream.handshake()
        } catch {
            channel.close()
            throw handshakeFailure(error, session, target, serverName, address)
        }
        let record = TLSRecord(session, serverName: serverName)
        return OriginLeg(
            target: target, serverName: serverName, stream: stream, offer: offer, address: address,
            tls: record)
    }

    private func handshakeFailure(
        _ error: StreamFailure, _ session: TLSSession, _ target: OriginTarget,
        _ serverName: String?, _ address: SocketAddress
    ) -> OriginFailure {
        OriginFailure(
            failure: failure(error, with: target), outcome: .originHandshakeFailed,
            tls: TLSRecord(session, serverName: serverName),
            address: address)
    }
}

extension TLSRecord {
    /// What a session knows, whether its handshake was done or not.
    init(_ session: TLSSession, serverName: String?) {
        self.init()
        sni = serverName
        handshakeCompleted = session.isHandshakeDone
        if session.isHandshakeDone {
            let parameters = session.parameters
            version = parameters.version
            cipher = parameters.cipher
            alpn = parameters.alpn
            resumed = parameters.isResumed
            chain = session.peerChain
            verifyError = session.verifyError
        }
        keyLog = session.takeKeyLog()
        noteAlerts(of: session)
    }

    mutating func noteAlerts(of session: TLSSession) {
        alerts = session.alerts.map { entry in
            AlertRecord(
                sender: entry.isOurs ? .tool : .peer, fatal: entry.alert.isFatal,
                name: entry.alert.name)
        }
    }
}
