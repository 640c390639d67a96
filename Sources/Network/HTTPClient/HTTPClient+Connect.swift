internal import Base
internal import HTTP2
internal import HTTPModel
internal import Origins
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
        _ target: OriginTarget, _ version: HTTPVersion
    ) async throws(Failure) -> ClientConnection {
        var record = ConnectionRecord(
            id: recorder.numbers.nextConnection(), openedAt: .now(), client: "", listener: "",
            mode: .explicit)
        record.originHost = target.host
        record.originPort = target.port
        record.protocolName = version == .http11 ? "http/1.1" : target.isSecure ? "h2" : "h2c"
        do throws(Failure) {
            let leg = try await reach(target, version, &record)
            if version == .http2, !target.isSecure { return try await openPlainHTTP2(leg, &record) }
            guard leg.speaksHTTP2 else {
                guard offer(to: target, version).contains("http/1.1") else {
                    leg.close()
                    record.outcome = .broken
                    throw lacks("HTTP/2", target)
                }
                record.protocolName = "http/1.1"
                recorder.record(.connection(record))
                return .http1(ClientLeg(leg, record: record))
            }
            return .http2(speakHTTP2(on: leg, record))
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

    /// What may be chosen by ALPN.
    private func offer(to target: OriginTarget, _ version: HTTPVersion) -> [String] {
        if version == .http11 { return ["http/1.1"] }
        return configuration.http == .auto && target.isSecure ? ["h2", "http/1.1"] : ["h2"]
    }

    private func reach(
        _ target: OriginTarget, _ version: HTTPVersion, _ record: inout ConnectionRecord
    ) async throws(Failure) -> OriginLeg {
        let protocols = offer(to: target, version)
        do throws(OriginFailure) {
            // By nothing but a tunnel HTTP/2 without TLS arrives.
            let isSecure = target.isSecure || version == .http2
            let dialled = try await origins.dial(
                target.host, target.port, reach: .everywhere, isSecure: isSecure)
            record.client = dialled.channel.localAddress?.description ?? ""
            record.originAddress = dialled.address.description
            let leg = try await origins.open(
                target, target.serverName, .protocols(protocols), .everywhere, dialled)
            record.originTLS = leg.tls
            guard let failure = origins.text.untrusted(leg) else { return leg }
            leg.close()
            throw failure
        } catch {
            record.outcome = error.outcome
            if let tls = error.tls { record.originTLS = tls }
            if error.tls?.alerts.contains(where: { $0.name == "no_application_protocol" }) ?? false
            {
                throw lacks(version == .http11 ? "HTTP/1.1" : "HTTP/2", target)
            }
            throw error.failure
        }
    }

    /// Speaks HTTP/2 without having agreed on it (RFC 9113 §3.3); the origin's settings say that it
    /// does, too.
    private func openPlainHTTP2(
        _ origin: OriginLeg, _ record: inout ConnectionRecord
    ) async throws(Failure) -> ClientConnection {
        let leg = speakHTTP2(on: origin, record)
        guard await leg.hasAgreed(by: loop.now + configuration.connectTimeout) else {
            leg.connection.cut()
            // Its own end is told by the leg.
            record.closedAt = .now()
            throw lacks("HTTP/2", origin.target)
        }
        return .http2(leg)
    }

    private func speakHTTP2(on origin: OriginLeg, _ record: ConnectionRecord) -> HTTP2ClientLeg {
        recorder.record(.connection(record))
        let leg = HTTP2ClientLeg(origin, record: record, configuration)
        start(leg)
        return leg
    }

    private func lacks(_ version: String, _ target: OriginTarget) -> Failure {
        Failure(
            "origin-protocol", party: .origin, "\(target.authority) does not speak \(version)")
    }
}
