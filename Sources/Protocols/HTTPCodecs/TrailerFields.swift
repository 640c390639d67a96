internal import Base
package import HTTPModel

/// Which fields may stand behind a content (RFC 9110 §6.5.1).
package enum TrailerFields {
    /// Names of fields that say how a message is framed, where it and those behind it go, who sends
    /// it, whether it is served, or what its content is: a recipient that merges trailers into the
    /// head would be led by them after it has decided.
    private static let forbidden: [StaticString] = [
        "alt-svc", "authorization", "cache-control", "content-encoding", "content-length",
        "content-range",
        "content-type", "cookie", "expect", "host", "max-forwards", "pragma", "proxy-authenticate",
        "proxy-authorization", "range", "set-cookie", "www-authenticate",
    ]

    /// The names of those that do not pass on, in lower case.
    package static func forbidden(in trailers: Fields) -> [String] {
        trailers.slices.compactMap { slice in
            let name = trailers.name(slice)
            return isForbidden(name) ? name.map(\.asciiLowercased).text : nil
        }
    }

    /// Those that pass on, in their order.
    package static func passing(_ trailers: Fields) -> Fields {
        guard trailers.slices.contains(where: { isForbidden(trailers.name($0)) }) else {
            return trailers
        }
        var lines = FieldLines()
        for slice in trailers.slices where !isForbidden(trailers.name(slice)) {
            lines.append(
                slice.known, trailers.name(slice).span, trailers.value(slice).span)
        }
        return lines.count == 0 ? .none : lines.finish()
    }

    private static func isForbidden(_ name: ArraySlice<UInt8>) -> Bool {
        KnownField(name: name.span).isHopByHop
            || forbidden.contains { name.equalsIgnoringCase($0) }
            || name.count > 3 && name.prefix(3).equalsIgnoringCase("if-")
    }
}
