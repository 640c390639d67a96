/// Takes binary fields from the start of some bytes; what is cut short yields `nil`.
package struct ByteCursor {
    package private(set) var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    package mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// A big-endian number of at most four bytes.
    package mutating func number(_ count: Int) -> Int? {
        bytes(count).map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }

    /// The same with the lowest byte first.
    package mutating func littleEndian(_ count: Int) -> Int? {
        bytes(count).map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } }
    }

    /// What is before the next zero byte.
    package mutating func terminated() -> ArraySlice<UInt8>? {
        guard let end = rest.prefix(Self.lineLimit).firstIndex(of: 0) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }

    /// What follows its own length.
    package mutating func vector(_ lengthBytes: Int) -> ArraySlice<UInt8>? {
        number(lengthBytes).flatMap { bytes($0) }
    }

    /// What is before the next line feed, and before a carriage return ahead of it.
    package mutating func line() -> ArraySlice<UInt8>? {
        guard let end = rest.prefix(Self.lineLimit).firstIndex(of: 0x0A) else { return nil }
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        return line.last == 0x0D ? line.dropLast() : line
    }

    /// In bytes.
    private static let lineLimit = 65_536
}
