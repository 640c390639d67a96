internal import Base

/// A pattern of path segments: `/assets/:seed/:size` binds two, `/files/*` takes what is left.
package struct PathPattern: Sendable, Equatable, ExpressibleByStringLiteral {
    private enum Part: Sendable, Equatable {
        case literal([UInt8])
        case parameter(String)
    }

    private let parts: [Part]
    private let takesRest: Bool

    /// - Parameter pattern: starts with a slash; `:name` binds a segment, a last `*` takes any
    ///   number of them.
    package init(_ pattern: String) {
        var segments = pattern.utf8.dropFirst().split(separator: UInt8(ascii: "/"))
        takesRest = segments.last?.elementsEqual("*".utf8) ?? false
        if takesRest { segments.removeLast() }
        parts = segments.map {
            $0.first == UInt8(ascii: ":")
                ? .parameter([UInt8]($0.dropFirst()).text) : .literal([UInt8]($0))
        }
    }

    package init(stringLiteral pattern: String) {
        self.init(pattern)
    }

    /// The first segment of every path that it matches; `nil` if that may be any, or there is none.
    var firstSegment: [UInt8]? {
        guard case .literal(let segment)? = parts.first else { return nil }
        return segment
    }

    /// What the pattern finds in these decoded segments, `nil` if it does not match them.
    package func match(_ segments: [[UInt8]]) -> PathMatch? {
        guard segments.count == parts.count || (takesRest && segments.count > parts.count) else {
            return nil
        }
        var match = PathMatch()
        match.parameters.reserveCapacity(parts.count)
        for (part, segment) in zip(parts, segments) {
            switch part {
            case .literal(let expected):
                guard segment == expected else { return nil }
            case .parameter(let name):
                guard !segment.isEmpty else { return nil }
                match.parameters.append((name, segment))
            }
        }
        if takesRest { match.rest = [[UInt8]](segments.dropFirst(parts.count)) }
        return match
    }
}

/// What a pattern found in a path: decoded bytes, which a client chose.
package struct PathMatch: Sendable {
    fileprivate(set) var parameters: [(name: String, value: [UInt8])] = []
    /// The segments that `*` took.
    package fileprivate(set) var rest: [[UInt8]] = []

    package init() {}

    /// The bound segment of this name; empty if the pattern has none.
    package subscript(name: String) -> [UInt8] {
        parameters.first { $0.name == name }?.value ?? []
    }

    /// The bound segment as decimal digits; `nil` for anything else and beyond 64 bits.
    package func number(_ name: String) -> UInt64? {
        decimal(self[name])
    }
}
