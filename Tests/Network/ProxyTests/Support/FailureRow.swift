import Base
import Testing
import Traffic

@testable import Proxy

/// How a client comes in for a row of the table.
enum WayIn: String, Sendable {
    case explicit = "explicit"
    case tunnel = "CONNECT"
    case reverse = "reverse"
    /// The same by HTTP/2, which is nothing else.
    case reverseHTTP2 = "reverse by HTTP/2"
}

/// One failure that people debug, and what is said of it at first sight.
struct FailureRow: Sendable, CustomTestStringConvertible {
    /// Who fails: a plain origin, one with TLS, one of OpenSSL's program, or none.
    enum Peer: Sendable {
        case plain(ScriptedOrigin.Script)
        case secure(ScriptedOrigin.Script)
        /// It speaks something else although the client begins TLS.
        case foreign(ScriptedOrigin.Script)
        case flawed(FlawedOrigin.Flaw)
        case noName
        case nobody
    }

    let name: String
    let way: WayIn
    let peer: Peer
    let outcome: ConnectionRecord.Outcome
    let party: ConnectionRecord.Side
    /// Of the exchange, or the alert where there is no exchange.
    let code: String?
    /// With PORT for the port.
    let cause: String
    /// What the client is told besides.
    var trust = Trust.proxy

    enum Trust: Sendable {
        case proxy
        case nobody
        case anotherPin
    }

    var testDescription: String { "\(name), \(way.rawValue)" }

    func by(_ way: WayIn) -> FailureRow {
        FailureRow(
            name: name, way: way, peer: peer, outcome: outcome, party: party, code: code,
            cause: cause, trust: trust)
    }

    var isAboutNames: Bool {
        if case .noName = peer { return true }
        return false
    }

    var isSecure: Bool {
        switch peer {
        case .secure, .foreign, .flawed: true
        case .plain, .noName, .nobody: false
        }
    }
}

// MARK: The rows

extension FailureRow {
    static let all: [FailureRow] = clients + certificates + handshakes + reaching + responses

    private static let clients =
        inTLS(
            "the client does not trust the CA", greets, .clientRefused, .client, "unknown_ca",
            "client refused the certificate with the alert unknown_ca", .nobody)
        + inTLS(
            "the client pins another certificate", greets, .clientRefused, .client, nil,
            "client closed right after the handshake without a request: it does not trust the CA,"
                + " or pins another certificate", .anotherPin)

    private static let certificates =
        untrusted("the origin's certificate is self-signed", .selfSigned, "self-signed certificate")
        + untrusted(
            "the origin's certificate has expired", .expired,
            "certificate has expired: it ended on DATE")
        + untrusted(
            "the origin's certificate is for another name", .wrongName,
            "hostname mismatch: it is for DNS:other.example")

    private static let handshakes =
        inTLS(
            "the origin speaks old versions of TLS alone", .flawed(.oldVersion),
            .originHandshakeFailed, .origin, "origin-handshake-failed",
            "\(handshake) failed: origin ended TLS with the alert protocol_version")
        // Where the origin speaks first, a tunnel is a dialogue until the client begins TLS.
        + inTLS(
            "the port speaks something else than TLS", .foreign(ssh), .originHandshakeFailed,
            .origin, nil,
            "\(handshake) failed: origin answered TLS with SSH: `SSH-2.0-OpenSSH_9.2`"
        ).filter { $0.way == .tunnel }
        + inTLS(
            "the port speaks something else than TLS", .foreign(ssh), .originHandshakeFailed,
            .origin, "origin-handshake-failed",
            "\(handshake) failed: origin answered TLS with SSH: `SSH-2.0-OpenSSH_9.2`"
        ).filter { $0.way == .reverse }
        + inTLS(
            "the origin demands a client certificate", .flawed(.demandsCertificate),
            .originHandshakeFailed, .origin, "client-certificate-required",
            "origin demands a client certificate: it ended TLS with the alert certificate_required")

    /// The same demand in both versions of TLS, which tell it at different times.
    static let demandingCertificates: [FailureRow] = [
        FlawedOrigin.Flaw.demandsCertificate, .demandsCertificateInTLS12,
    ].flatMap { flaw in
        inTLS(
            "the origin demands a client certificate", .flawed(flaw), .originHandshakeFailed,
            .origin, "client-certificate-required", "")
    }.filter { $0.way == .reverse }

    private static let handshake = "the TLS handshake with localhost port PORT"

    private static let reaching =
        inClear(
            "the host's name does not exist", .noName, .originUnreachable, "name-not-found",
            "cannot resolve no-such-name.invalid: name or service not known")
        + inClear(
            "nobody listens at the port", .nobody, .originUnreachable, "connect-failed",
            "cannot connect to 127.0.0.1 port PORT: connection refused")
        + inClear(
            "the origin resets the connection", .plain(resets), .broken, "origin-closed",
            "origin broke the connection off")
        + inClear(
            "the origin hangs up without a response", .plain(answersNothing), .broken,
            "origin-closed", "origin ended the connection without a response")

    private static let responses =
        inClear(
            "the origin answers garbage", .plain(answering("hello\r\n\r\n")), .broken,
            "bad-response",
            "\(malformed): the first line is no status line (invalid-status-line): it begins with"
                + " `hello`")
        + inClear(
            "a chunk has no size", .plain(answering("\(chunked)5\r\nhello\r\nx\r\n")), .broken,
            "bad-response",
            "\(malformed): a chunk's size is no hexadecimal number below 2^63"
                + " (invalid-chunk-size)")
        + inClear(
            "the response has two lengths",
            .plain(answering("\(ok)Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello")),
            .broken, "bad-response",
            "\(malformed): there is more than one Content-Length (duplicate-content-length)")
        + inClear(
            "the response is shorter than it says",
            .plain(answering("\(ok)Content-Length: 50\r\n\r\nhello")), .broken, "origin-closed",
            "origin ended the connection before its response was whole")

    private static let malformed = "the origin's response is malformed"
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = "\(ok)Transfer-Encoding: chunked\r\n\r\n"

    /// With TLS to the client: what a proxy is asked for by CONNECT, or what stands for the origin.
    private static func inTLS(
        _ name: String, _ peer: Peer, _ outcome: ConnectionRecord.Outcome,
        _ party: ConnectionRecord.Side, _ code: String?, _ cause: String, _ trust: Trust = .proxy
    ) -> [FailureRow] {
        [WayIn.tunnel, .reverse].map { way in
            FailureRow(
                name: name, way: way, peer: peer, outcome: outcome, party: party, code: code,
                cause: cause, trust: trust)
        }
    }

    private static func untrusted(
        _ name: String, _ flaw: FlawedOrigin.Flaw, _ cause: String
    ) -> [FailureRow] {
        inTLS(
            name, .flawed(flaw), .originUntrusted, .origin, "origin-certificate",
            "the certificate of localhost does not verify: \(cause)")
    }

    private static func inClear(
        _ name: String, _ peer: Peer, _ outcome: ConnectionRecord.Outcome, _ code: String?,
        _ cause: String
    ) -> [FailureRow] {
        [WayIn.explicit, .tunnel, .reverse].map { way in
            FailureRow(
                name: name, way: way, peer: peer, outcome: outcome, party: .origin, code: code,
                cause: cause)
        }
    }
}

// MARK: The origins

/// Origins are dialled for requests that may not come.
private let greets = FailureRow.Peer.secure { wire, _ in try wire.greet() }

private let answersNothing: ScriptedOrigin.Script = { wire, _ in
    _ = try wire.readHeadOrEnd()
}

private let resets: ScriptedOrigin.Script = { wire, _ in
    _ = try wire.readHeadOrEnd()
    wire.reset()
}

private func answering(_ response: String) -> ScriptedOrigin.Script {
    { wire, _ in
        guard try wire.readHeadOrEnd() != nil else { return }
        try wire.sendIfTaken([UInt8](response.utf8))
        try wire.finish()
        _ = try wire.readToEnd()
    }
}

/// As OpenSSH does with what is no SSH.
private let ssh: ScriptedOrigin.Script = { wire, _ in
    try wire.send("SSH-2.0-OpenSSH_9.2\r\n")
    guard try wire.hasMore() else { return }
    try wire.sendIfTaken([UInt8]("Invalid SSH identification string.\r\n".utf8))
}
