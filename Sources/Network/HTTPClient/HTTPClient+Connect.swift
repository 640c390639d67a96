internal import Base
internal import HTTP2
internal import HTTPModel
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

extension HTTPClient {
    /// Connects and, where the target wants it, secures; the certificate has to verify.
    ///
    /// Errors: `name-not-found`, `name-lookup-failed`, `connect-failed`, `connect-timed-out`,
    /// `origin-handshake-failed`, `origin-certificate`, and `origin-protocol` if the origin does not
    /// speak the version.
    ///
    /// - Parameter version: what to speak; where one of HTTP/2 is asked for over TLS and both are
    ///   allowed, the origin may choose HTTP/1.
    func open(
        _ target: ClientTarget, _ version: HTTPVersion
    ) async throws(Failure) -> ClientConnection {
        var record = ConnectionRecord(
            id: recorder.numbers.nextConnection(), openedAt: .now(), client: "", listener: "",
            mode: .explicit)
        record.originHost = target.host
        record.originPort = target.port
        record.protocolName = version == .http11 ? "http/1.1" : target.isSecure ? "h2" : "h2c"
        do throws(Failure) {
            let (channel, address) = try await dial(target)
            record.client = channel.localAddress?.description ?? ""
            record.originAddress = address.description
            if target.isSecure { return try await openSecure(channel, target, version, &record) }
            if version == .http2 { return try await openPlainHTTP2(channel, target, &record) }
            recorder.record(.connection(record))
            return .http1(ClientLeg(target, stream: PlainStream(channel), record: record))
        } catch {
            guard record.closedAt == nil else { throw error }
            record.cause = error.detail
            record.closedAt = .now()
            record.closedBy = .origin
            if record.outcome == .open { record.outcome = .originUnreachable }
            recorder.record(.connection(record))
            throw error
        }
    }

    private func openSecure(
        _ channel: Channel, _ target: ClientTarget, _ version: HTTPVersion,
        _ record: inout ConnectionRecord
    ) async throws(Failure) -> ClientConnection {
        var protocols = [version == .http11 ? "http/1.1" : "h2"]
        if version == .http2, configuration.http == .auto { protocols.append("http/1.1") }
        let stream = try await secure(channel, target, protocols, &record)
        guard record.originTLS?.alpn == "h2" else {
            guard protocols.contains("http/1.1") else {
                channel.close()
                record.outcome = .broken
                throw lacks("HTTP/2", target)
            }
            record.protocolName = "http/1.1"
            recorder.record(.connection(record))
            return .http1(ClientLeg(target, stream: stream, record: record))
        }
        return .http2(speakHTTP2(on: stream, target, record))
    }

    /// Speaks HTTP/2 without having agreed on it (RFC 9113 §3.3); the origin's settings say that it
    /// does, too.
    private func openPlainHTTP2(
        _ channel: Channel, _ target: ClientTarget, _ record: inout ConnectionRecord
    ) async throws(Failure) -> ClientConnection {
        let leg = speakHTTP2(on: PlainStream(channel), target, record)
        guard await leg.hasAgreed(by: loop.now + configuration.connectTimeout) else {
            leg.connection.cut()
            // Its own end is told by the leg.
            record.closedAt = .now()
            throw lacks("HTTP/2", target)
        }
        return .http2(leg)
    }

    private func speakHTTP2(
        on stream: any ByteStream, _ target: ClientTarget, _ record: ConnectionRecord
    ) -> HTTP2ClientLeg {
        recorder.record(.connection(record))
        let leg = HTTP2ClientLeg(target, stream: stream, record: record, configuration)
        start(leg)
        return leg
    }

    private func lacks(_ version: String, _ target: ClientTarget) -> Failure {
        Failure(
            "origin-protocol", party: .origin, "\(target.authority) does not speak \(version)")
    }

    private func dial(
        _ target: ClientTarget
    ) async throws(Failure) -> (channel: Channel, address: SocketAddress) {
        let addresses = try await resolver.addresses(of: target.host, port: target.port)
        do throws(SystemError) {
            return try await Channel.connect(
                toFirstOf: addresses, on: loop, deadline: loop.now + configuration.connectTimeout)
        } catch {
            throw Failure(
                error == .timedOut ? "connect-timed-out" : "connect-failed", party: .origin,
                "cannot connect to \(target.host) port \(target.port): \(error)")
        }
    }

    private func secure(
        _ channel: Channel, _ target: ClientTarget, _ protocols: [String],
        _ record: inout ConnectionRecord
    ) async throws(Failure) -> TLSStream {
        let isAddress = SocketAddress(literal: target.host, port: target.port) != nil
        let session = context.makeSession(
            verifying: target.host, serverName: isAddress ? nil : target.host,
            protocols: protocols, resumptionKey: target.origin)
        let stream = TLSStream(channel, session: session)
        channel.readDeadline = loop.now + configuration.connectTimeout
        channel.writeDeadline = channel.readDeadline
        do throws(StreamFailure) {
            try await stream.handshake()
        } catch {
            channel.close()
            record.outcome = .originHandshakeFailed
            record.originTLS = TLSRecord(of: session)
            if session.alerts.contains(where: { $0.alert.name == "no_application_protocol" }) {
                throw lacks(protocols == ["http/1.1"] ? "HTTP/1.1" : "HTTP/2", target)
            }
            throw Failure(
                error.demandsCertificate
                    ? "client-certificate-required" : "origin-handshake-failed", party: .origin,
                "the TLS handshake with \(target.authority) failed: origin \(error.detail)")
        }
        record.originTLS = TLSRecord(of: session)
        if let error = session.verifyError {
            let reason = VerifyExplanation.text(error, chain: session.peerChain)
            channel.close()
            record.outcome = .originUntrusted
            throw Failure(
                "origin-certificate", party: .origin,
                "the certificate of \(target.authority) does not verify: \(reason)",
                hint: "name a file with the CA that vouches for it with --ca")
        }
        return stream
    }
}

extension TLSRecord {
    fileprivate init(of session: TLSSession) {
        self.init()
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
        alerts = session.alerts.map { entry in
            AlertRecord(
                sender: entry.isOurs ? .tool : .peer, fatal: entry.alert.isFatal,
                name: entry.alert.name)
        }
    }
}
