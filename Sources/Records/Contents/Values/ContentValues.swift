internal import Base

/// One value of a content that has a structure, with what leads to it.
package struct ContentValue: Sendable, Equatable {
    package enum Kind: Sendable {
        /// UTF-8.
        case text
        /// In decimals.
        case number
        /// `true`, `false` or `null`.
        case word
        /// What is no text.
        case bytes
        /// Four or eight bytes of which only the reader's schema says what they are.
        case fixed
    }

    /// Names, the numbers of fields, and `*` for an element of a list.
    package let path: [[UInt8]]
    package let kind: Kind
    /// Its first bytes, as many as were asked for.
    package let bytes: [UInt8]
}

/// The values that a reader found in a content, within bounds: what is hostile costs no more than
/// its own length.
package struct ContentValues: Sendable {
    package private(set) var values: [ContentValue] = []
    /// Whether the content was well-formed to its end and none of its values was left out.
    package internal(set) var isWhole = true
    /// What leads to the value that is read.
    private var path: [[UInt8]] = []
    private let countLimit: Int
    /// Of each value, in bytes.
    let byteLimit: Int

    init(countLimit: Int = 4096, byteLimit: Int = 8192) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    /// Whether there is no room for more.
    var isFull: Bool { values.count >= countLimit }

    /// - Returns: whether there is room for more.
    mutating func append(_ kind: ContentValue.Kind, _ bytes: some Sequence<UInt8>) -> Bool {
        guard !isFull else { return false }
        let bytes = Array(bytes.prefix(byteLimit))
        values.append(ContentValue(path: path, kind: kind, bytes: bytes))
        return true
    }

    mutating func append(number text: String) -> Bool { append(.number, text.utf8) }

    /// Text if its start is UTF-8 without control characters but white space, else bytes.
    mutating func append(text bytes: ArraySlice<UInt8>) -> Bool {
        // No more than is kept is looked at: many values may be the same large one.
        var start = bytes.prefix(byteLimit)
        if start.count < bytes.count {
            while let last = start.last, last & 0xC0 == 0x80 { start = start.dropLast() }
            if let last = start.last, last >= 0xC0 { start = start.dropLast() }
        }
        return append(Self.isText(start) ? .text : .bytes, start)
    }

    /// Goes one level deeper.
    ///
    /// - Returns: whether it may.
    mutating func enter(_ name: some Sequence<UInt8>) -> Bool {
        guard path.count < Self.depthLimit else { return false }
        path.append(Array(name.prefix(Self.nameLimit)))
        return true
    }

    mutating func leave() { path.removeLast() }

    /// Forgets the last values, which turned out to be none.
    mutating func removeValues(after count: Int) { values.removeLast(values.count - count) }

    static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0D].contains($0) }
            && String(validating: bytes, as: UTF8.self) != nil
    }

    static let element = Array("*".utf8)
    static let depthLimit = 32
    private static let nameLimit = 256
}

/// Takes numbers and bytes from the start of some bytes; what is cut short yields `nil`.
struct ContentInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func bytes(_ count: UInt64) -> ArraySlice<UInt8>? {
        guard count <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }

    /// A big-endian number of at most eight bytes.
    mutating func number(_ count: Int) -> UInt64? {
        bytes(UInt64(count)).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }
}
