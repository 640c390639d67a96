internal import Base

/// JA4, the fingerprint of a client's offer that does not depend on the order of its extensions
/// (github.com/FoxIO-LLC/ja4, technical_details/JA4.md).
extension ClientHello {
    /// The three parts, such as `t13d1516h2_8daaf6152771_e5627efa2ab1`.
    ///
    /// - Parameter sha256: gives the 32 bytes of the SHA-256 digest.
    package func ja4(sha256: ([UInt8]) -> [UInt8]) -> String {
        let suites = sortedHex(cipherSuites)
        let offer = ja4Offer
        return [
            ja4Summary,
            digest(suites.isEmpty ? nil : suites, sha256),
            digest(offer.extensions.isEmpty ? nil : offer.text, sha256),
        ].joined(separator: "_")
    }

    /// The offer without what comes and goes with resumption and padding: what is left is the same
    /// for every connection of a client's TLS stack.
    package var withoutResumption: ClientHello {
        var hello = self
        // padding, session_ticket, pre_shared_key, early_data
        hello.extensions.removeAll { [0x0015, 0x0023, 0x0029, 0x002A].contains($0) }
        return hello
    }

    /// The same with the lists in place of their digests: the field's JA4_r.
    package var ja4Raw: String {
        [ja4Summary, sortedHex(cipherSuites), ja4Offer.text].joined(separator: "_")
    }

    /// Protocol, version, whether a name was sent, counts and the first application protocol.
    private var ja4Summary: String {
        (format == .quic ? "q" : format == .dtls ? "d" : "t") + ja4Version
            + (has(.serverName) ? "d" : "i")
            + ja4Count(cipherSuites) + ja4Count(extensions) + ja4Protocol
    }

    private var ja4Version: String {
        switch highestVersion {
        case 0x0304: "13"
        case 0x0303: "12"
        case 0x0302: "11"
        case 0x0301: "10"
        case 0x0300: "s3"
        case 0x0002: "s2"
        case 0xFEFF: "d1"
        case 0xFEFD: "d2"
        case 0xFEFC: "d3"
        default: "00"
        }
    }

    private func ja4Count(_ numbers: [UInt16]) -> String {
        padded(min(99, numbers.count { !$0.isGREASE }), 2)
    }

    /// The first and the last character of the first protocol; of its hexadecimal form if one of
    /// the two bytes is neither letter nor digit.
    private var ja4Protocol: String {
        guard let name = protocolNames.first, let first = name.first, let last = name.last else {
            return "00"
        }
        if [first, last].allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit }) {
            return [first, last].text
        }
        return String([first].hex.prefix(1) + [last].hex.suffix(1))
    }

    /// The extensions, without the two that the summary tells, and the signature algorithms.
    private var ja4Offer: (extensions: String, text: String) {
        let told: [ExtensionType] = [.serverName, .applicationProtocols]
        let others = sortedHex(extensions.filter { !told.map(\.rawValue).contains($0) })
        let algorithms = hex(signatureAlgorithms)
        return (others, algorithms.isEmpty ? others : others + "_" + algorithms)
    }

    private func sortedHex(_ numbers: [UInt16]) -> String {
        hex(numbers.sorted())
    }

    private func hex(_ numbers: [UInt16]) -> String {
        numbers.filter { !$0.isGREASE }
            .map { [UInt8($0 >> 8), UInt8($0 & 0xFF)].hex }
            .joined(separator: ",")
    }

    /// Twelve characters: of zeros if there is nothing to digest.
    private func digest(_ text: String?, _ sha256: ([UInt8]) -> [UInt8]) -> String {
        guard let text else { return "000000000000" }
        return String(sha256([UInt8](text.utf8)).hex.prefix(12))
    }
}
