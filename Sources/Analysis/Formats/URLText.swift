internal import Base
internal import Contents

/// The pieces of an absolute URL, as they are written (RFC 3986 §3).
struct URLText {
    let scheme: String
    let authority: String
    /// The path and the query, `/` if there are none.
    let target: [UInt8]

    /// Returns `nil` for what is no absolute URL of a host.
    init?(_ url: [UInt8]) {
        let pieces = RecordedURL(url)
        guard !pieces.scheme.isEmpty else { return nil }
        scheme = pieces.scheme.map(\.asciiLowercased).text
        // Userinfo is no part of what is connected to.
        authority = pieces.authority.text
        target = pieces.target.first == 0x2F ? Array(pieces.target) : [0x2F] + pieces.target
    }

    /// A URL as others accept it: without a fragment, and what may not stand in one percent-encoded.
    ///
    /// - Parameter onlyControls: whether all else that may not stand in one is left, as some send it.
    static func escaped(_ url: [UInt8], onlyControls: Bool = false) -> [UInt8] {
        PercentCoding.encoded(url.prefix { $0 != UInt8(ascii: "#") }) { byte in
            byte > 0x20 && byte != 0x7F
                && (onlyControls || byte < 0x80 && !forbidden.contains(byte))
        }
    }

    /// The parameters of a query or a form (URL Standard §5.1).
    static func parameters(_ text: some Collection<UInt8>) -> [(name: [UInt8], value: [UInt8])] {
        Parameter.read(Array(text)[...]).map { ($0.name, $0.decoded) }
    }

    /// A form of parameters.
    static func form(_ parameters: [(name: [UInt8], value: [UInt8])]) -> [UInt8] {
        let pairs = parameters.map { encoded($0.name) + [UInt8(ascii: "=")] + encoded($0.value) }
        return Array(pairs.joined(separator: [UInt8(ascii: "&")]))
    }

    private static func encoded(_ text: [UInt8]) -> [UInt8] {
        PercentCoding.encoded(text) { byte in
            byte.isASCIILetter || byte.isASCIIDigit || " *-._".utf8.contains(byte)
        }.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
    }

    private static let forbidden = Set("\"<>\\^`{|}".utf8)
}
