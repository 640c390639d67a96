internal import Base

/// An entity tag: an opaque name of one version of a representation (RFC 9110 §8.8.3).
package struct EntityTag: Sendable, Hashable {
    package let isWeak: Bool
    /// What stands between the quotes.
    package let opaque: [UInt8]

    package init(_ opaque: String, isWeak: Bool = false) {
        self.opaque = [UInt8](opaque.utf8)
        self.isWeak = isWeak
    }

    /// Reads exactly one tag; `nil` for anything else, such as one without quotes.
    package init?(_ text: ArraySlice<UInt8>) {
        var reader = EntityTagReader(rest: text)
        guard let tag = reader.tag(), reader.rest.isEmpty else { return nil }
        self = tag
    }

    fileprivate init(opaque: ArraySlice<UInt8>, isWeak: Bool) {
        self.opaque = [UInt8](opaque)
        self.isWeak = isWeak
    }

    package var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(opaque.count + 4)
        if isWeak { bytes.append(contentsOf: "W/".utf8) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: opaque)
        bytes.append(UInt8(ascii: "\""))
        return bytes.text
    }

    /// Both strong and the same: what ranges and If-Match ask for (RFC 9110 §8.8.3.2).
    package func stronglyEquals(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// The same, weak or not: what If-None-Match asks for (RFC 9110 §8.8.3.2).
    package func weaklyEquals(_ other: EntityTag) -> Bool {
        opaque == other.opaque
    }
}

/// What If-Match and If-None-Match hold (RFC 9110 §13.1).
package enum EntityTagCondition: Sendable, Equatable {
    case any
    case tags([EntityTag])

    /// How many tags one request may list; a longer list counts as malformed.
    package static let limit = 256

    /// Joins all lines of the field; a list that is malformed anywhere lists nothing, so that it
    /// neither permits a change (If-Match) nor withholds a representation (If-None-Match).
    package init(_ lines: [ArraySlice<UInt8>]) {
        let joined = lines.count == 1 ? lines[0] : [UInt8](lines.joined(separator: [0x2C]))[...]
        if joined.trimmingListSpace.elementsEqual([0x2A]) {
            self = .any
            return
        }
        var reader = EntityTagReader(rest: joined)
        self = .tags(reader.list(limit: Self.limit) ?? [])
    }
}

/// Reads tags from the front of a field's value.
private struct EntityTagReader {
    var rest: ArraySlice<UInt8>

    mutating func tag() -> EntityTag? {
        let isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest = rest.dropFirst(2) }
        guard rest.first == 0x22 else { return nil }
        let opaque = rest.dropFirst().prefix(while: Self.isTagByte)
        rest = rest.dropFirst(opaque.count + 1)
        guard rest.popFirst() == 0x22 else { return nil }
        return EntityTag(opaque: opaque, isWeak: isWeak)
    }

    /// Reads to the end; a tag may hold a comma, and a list may hold empty elements.
    mutating func list(limit: Int) -> [EntityTag]? {
        var tags: [EntityTag] = []
        while true {
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x2C }
            guard !rest.isEmpty else { return tags }
            guard tags.count < limit, let tag = tag() else { return nil }
            tags.append(tag)
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
            guard rest.isEmpty || rest.first == 0x2C else { return nil }
        }
    }

    /// etagc (RFC 9110 §8.8.3): visible ASCII but the quote, and obs-text.
    private static func isTagByte(_ byte: UInt8) -> Bool {
        byte == 0x21 || (byte > 0x22 && byte != 0x7F)
    }
}

extension ArraySlice<UInt8> {
    /// Without spaces, tabs and empty list elements at both ends.
    fileprivate var trimmingListSpace: ArraySlice<UInt8> {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x2C }
        let front = drop(while: isSpace)
        guard let last = front.lastIndex(where: { !isSpace($0) }) else { return [] }
        return front[...last]
    }
}
