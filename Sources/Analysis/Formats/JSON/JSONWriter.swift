internal import Base

/// Writes one JSON document in pieces, so that neither it nor a long string in it is ever held
/// whole (RFC 8259).
struct JSONWriter {
    private let output: ([UInt8]) throws -> Void
    private var held: [UInt8] = []
    /// Of each open object and array, whether something stands in it.
    private var isFilled: [Bool] = []
    private var hasName = false
    /// What a part of a string ended with that is no whole character.
    private var cut: [UInt8] = []

    init(_ output: @escaping ([UInt8]) throws -> Void) {
        self.output = output
        held.reserveCapacity(Self.byteLimit * 2)
    }

    mutating func beginObject() throws { try begin(UInt8(ascii: "{")) }
    mutating func endObject() throws { try end(UInt8(ascii: "}")) }
    mutating func beginArray() throws { try begin(UInt8(ascii: "[")) }
    mutating func endArray() throws { try end(UInt8(ascii: "]")) }

    mutating func name(_ name: String) throws {
        separate()
        held += JSONText.string(name).line
        held.append(UInt8(ascii: ":"))
        hasName = true
    }

    mutating func value(_ value: JSONText) throws {
        separate()
        held += value.line
        try flush(from: Self.byteLimit)
    }

    mutating func member(_ name: String, _ value: JSONText) throws {
        try self.name(name)
        try self.value(value)
    }

    mutating func beginString() {
        separate()
        held.append(UInt8(ascii: "\""))
    }

    /// Goes on with a string; `bytes` are UTF-8, and may end inside of a character.
    mutating func string(_ bytes: [UInt8]) throws {
        let text = cut + bytes
        let end = Self.characterEnd(in: text)
        JSONEscapes.append(text[..<end], to: &held)
        cut = Array(text[end...])
        try flush(from: Self.byteLimit)
    }

    /// Where the last character ends that is whole.
    private static func characterEnd(in text: [UInt8]) -> Int {
        guard let start = text.suffix(3).lastIndex(where: { $0 & 0xC0 != 0x80 }) else {
            return text.count
        }
        let length = text[start] >= 0xF0 ? 4 : text[start] >= 0xE0 ? 3 : text[start] >= 0xC0 ? 2 : 1
        return start + length > text.count ? start : text.count
    }

    mutating func endString() {
        held += cut
        cut = []
        held.append(UInt8(ascii: "\""))
    }

    /// Hands over what is held if that is at least so much.
    mutating func flush(from count: Int = 1) throws {
        guard held.count >= count else { return }
        try output(held)
        held.removeAll(keepingCapacity: true)
    }

    /// Breaks the line between two values of an array, so that a person can look into the file.
    mutating func breakLine() {
        held.append(UInt8(ascii: "\n"))
    }

    private mutating func begin(_ mark: UInt8) throws {
        separate()
        held.append(mark)
        isFilled.append(false)
    }

    private mutating func end(_ mark: UInt8) throws {
        held.append(mark)
        isFilled.removeLast()
        try flush(from: Self.byteLimit)
    }

    private mutating func separate() {
        defer { hasName = false }
        guard !hasName, let last = isFilled.indices.last else { return }
        if isFilled[last] { held.append(UInt8(ascii: ",")) }
        isFilled[last] = true
    }

    /// In bytes: what is worth a system call.
    private static let byteLimit = 64 << 10
}
