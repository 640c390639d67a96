internal import Base

/// A URL or the target of a request as it was recorded, taken apart leniently (RFC 3986 §3, RFC 9112
/// §3.2). All pieces are as they came, by their places.
package struct RecordedURL {
    /// Without `://`; empty if there is none.
    package let scheme: ArraySlice<UInt8>
    /// `user:password` without the `@`; empty if there is none.
    package let userinfo: ArraySlice<UInt8>
    /// Host and port.
    package let authority: ArraySlice<UInt8>
    package let path: ArraySlice<UInt8>
    /// Without its question mark; empty if there is none.
    package let query: ArraySlice<UInt8>
    /// The path with the query.
    package let target: ArraySlice<UInt8>

    package init(_ url: ArraySlice<UInt8>) {
        scheme = Self.scheme(of: url)
        var rest = url
        var authority = url.prefix(0)
        if !scheme.isEmpty {
            rest = url[(scheme.endIndex + 3)...]
            authority = rest.prefix { !Self.ends.contains($0) }
        } else if let first = url.first, first != slash, first != question, first != star {
            // What CONNECT asks for.
            authority = url
        }
        rest = rest[max(rest.startIndex, authority.endIndex)...]
        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        userinfo = at.map { authority[..<$0] } ?? authority.prefix(0)
        self.authority = at.map { authority[($0 + 1)...] } ?? authority
        target = rest.prefix { $0 != hash }
        path = target.prefix { $0 != question }
        query = target[path.endIndex...].dropFirst()
    }

    package init(_ url: [UInt8]) { self.init(url[...]) }

    /// The parameters of the query.
    package var parameters: [Parameter] { Parameter.read(query) }

    /// What stands behind `;` in the segments of the path.
    package var pathParameters: [Parameter] {
        guard path.contains(semicolon) else { return [] }
        return path.split(separator: slash).flatMap { segment in
            Parameter.read(segment.drop { $0 != semicolon }.dropFirst(), separator: semicolon)
        }
    }

    private static func scheme(of url: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let scheme = url.prefix { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
        guard scheme.first?.isASCIILetter == true,
            url[scheme.endIndex...].starts(with: [UInt8(ascii: ":"), slash, slash])
        else { return url.prefix(0) }
        return scheme
    }

    private static let ends = [slash, question, hash]
}

/// One name with its value, as queries, forms, cookies and paths hold them.
package struct Parameter {
    /// Decoded.
    package let name: [UInt8]
    /// As it came, by its place.
    package let value: ArraySlice<UInt8>

    /// Percent-encoding undone, as in a form.
    package var decoded: [UInt8] { PercentCoding.decoded(value, plusIsSpace: true) }

    /// Splits `a=1&b=2`; empty pieces are left out.
    package static func read(
        _ text: ArraySlice<UInt8>, separator: UInt8 = UInt8(ascii: "&"), limit: Int = .max
    ) -> [Parameter] {
        var result: [Parameter] = []
        var rest = text
        while !rest.isEmpty, result.count < limit {
            let piece = rest.prefix { $0 != separator }
            rest = rest[piece.endIndex...].dropFirst()
            guard !piece.isEmpty else { continue }
            let name = piece.prefix { $0 != UInt8(ascii: "=") }
            result.append(
                Parameter(
                    name: PercentCoding.decoded(name, plusIsSpace: true),
                    value: piece[name.endIndex...].dropFirst()))
        }
        return result
    }
}

private let slash = UInt8(ascii: "/")
private let question = UInt8(ascii: "?")
private let hash = UInt8(ascii: "#")
private let star = UInt8(ascii: "*")
private let semicolon = UInt8(ascii: ";")
