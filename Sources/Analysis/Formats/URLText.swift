internal import Base

/// The pieces of an absolute URL, as they are written (RFC 3986 §3).
struct URLText {
    let scheme: String
    let authority: String
    /// The path and the query, `/` if there are none.
    let target: [UInt8]

    /// Returns `nil` for what is no absolute URL of a host.
    init?(_ url: [UInt8]) {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")),
            url[(colon + 1)...].starts(with: [0x2F, 0x2F])
        else { return nil }
        let rest = url[(colon + 3)...]
        let authority = rest.prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
        let target = rest[authority.endIndex...].prefix { $0 != 0x23 }
        scheme = url[..<colon].text.lowercased()
        // Userinfo is no part of what is connected to.
        self.authority =
            (authority.lastIndex(of: 0x40).map { authority[($0 + 1)...] } ?? authority)
            .text
        self.target = target.first == 0x2F ? Array(target) : [0x2F] + target
    }

    /// A URL as others accept it: without a fragment, and what may not stand in one percent-encoded.
    ///
    /// - Parameter onlyControls: whether all else that may not stand in one is left, as some send it.
    static func escaped(_ url: [UInt8], onlyControls: Bool = false) -> [UInt8] {
        var result: [UInt8] = []
        for byte in url.prefix(while: { $0 != UInt8(ascii: "#") }) {
            let isForbidden = !onlyControls && (byte >= 0x80 || forbidden.contains(byte))
            if byte <= 0x20 || byte == 0x7F || isForbidden {
                result += "%\([byte].hex.uppercased())".utf8
            } else {
                result.append(byte)
            }
        }
        return result
    }

    /// The parameters of a query or a form (URL Standard §5.1).
    static func parameters(_ text: some Collection<UInt8>) -> [(name: [UInt8], value: [UInt8])] {
        Array(text).split(separator: UInt8(ascii: "&")).map { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            return (decoded(name), decoded(pair[name.endIndex...].dropFirst()))
        }
    }

    /// A form of parameters.
    static func form(_ parameters: [(name: [UInt8], value: [UInt8])]) -> [UInt8] {
        let pairs = parameters.map { encoded($0.name) + [UInt8(ascii: "=")] + encoded($0.value) }
        return Array(pairs.joined(separator: [UInt8(ascii: "&")]))
    }

    private static func encoded(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in text {
            if byte.isASCIILetter || byte.isASCIIDigit || "*-._".utf8.contains(byte) {
                result.append(byte)
            } else {
                result +=
                    byte == 0x20 ? "+".utf8.map(\.self) : Array("%\([byte].hex.uppercased())".utf8)
            }
        }
        return result
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == 0x25, index + 2 < text.endIndex,
                let high = text[index + 1].hexDigitValue, let low = text[index + 2].hexDigitValue
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(text[index] == 0x2B ? 0x20 : text[index])
                index += 1
            }
        }
        return result
    }

    private static let forbidden = Set("\"<>\\^`{|}".utf8)
}
