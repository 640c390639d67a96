internal import Base

/// URLs made comparable, as far as servers spell them differently for one resource.
package enum URLReference {
    /// The authority in lower case without the scheme's own port, and no fragment.
    package static func normalized(_ url: [UInt8]) -> [UInt8] {
        let pieces = RecordedURL(url)
        guard !pieces.scheme.isEmpty else { return Array(pieces.target) }
        let scheme = pieces.scheme.map(\.asciiLowercased)
        var authority = url[pieces.scheme.endIndex + 3..<pieces.target.startIndex].map(
            \.asciiLowercased)
        let port = Array((scheme == Array("https".utf8) ? ":443" : ":80").utf8)
        if authority.count > port.count, authority.suffix(port.count) == port[...] {
            authority.removeLast(port.count)
        }
        let target = pieces.target.isEmpty ? Array("/".utf8)[...] : pieces.target
        return scheme + Array("://".utf8) + authority + target
    }

    /// A Location against the URL that was asked for (RFC 3986 §5.2, dot segments left as they
    /// are), normalised.
    package static func resolved(_ reference: ArraySlice<UInt8>, against base: [UInt8]) -> [UInt8] {
        if !RecordedURL(reference).scheme.isEmpty { return normalized(Array(reference)) }
        let slash = UInt8(ascii: "/")
        let pieces = RecordedURL(base)
        if reference.starts(with: [slash, slash]) {
            return normalized(pieces.scheme + [UInt8(ascii: ":")] + reference)
        }
        let origin = base[..<pieces.target.startIndex]
        if reference.first == slash { return normalized(Array(origin + reference)) }
        let folder = pieces.path[..<(pieces.path.lastIndex(of: slash) ?? pieces.path.startIndex)]
        return normalized(origin + folder + [slash] + reference)
    }

    /// The value of a parameter of the query, not decoded; `nil` if there is none.
    package static func parameter(_ name: String, of url: [UInt8]) -> ArraySlice<UInt8>? {
        RecordedURL(url).parameters.first { $0.name.elementsEqual(name.utf8) }?.value
    }

    package static func withoutQuery(_ url: [UInt8]) -> [UInt8] {
        Array(url.prefix { $0 != UInt8(ascii: "?") })
    }
}
