internal import Base

/// Writes one JSON document in pieces, so that neither it nor a long string in it is ever held
/// whole (RFC 8259).
struct JSONWriter {
    private let output: ([UInt8]) throws -> Void
    private var held: [UInt8] = []
    /// Of each open object and array, whether something stands in it.
    private var isFilled: [Bool] = []
    private var hasName = false

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
        var rest = bytes[...]
        while let sign = rest.firstIndex(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) {
            held += rest[..<sign]
            switch rest[sign] {
            case 0x22, 0x5C: held += [0x5C, rest[sign]]
            case 0x0A: held += #"\n"#.utf8
            case 0x0D: held += #"\r"#.utf8
            case 0x09: held += #"\t"#.utf8
            default: held += (#"\u00"# + [rest[sign]].hex).utf8
            }
            rest = rest[(sign + 1)...]
        }
        held += rest
        try flush(from: Self.byteLimit)
    }

    mutating func endString() {
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
