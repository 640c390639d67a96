internal import Base
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

extension HTTPClient {
    /// Connects and, where the target wants it, secures; the certificate has to verify.
    ///
    /// Errors: `name-not-found`, `name-lookup-failed`, `connect-failed`, `connect-timed-out`,
    /// `origin-handshake-failed`, `origin-certificate`.
    func open(_ target: ClientTarget) async throws(Failure) -> ClientLeg {
        var record = ConnectionRecord(
            id: journal.nextConnection(), openedAt: .now(), client: "", listener: "",
            mode: .explicit)
        record.originHost = target.host
        record.originPort = target.port
        record.protocolName = "http/1.1"
        do throws(Failure) {
            let (channel, address) = try await dial(target)
            record = record.opened(by: channel.localAddress?.description ?? "")
            record.originAddress = address.description
            guard target.isSecure else {
                journal.tell(.connection(record))
                return ClientLeg(target, stream: PlainStream(channel), record: record)
            }
            let stream = try await secure(channel, target, &record)
            journal.tell(.connection(record))
            return ClientLeg(target, stream: stream, record: record)
        } catch {
            record.cause = error.detail
            record.closedAt = .now()
            record.closedBy = .origin
            if record.outcome == .open { record.outcome = .originUnreachable }
            journal.tell(.connection(record))
            throw error
        }
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
        _ channel: Channel, _ target: ClientTarget, _ record: inout ConnectionRecord
    ) async throws(Failure) -> TLSStream {
        let isAddress = SocketAddress(literal: target.host, port: target.port) != nil
        let session = context.makeSession(
            verifying: target.host, serverName: isAddress ? nil : target.host,
            protocols: ["http/1.1"], resumptionKey: target.origin)
        let stream = TLSStream(channel, session: session)
        channel.readDeadline = loop.now + configuration.connectTimeout
        channel.writeDeadline = channel.readDeadline
        do throws(StreamFailure) {
            try await stream.handshake()
        } catch {
            channel.close()
            record.outcome = .originHandshakeFailed
            record.originTLS = TLSRecord(of: session)
            throw Failure(
                "origin-handshake-failed", party: .origin,
                "the TLS handshake with \(target.authority) failed: \(error.detail)")
        }
        record.originTLS = TLSRecord(of: session)
        if let reason = session.verifyError {
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

extension ConnectionRecord {
    /// The same, once it is known where it comes from.
    fileprivate func opened(by client: String) -> ConnectionRecord {
        var record = ConnectionRecord(
            id: id, openedAt: openedAt, client: client, listener: listener, mode: mode)
        record.originHost = originHost
        record.originPort = originPort
        record.protocolName = protocolName
        return record
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
    }
}
