internal import Base

/// What a chain says of its own flaw, for whoever looks for the cause: OpenSSL names the kind alone.
package enum VerifyExplanation {
    /// - Parameters:
    ///   - error: `TLSSession.verifyError`.
    ///   - chain: the certificates in DER, leaf first, as the peer presented them.
    /// - Returns: the error with what there is to say, on one line.
    package static func text(_ error: String, chain: [[UInt8]]) -> String {
        guard let leaf = chain.first.flatMap({ Certificate(der: $0) }) else { return error }
        if error.hasSuffix("mismatch") { return error + names(of: leaf) }
        if error == "certificate has expired" {
            let ended = certificates(chain).first(where: \.isExpired) ?? leaf
            return "\(error): it ended on \(day(ended.validity.notAfter))"
        }
        if error == "certificate is not yet valid" {
            let begins = certificates(chain).map(\.validity.notBefore).max()
            return "\(error): it begins on \(day(begins ?? leaf.validity.notBefore))"
        }
        if error.hasPrefix("unable to get"), let issuer = certificates(chain).last?.issuer {
            return "\(error): it was issued by \(cut(issuer))"
        }
        return error
    }

    /// Whether nobody is known who vouches for the chain: then naming one mends it.
    package static func isOfTrust(_ error: String) -> Bool {
        error.hasPrefix("unable to") || error.hasPrefix("self-signed")
    }

    private static func certificates(_ chain: [[UInt8]]) -> [Certificate] {
        chain.prefix(chainLimit).compactMap { Certificate(der: $0) }
    }

    private static func names(of leaf: Certificate) -> String {
        guard let names = leaf.alternativeNames else {
            return ": it has no alternative names, and a common name does not count"
        }
        return names.isEmpty ? "" : ": it is for \(cut(names))"
    }

    private static func cut(_ text: String) -> String {
        let plain = text.utf8.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
        return plain.count <= lengthLimit ? plain.text : plain.prefix(lengthLimit).text + "..."
    }

    private static func day(_ seconds: Int64) -> String {
        let (scaled, isOverflown) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !isOverflown else { return "a day out of reach" }
        return String(Timestamp(microseconds: scaled).rfc3339.prefix(10))
    }

    /// In bytes: what still fits on a few lines.
    private static let lengthLimit = 120
    /// Certificates that are looked at; a peer may send any number.
    private static let chainLimit = 10
}
