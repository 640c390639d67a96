internal import Base

/// A JSON text (RFC 8259), read once into a list of its values in the order of the text.
///
/// Nothing is decoded before it is asked for: a value is where it stands, and it takes 16 bytes.
package struct JSONDocument: Sendable {
    package enum Kind: Sendable {
        case null
        case `true`
        case `false`
        case number
        case string
        case array
        case object

        fileprivate init(_ kind: JSONToken.Kind) {
            switch kind {
            case .null: self = .null
            case .true: self = .true
            case .false: self = .false
            case .number: self = .number
            case .name, .string: self = .string
            case .beginArray, .endArray: self = .array
            case .beginObject, .endObject: self = .object
            }
        }
    }

    /// A value, or the name of a member, which stands before its value.
    package struct Node: Sendable {
        package let kind: Kind
        /// Whether it is spelled as all values are that are equal to it.
        package let isPlain: Bool
        private let start: UInt32
        private var end: UInt32 = 0
        private var following: UInt32 = 0

        fileprivate init(_ token: JSONToken) {
            kind = Kind(token.kind)
            isPlain = token.spelling == .plain
            start = UInt32(token.range.lowerBound)
        }

        fileprivate mutating func finish(at end: Int, before following: Int) {
            self.end = UInt32(end)
            self.following = UInt32(following)
        }

        /// Its bytes, with the quotes of a string.
        package var range: Range<Int> { Int(start)..<Int(end) }
        /// The place behind it and all that it holds, which begins at the place behind its own.
        package var next: Int { Int(following) }
    }

    /// The places of a member's name and value.
    package struct Member: Sendable {
        package let name: Int
        package let value: Int
    }

    package let bytes: [UInt8]
    private let nodes: [Node]

    /// The place of the value that holds all others.
    package static let root = 0
    /// How deep values may nest: each level is a call where two documents are compared.
    private static let depthLimit = 200

    /// Reads a whole text; `nil` for what is no JSON, or is nested too deeply.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count < UInt32.max else { return nil }
        do throws(JSONViolation) {
            guard let nodes = try Self.nodes(of: bytes) else { return nil }
            self.nodes = nodes
            self.bytes = bytes
        } catch { return nil }
    }

    private static func nodes(of bytes: [UInt8]) throws(JSONViolation) -> [Node]? {
        var nodes: [Node] = []
        nodes.reserveCapacity(bytes.count / 8 + 1)
        var open: [Int] = []
        var tokens = JSONTokenizer(depthLimit: depthLimit)
        while let token = try tokens.next(in: bytes.span) {
            switch token.kind {
            case .beginObject, .beginArray:
                open.append(nodes.count)
                nodes.append(Node(token))
            case .endObject, .endArray:
                nodes[open.removeLast()].finish(at: token.range.upperBound, before: nodes.count)
            case .name, .string, .number, .true, .false, .null:
                guard token.isWhole, token.isKnown(in: bytes) else { return nil }
                var node = Node(token)
                node.finish(at: token.range.upperBound, before: nodes.count + 1)
                nodes.append(node)
            }
        }
        return tokens.isComplete ? nodes : nil
    }

    package subscript(_ place: Int) -> Node { nodes[place] }

    /// A value as it is spelled.
    package func spelling(of place: Int) -> ArraySlice<UInt8> { bytes[nodes[place].range] }

    /// The places of the elements of an array.
    package func elements(of place: Int) -> [Int] {
        var places: [Int] = []
        var next = place + 1
        while next < nodes[place].next {
            places.append(next)
            next = nodes[next].next
        }
        return places
    }

    /// The members of an object by rising name; of those with one name, the last.
    package func members(of place: Int) -> [Member] {
        var members: [Member] = []
        var isRising = true
        var next = place + 1
        while next < nodes[place].next {
            if let last = members.last { isRising = isRising && isRisen(last.name, next) }
            members.append(Member(name: next, value: next + 1))
            next = nodes[next + 1].next
        }
        return isRising ? members : sorted(members)
    }

    private func sorted(_ members: [Member]) -> [Member] {
        // Each name is decoded once.
        let keyed = members.map { (key: key(of: $0.name), member: $0) }
        let rising = keyed.sorted { left, right in
            if left.key.lexicographicallyPrecedes(right.key) { return true }
            return left.member.name < right.member.name && left.key == right.key
        }
        return rising.indices.filter { index in
            index + 1 == rising.count || rising[index].key != rising[index + 1].key
        }.map { rising[$0].member }
    }

    /// Whether one name comes before another.
    private func isRisen(_ name: Int, _ other: Int) -> Bool {
        key(of: name).lexicographicallyPrecedes(key(of: other))
    }

    /// The value of a member, `nil` if there is none.
    package func member(_ name: StaticString, of place: Int) -> Int? {
        guard nodes[place].kind == .object else { return nil }
        var found: Int?
        var next = place + 1
        while next < nodes[place].next {
            if isName(next, name) { found = next + 1 }
            next = nodes[next + 1].next
        }
        return found
    }

    private func isName(_ place: Int, _ name: StaticString) -> Bool {
        guard nodes[place].isPlain else { return key(of: place).equals(name) }
        let range = nodes[place].range
        return range.count - 2 == name.utf8CodeUnitCount
            && bytes[range.lowerBound + 1..<range.upperBound - 1].equals(name)
    }

    /// What a name, a string or a number is compared by: the text that is meant, in UTF-8, or the
    /// number in the spelling that equal numbers share.
    package func key(of place: Int) -> ArraySlice<UInt8> {
        let node = nodes[place]
        if node.kind == .number {
            return node.isPlain ? bytes[node.range] : JSONNumber.canonical(bytes[node.range])
        }
        let inner = bytes[node.range.lowerBound + 1..<node.range.upperBound - 1]
        return node.isPlain ? inner : Self.decoded(inner)
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let bytes = JSONEscapes.undo(in: text) ?? []
        // What is no UTF-8 is repaired.
        return Array(bytes.text.utf8)[...]
    }
}

extension ArraySlice<UInt8> {
    fileprivate func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { unsafe elementsEqual($0) }
    }
}
