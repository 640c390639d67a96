internal import Base
internal import Traffic

/// TLS-S-PARAMS: the version and the suite that a server chose.
enum OriginParametersDetector {
    static func examine(_ connection: ConnectionRecord) -> [RuleMatch] {
        guard let tls = connection.tlsOfOrigin else { return [] }
        var notes: [FindingNote] = []
        var severity = Severity.info
        if let version = tls.version.flatMap({ oldVersions[$0] }) {
            notes.append(.network(.choseVersion(version)))
            severity = .medium
        }
        if let name = tls.cipher,
            let suite = SuiteClass(suite: name, isTLS13: tls.version == newest)
        {
            notes.append(.network(.choseSuites(suite)))
            severity = max(severity, min(suite.severity, .medium))
        }
        guard !notes.isEmpty else { return [] }
        var result = RuleMatch(.tlsOriginParameters, severity, .certain)
        result.place = .service
        result.notes = notes
        return [result]
    }

    private static let newest = "TLSv1.3"
    /// As records spell those before TLS 1.2 (RFC 8996).
    private static let oldVersions: [String: UInt16] = [
        "SSLv2": 0x0002, "SSLv3": 0x0300, "TLSv1": 0x0301, "TLSv1.1": 0x0302,
    ]
}

extension SuiteClass {
    /// What is weak about a suite by its name in OpenSSL's spelling, or by its number in hexadecimal
    /// digits; `nil` if nothing is.
    init?(suite name: String, isTLS13: Bool) {
        if name.hasPrefix("0x") {
            guard let code = UInt16(name.dropFirst(2), radix: 16),
                let suite = WeakSuite(code: code)
            else { return nil }
            self = suite.suiteClass
            return
        }
        guard !isTLS13 else { return nil }
        let words = name.split(separator: "-")
        let marks: [(Substring, SuiteClass)] = [
            ("NULL", .null), ("ADH", .anonymous), ("AECDH", .anonymous), ("EXP", .export),
            ("MD5", .md5), ("RC4", .rc4), ("CBC3", .tripleDES), ("3DES", .tripleDES), ("DES", .des),
        ]
        let exchanges: Set<Substring> = ["ECDHE", "DHE", "EDH", "PSK", "SRP"]
        if let mark = marks.first(where: { words.contains($0.0) }) {
            self = mark.1
        } else if let first = words.first, !exchanges.contains(first) {
            self = .staticRSA
        } else if name.hasSuffix("-SHA") {
            self = .cbcSHA1
        } else {
            return nil
        }
    }
}

extension ConnectionRecord {
    /// What the origin showed: on the leg of its own, or in packets on the only one.
    var tlsOfOrigin: TLSRecord? {
        originTLS ?? (isFromPackets ? clientTLS : nil)
    }
}

extension RuleText {
    static let tlsOriginParameters = RuleText(
        title: "Server chooses weak parameters of TLS",
        reason:
            "what is said under an old version or a weak suite can be read or changed by attacks"
            + " that are known",
        advice: "let the server speak TLS 1.2 and 1.3 alone, with forward secrecy and authenticated"
            + " encryption",
        decision:
            "The ServerHello names a version before TLS 1.2 (RFC 8996), or a suite without"
            + " encryption, authentication or forward secrecy, or with RC4, DES, 3DES, MD5 or CBC"
            + " with SHA-1 (RFC 9325 §4).",
        exceptions:
            "A server can only choose among what its client offers: an old client gets old"
            + " parameters from a good server, too.",
        party: .origin,
        worst: .medium,
        weaknesses: [327])
}
