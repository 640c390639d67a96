internal import Base
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// Why a connection ends; thrown to where its record is finished.
///
/// A class, because the frame of whatever may wait has room for several.
final class ConnectionEnd: Error {
    let outcome: ConnectionRecord.Outcome
    let cause: String
    let side: ConnectionRecord.Side

    init(_ outcome: ConnectionRecord.Outcome, _ cause: String, by side: ConnectionRecord.Side) {
        self.outcome = outcome
        self.cause = cause
        self.side = side
    }
}

/// The origin that a connection is judged for.
struct FailedOrigin {
    private let host: String
    private let port: UInt16
    private let address: String?

    init(_ record: ConnectionRecord) {
        host = record.originHost
        port = record.originPort
        address = record.originAddress
    }

    /// Names it in the record, whatever was asked for after it, unless there is TLS, whose facts are
    /// those of the last origin.
    func restore(in record: inout ConnectionRecord) {
        guard record.clientTLS == nil, record.originTLS == nil else { return }
        record.originHost = host
        record.originPort = port
        record.originAddress = address
    }
}

/// What is learned on the way, written into the record.
extension ConnectionTask {
    @inline(never)
    func note(_ end: ConnectionEnd) {
        // The first thing that went wrong is the cause; what follows from it is not.
        guard record.outcome == .open else { return }
        record.outcome = end.outcome
        record.cause = end.cause
        record.closedBy = end.side
    }

    func note(_ target: OriginTarget) {
        record.originHost = target.name
        record.originPort = target.port
    }

    @inline(never)
    func note(_ hello: ClientHello) {
        record.protocolName = "tls"
        var tls = TLSRecord()
        tls.clientHello = hello.raw
        tls.sni = hello.serverName
        let prints = worker.fingerprints.of(hello)
        tls.ja3 = prints.ja3
        tls.ja4 = prints.ja4
        record.clientTLS = tls
    }

    @inline(never)
    func note(_ leg: OriginLeg) {
        origin = leg
        noteFacts(of: leg)
    }

    func noteFacts(of leg: OriginLeg) {
        if leg.wantsCertificate { noteCertificateRequest(of: leg.target.host, leg.tls) }
        record.originAddress = leg.address.description
        record.originReused = leg.exchangeCount > 0
        record.originTLS = leg.tls
    }

    /// In TLS 1.3 the handshake is done before an origin refuses, in older versions it fails.
    private func noteCertificateRequest(of host: String, _ tls: TLSRecord?) {
        let shown = Self.words(onChain: tls?.clientChain ?? [])
        noteOnce(
            "origin-asked-for-certificate",
            "\(host) asked for a client certificate, and was shown "
                + (shown ?? "none; --client-cert HOST=FILE names one for it"))
    }

    /// What a client has shown that was asked for a certificate.
    private func noteClientCertificate() {
        guard let session, record.clientTLS?.clientChain.isEmpty == true else { return }
        let chain = session.clientChain
        guard let shown = Self.words(onChain: chain) else { return }
        record.clientTLS?.clientChain = chain
        let proof =
            session.isHandshakeDone
            ? "and proved to have its key" : "and did not prove to have its key"
        noteOnce("client-certificate", "the client showed \(shown), \(proof)")
    }

    /// Such as `CN=device 7, issued by CN=Devices, SHA-256 1f…`; `nil` for no chain.
    private static func words(onChain chain: [[UInt8]]) -> String? {
        guard let der = chain.first else { return nil }
        let fingerprint = "SHA-256 \(Digests.sha256(der).hex)"
        guard let leaf = Certificate(der: der) else { return "a certificate, \(fingerprint)" }
        // A client may write anything of any length.
        let (subject, issuer) = (leaf.subject.prefix(nameLimit), leaf.issuer.prefix(nameLimit))
        return "\(subject), issued by \(issuer), \(fingerprint)"
    }

    private static let nameLimit = 200

    /// Judges the connection for an origin that could not be had, whichever way it was asked for;
    /// the client may go on, also elsewhere.
    func note(_ failure: OriginFailure) {
        if let tls = failure.tls { record.originTLS = tls }
        if let address = failure.address { record.originAddress = address.description }
        if failure.failure.code == OriginFailureText.certificateCode {
            noteCertificateRequest(of: record.originHost, failure.tls)
        }
        guard record.outcome == .open else { return }
        record.outcome = failure.outcome
        record.cause = failure.failure.detail
        failedOrigin = FailedOrigin(record)
    }

    /// The same for an origin that was had, and brought no whole response.
    func note(_ failure: RelayFailure, _ detail: String) {
        guard record.outcome == .open, let outcome = failure.outcome else { return }
        record.outcome = outcome
        record.cause = detail
        brokenBy = .origin
        failedOrigin = FailedOrigin(record)
    }

    func note(endOf origin: OriginLeg) {
        let bytes = origin.takeBytes()
        record.originBytes.received += bytes.received
        record.originBytes.sent += bytes.sent
        for note in origin.takeLeniency().notes {
            noteOnce(note.code, "a response of the origin had \(note.detail)")
        }
        origin.addLateFacts(to: &record.originTLS)
        if let stream = origin.stream as? TLSStream, stream.session.isFlooded {
            note(floodBy: .origin)
        }
    }

    /// Closes the connection to the origin that is in use.
    func dropOrigin() {
        guard let leg = origin else { return }
        note(endOf: leg)
        origin = nil
        leg.close()
    }

    @inline(never)
    func noteHandshake() {
        guard let session else { return }
        let parameters = session.parameters
        record.clientTLS?.handshakeCompleted = true
        record.clientTLS?.version = parameters.version
        record.clientTLS?.cipher = parameters.cipher
        record.clientTLS?.alpn = parameters.alpn
        record.clientTLS?.resumed = parameters.isResumed
        noteSession()
    }

    @inline(never)
    func noteSession() {
        guard let session else { return }
        record.clientTLS?.keyLog += session.takeKeyLog()
        record.clientTLS?.noteAlerts(of: session)
        noteClientCertificate()
        if session.isFlooded { note(floodBy: .client) }
    }

    private func note(floodBy side: ConnectionRecord.Side) {
        noteOnce("tls-flood", "\(side.rawValue) sent \(TLSSession.floodDetail)")
    }

    func bytes(of channel: Channel) -> ByteCount {
        ByteCount(received: channel.bytesReceived, sent: channel.bytesSent)
    }

    // MARK: Judgements

    /// Why a client is not served by an origin that was reached; `nil` if it is.
    @inline(never)
    func refusal(of leg: OriginLeg) -> OriginFailure? {
        policy.value.originTrust.servesUnverified ? nil : policy.origins.text.untrusted(leg)
    }

    /// What a handshake that failed says about the client.
    func handshakeEnd(_ error: StreamFailure) -> ConnectionEnd {
        switch error {
        case .tls(let failure):
            switch failure.reason {
            case .alertReceived(let alert) where alert.refusesCertificate:
                return ConnectionEnd(
                    .clientRefused, "client refused the certificate with the alert \(alert.name)",
                    by: .client)
            case .alertReceived(let alert):
                return ConnectionEnd(
                    .clientHandshakeFailed,
                    "client ended the handshake with the alert \(alert.name)",
                    by: .client)
            case .peerClosed, .peerReset:
                let how = failure.reason == .peerClosed ? "closed" : "reset"
                return ConnectionEnd(
                    .clientRefused,
                    "client \(how) the connection in the handshake, after it was shown the"
                        + " certificate and without an alert",
                    by: .client)
            case .timedOut:
                return ConnectionEnd(
                    .timedOut, "client was silent in the handshake", by: .tool)
            case .protocolError, .flood, .closed:
                // OpenSSL's words for a client that offers old versions of TLS alone.
                let hint =
                    failure.detail.contains("unsupported protocol")
                    ? ", as it offers no version that --tls-min allows" : ""
                return ConnectionEnd(
                    .clientHandshakeFailed,
                    "the handshake with the client failed: \(failure.detail)\(hint)",
                    by: .tool)
            }
        case .timedOut:
            return ConnectionEnd(.timedOut, "client was silent in the handshake", by: .tool)
        case .closed:
            return ConnectionEnd(.cut, "the proxy was shut down", by: .tool)
        case .reset, .system:
            return ConnectionEnd(
                .clientRefused,
                "client broke the connection off in the handshake, without an alert",
                by: .client)
        }
    }

    /// What it means that the client ended the connection where a first request was due, or was
    /// waited for long enough.
    ///
    /// - Parameters:
    ///   - failure: `nil` for an end in order.
    ///   - hasAccepted: whether something that it said proves that it took the certificate.
    @inline(never)
    func silentEnd(_ failure: StreamFailure?, hasAccepted: Bool = false) -> ConnectionEnd {
        guard failure != .timedOut else {
            return ConnectionEnd(.completed, "client was silent and sent no request", by: .tool)
        }
        if case .tls(let tls)? = failure, case .alertReceived(let alert) = tls.reason {
            return ConnectionEnd(
                .clientRefused,
                "client refused the certificate right after the handshake with the alert \(alert.name)",
                by: .client)
        }
        if case .tls(let tls)? = failure, tls.reason == .flood {
            return ConnectionEnd(.refused, "client sent \(tls.detail)", by: .tool)
        }
        let isSoon = handshakeDoneTick.map { loop.now < $0 + limits.refusalWindow } ?? false
        guard isSoon, !hasAccepted else {
            return ConnectionEnd(.completed, "client closed without a request", by: .client)
        }
        let how =
            if client.endedInOrder {
                "closed"
            } else if failure != nil || channel.isBroken {
                "reset the connection"
            } else {
                "closed without close_notify"
            }
        return ConnectionEnd(
            .clientRefused, "client \(how) right after the handshake without a request",
            by: .client)
    }
}

/// JA3 and JA4 of the hellos that a loop saw last: most connections of a client share theirs.
struct FingerprintCache {
    private struct Key: Hashable {
        let version: UInt16
        let suites: [UInt16]
        let extensions: [UInt16]
        let versions: [UInt16]
        let groups: [UInt16]
        let formats: [UInt8]
        let algorithms: [UInt16]
        let protocols: [[UInt8]]
    }

    private var known: [Key: (ja3: String, ja4: String)] = [:]
    private static let countLimit = 256

    mutating func of(_ hello: ClientHello) -> (ja3: String, ja4: String) {
        let key = Key(
            version: hello.legacyVersion, suites: hello.cipherSuites, extensions: hello.extensions,
            versions: hello.supportedVersions, groups: hello.groups, formats: hello.pointFormats,
            algorithms: hello.signatureAlgorithms, protocols: hello.protocolNames)
        if let prints = known[key] { return prints }
        if known.count >= Self.countLimit { known.removeAll() }
        let prints = (hello.ja3(md5: Digests.md5), hello.ja4(sha256: Digests.sha256))
        known[key] = prints
        return prints
    }
}
