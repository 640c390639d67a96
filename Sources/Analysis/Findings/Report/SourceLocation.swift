internal import Base

/// A place in a file of the user's, read from `Sources/App/My API.swift:42`.
package struct SourceLocation: Equatable {
    /// Percent-encoded, relative to the repository unless an absolute path was given.
    package let uri: String
    /// As it was written.
    let path: String
    /// 1 if none was given.
    package let line: Int64

    package init(_ text: String) {
        var path = text[...]
        var line: Int64 = 1
        if let colon = path.lastIndex(of: ":"),
            let number = Int64(path[path.index(after: colon)...]),
            (1...Self.lineLimit).contains(number)
        {
            line = number
            path = path[..<colon]
        }
        while path.hasPrefix("./") { path = path.dropFirst(2) }
        self.line = line
        self.path = String(path)
        let isAbsolute = path.hasPrefix("/")
        uri = (isAbsolute ? "file://" : "") + Self.encoded(path)
    }

    /// Encodes all but what needs no encoding in a relative path (RFC 3986 §3.3); a colon in its
    /// first segment would make it a scheme.
    private static func encoded(_ path: Substring) -> String {
        var result: [UInt8] = []
        for byte in path.utf8 {
            switch byte {
            case _ where byte.isASCIIDigit || byte.isASCIILetter: result.append(byte)
            case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(byte)
            default: result += Array("%\([byte].hex.uppercased())".utf8)
            }
        }
        return result.text
    }

    /// What readers keep in 32 bits.
    private static let lineLimit = Int64(Int32.max)
}
