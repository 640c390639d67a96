internal import Base

/// URLs made comparable, as far as servers spell them differently for one upload.
enum TransferURL {
    /// The authority in lower case without the scheme's own port, and no fragment.
    static func normalized(_ url: [UInt8]) -> [UInt8] {
        let url = url.prefix { $0 != UInt8(ascii: "#") }
        let start = authorityStart(url)
        guard start > 0 else { return Array(url) }
        let end = authorityEnd(url, from: start)
        let scheme = url[..<start].map(\.asciiLowercased)
        var authority = url[start..<end].map(\.asciiLowercased)[...]
        let port = Array((scheme.starts(with: Array("https".utf8)) ? ":443" : ":80").utf8)
        if authority.count > port.count, authority.suffix(port.count) == port[...] {
            authority = authority.dropLast(port.count)
        }
        let rest = end == url.endIndex ? Array("/".utf8)[...] : url[end...]
        return scheme + authority + rest
    }

    /// A Location against the URL that was asked for (RFC 3986 §5.2, dot segments left as they
    /// are), normalised.
    static func resolved(_ reference: ArraySlice<UInt8>, against base: [UInt8]) -> [UInt8] {
        if authorityStart(reference) > 0 { return normalized(Array(reference)) }
        let slash = UInt8(ascii: "/")
        let start = authorityStart(base[...])
        let end = authorityEnd(base[...], from: start)
        if reference.starts(with: [slash, slash]) {
            return normalized(Array(base[..<max(0, start - 2)] + reference))
        }
        if reference.first == slash { return normalized(Array(base[..<end] + reference)) }
        let path = base[end...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let folder = path[..<(path.lastIndex(of: slash) ?? path.startIndex)]
        return normalized(base[..<end] + folder + [slash] + reference)
    }

    /// The value of a parameter of the query, not decoded; `nil` if there is none.
    static func parameter(_ name: String, of url: [UInt8]) -> ArraySlice<UInt8>? {
        guard let question = url.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        for pair in url[(question + 1)...].split(separator: UInt8(ascii: "&")) {
            let key = pair.prefix { $0 != UInt8(ascii: "=") }
            if key.elementsEqual(name.utf8) { return pair.dropFirst(key.count + 1) }
        }
        return nil
    }

    static func withoutQuery(_ url: [UInt8]) -> [UInt8] {
        Array(url.prefix { $0 != UInt8(ascii: "?") })
    }

    /// Where the authority starts; 0 if there is none.
    private static func authorityStart(_ url: ArraySlice<UInt8>) -> Int {
        let scheme = url.prefix { $0.isASCIILetter || $0.isASCIIDigit }
        guard !scheme.isEmpty, url[scheme.endIndex...].starts(with: Array("://".utf8)) else {
            return 0
        }
        return scheme.endIndex + 3
    }

    private static func authorityEnd(_ url: ArraySlice<UInt8>, from start: Int) -> Int {
        url[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
            ?? url.endIndex
    }
}
