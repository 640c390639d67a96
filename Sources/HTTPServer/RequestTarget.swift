internal import Base

/// What a request asks for: the path and query as they came, and the path's decoded segments.
///
/// Segments are split before they are decoded, so an encoded slash stays inside of its segment
/// (RFC 3986 §2.2); whoever turns segments into a file path has to refuse it there.
package struct RequestTarget: Sendable, Equatable {
    /// The path as it came, from its first slash; `*` for a question about the whole server.
    package let path: [UInt8]
    /// What follows the question mark, as it came; `nil` without one.
    package let query: [UInt8]?
    /// The host and port of an absolute-form target, `nil` for an origin-form one.
    package let authority: [UInt8]?
    /// The path's segments, percent-decoded: none for `/`, and an empty last one for `/a/`.
    package let segments: [[UInt8]]

    /// Whether the target is `*` (RFC 9112 §3.2.4).
    package var isAsterisk: Bool { path == [0x2A] }

    /// Reads an origin-form, absolute-form or asterisk-form target (RFC 9112 §3.2); `nil` for any
    /// other and for a path whose percent-encoding is broken.
    package init?(_ target: ArraySlice<UInt8>) {
        if target.elementsEqual([0x2A]) {
            (path, query, authority, segments) = ([0x2A], nil, nil, [])
            return
        }
        guard let (authority, rest) = Self.splitAuthority(target) else { return nil }
        let beforeFragment = rest.prefix { $0 != UInt8(ascii: "#") }
        let path = beforeFragment.prefix { $0 != UInt8(ascii: "?") }
        let hasQuery = path.count < beforeFragment.count
        self.authority = authority
        self.path = path.isEmpty ? [UInt8(ascii: "/")] : [UInt8](path)
        query = hasQuery ? [UInt8](beforeFragment.dropFirst(path.count + 1)) : nil
        guard let segments = Self.segments(of: self.path[...]) else { return nil }
        self.segments = segments
    }

    /// The first value of this name in the query, form-decoded; `nil` if there is none.
    package func queryValue(_ name: String) -> [UInt8]? {
        guard let query else { return nil }
        return FormItem.parse(query[...]).first { $0.name.elementsEqual(name.utf8) }?.value
    }

    /// Splits `http://host/path` after the host; an origin-form target has no authority.
    private static func splitAuthority(
        _ target: ArraySlice<UInt8>
    ) -> (authority: [UInt8]?, rest: ArraySlice<UInt8>)? {
        if target.first == UInt8(ascii: "/") { return (nil, target) }
        guard let colon = target.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = target[..<colon]
        guard scheme.equalsIgnoringCase("http") || scheme.equalsIgnoringCase("https"),
            target[colon...].starts(with: "://".utf8)
        else { return nil }
        let authority = target.dropFirst(scheme.count + 3).prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        guard !authority.isEmpty else { return nil }
        return ([UInt8](authority), target.dropFirst(scheme.count + 3 + authority.count))
    }

    private static func segments(of path: ArraySlice<UInt8>) -> [[UInt8]]? {
        guard path.first == UInt8(ascii: "/") else { return nil }
        guard path.count > 1 else { return [] }
        var segments: [[UInt8]] = []
        for part in path.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            guard let decoded = percentDecoded(part) else { return nil }
            segments.append(decoded)
        }
        return segments
    }
}
