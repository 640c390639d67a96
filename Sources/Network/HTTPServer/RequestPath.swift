internal import Base

/// What a request asks for: the path and query as they came, and the path's decoded segments.
///
/// Segments are split before they are decoded, so an encoded slash stays inside of its segment
/// (RFC 3986 §2.2); whoever turns segments into a file path has to refuse it there.
package struct RequestPath: Sendable, Equatable {
    /// The path as it came, from its first slash; `*` for a question about the whole server.
    package let raw: [UInt8]
    /// What follows the question mark, as it came; `nil` without one.
    package let query: [UInt8]?
    /// The path's segments, percent-decoded: none for `/`, and an empty last one for `/a/`.
    package let segments: [[UInt8]]

    /// Whether the whole server is meant, by `OPTIONS *` (RFC 9112 §3.2.4).
    package var isAsterisk: Bool { raw.elementsEqual("*".utf8) }

    /// Splits a path with its query, or `*`; `nil` for anything else, and if the path's
    /// percent-encoding is broken.
    package init?(_ target: some Sequence<UInt8>) {
        let target = [UInt8](target)
        if target.elementsEqual("*".utf8) {
            (raw, query, segments) = (target, nil, [])
            return
        }
        // A fragment is no part of a request; one that comes anyway is left out.
        let end = target.firstIndex(of: UInt8(ascii: "#")) ?? target.count
        let mark = target[..<end].firstIndex(of: UInt8(ascii: "?"))
        let path = target[..<(mark ?? end)]
        guard path.first == UInt8(ascii: "/"), let segments = Self.split(path) else { return nil }
        raw = path.count == target.count ? target : [UInt8](path)
        query = mark.map { [UInt8](target[($0 + 1)..<end]) }
        self.segments = segments
    }

    /// The first value of this name in the query, form-decoded; `nil` if there is none.
    package func queryValue(_ name: String) -> [UInt8]? {
        guard let query else { return nil }
        return FormItem.parse(query[...]).first { $0.name.elementsEqual(name.utf8) }?.value
    }

    private static func split(_ path: ArraySlice<UInt8>) -> [[UInt8]]? {
        guard path.count > 1 else { return [] }
        var segments: [[UInt8]] = []
        segments.reserveCapacity(4)
        var rest = path.dropFirst()
        while true {
            let part = rest.prefix { $0 != UInt8(ascii: "/") }
            guard let decoded = PercentCoding.strictlyDecoded(part) else { return nil }
            segments.append(decoded)
            if part.count == rest.count { return segments }
            rest = rest.dropFirst(part.count + 1)
        }
    }
}
