internal import Base

/// Reads a JSON text; how deep it is nested is bounded, since each level is a call.
struct JSONDocumentReader: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0
    private var depth = 0
    private(set) var nodes: [JSONDocument.Node] = []

    private static let depthLimit = 200

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
        nodes.reserveCapacity(bytes.count / 8 + 1)
    }

    @_lifetime(self: copy self)
    mutating func readDocument() -> Bool {
        skipByteOrderMark()
        guard readValue() else { return false }
        skipSpace()
        return position == bytes.count
    }

    @_lifetime(self: copy self)
    private mutating func skipByteOrderMark() {
        guard bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF else {
            return
        }
        position = 3
    }

    @_lifetime(self: copy self)
    private mutating func readValue() -> Bool {
        skipSpace()
        guard position < bytes.count, depth < Self.depthLimit else { return false }
        depth += 1
        defer { depth -= 1 }
        switch bytes[position] {
        case UInt8(ascii: "{"): return readObject()
        case UInt8(ascii: "["): return readArray()
        case UInt8(ascii: "\""): return readString()
        case UInt8(ascii: "t"): return readWord(Self.words.true, .true)
        case UInt8(ascii: "f"): return readWord(Self.words.false, .false)
        case UInt8(ascii: "n"): return readWord(Self.words.null, .null)
        default: return readNumber()
        }
    }

    @_lifetime(self: copy self)
    private mutating func readObject() -> Bool {
        let place = begin(.object)
        if take(UInt8(ascii: "}")) { return end(place) }
        repeat {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\""), readString(),
                take(UInt8(ascii: ":")), readValue()
            else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}")) && end(place)
    }

    @_lifetime(self: copy self)
    private mutating func readArray() -> Bool {
        let place = begin(.array)
        if take(UInt8(ascii: "]")) { return end(place) }
        repeat {
            guard readValue() else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]")) && end(place)
    }

    /// Reads a string; one of printable ASCII without escapes is plain.
    @_lifetime(self: copy self)
    private mutating func readString() -> Bool {
        let start = position
        var isPlain = true
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return append(.string, from: start, isPlain) }
            if byte &- 0x20 < 0x5F, byte != UInt8(ascii: "\\") { continue }
            isPlain = false
            if byte < 0x20 { return false }
            if byte == UInt8(ascii: "\\") { guard skipEscape() else { return false } }
        }
        return false
    }

    @_lifetime(self: copy self)
    private mutating func skipEscape() -> Bool {
        guard position < bytes.count else { return false }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard position < bytes.count, bytes[position].hexDigitValue != nil else {
                    return false
                }
                position += 1
            }
            return true
        default: return false
        }
    }

    /// Reads a number; a whole one without zeros in front is plain, and so is a short decimal.
    @_lifetime(self: copy self)
    private mutating func readNumber() -> Bool {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let first = position
        var isNumber = skipDigits()
        let wholeEnd = position
        var isPlain = isNumber && (bytes[first] != UInt8(ascii: "0") || wholeEnd == start + 1)
        if isNumber, takeByte(UInt8(ascii: ".")) {
            isNumber = skipDigits()
            // Fifteen digits are the same in every double that is written with them.
            isPlain =
                isNumber && bytes[first] != UInt8(ascii: "0") && position - first <= 16
                && bytes[position - 1] != UInt8(ascii: "0")
        }
        if isNumber, takeByte(UInt8(ascii: "e")) || takeByte(UInt8(ascii: "E")) {
            if !takeByte(UInt8(ascii: "+")) { _ = takeByte(UInt8(ascii: "-")) }
            isNumber = skipDigits()
            isPlain = false
        }
        let end = position
        while position < bytes.count, Self.isNumberByte(bytes[position]) { position += 1 }
        if !isNumber || position > end {
            guard JSONNumber.isKnown(read(from: start)) else { return false }
            isPlain = false
        }
        return append(.number, from: start, isPlain)
    }

    private func read(from start: Int) -> [UInt8] {
        var read: [UInt8] = []
        for index in start..<position { read.append(bytes[index]) }
        return read
    }

    @_lifetime(self: copy self)
    private mutating func skipDigits() -> Bool {
        let start = position
        while position < bytes.count, bytes[position].isASCIIDigit { position += 1 }
        return position > start
    }

    @_lifetime(self: copy self)
    private mutating func takeByte(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private static func isNumberByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
            UInt8(ascii: "E"):
            true
        default: byte.isASCIIDigit
        }
    }

    @_lifetime(self: copy self)
    private mutating func readWord(_ word: [UInt8], _ kind: JSONDocument.Kind) -> Bool {
        let start = position
        for letter in word {
            guard position < bytes.count, bytes[position] == letter else { return false }
            position += 1
        }
        return append(kind, from: start, true)
    }

    private static let words = (
        true: Array("true".utf8), false: Array("false".utf8), null: Array("null".utf8)
    )

    // MARK: Nodes

    @_lifetime(self: copy self)
    private mutating func begin(_ kind: JSONDocument.Kind) -> Int {
        nodes.append(JSONDocument.Node(kind, from: position))
        position += 1
        return nodes.count - 1
    }

    @_lifetime(self: copy self)
    private mutating func end(_ place: Int) -> Bool {
        nodes[place].finish(at: position, before: nodes.count)
        return true
    }

    @_lifetime(self: copy self)
    private mutating func append(
        _ kind: JSONDocument.Kind, from start: Int, _ isPlain: Bool
    ) -> Bool {
        var node = JSONDocument.Node(kind, from: start, isPlain: isPlain)
        node.finish(at: position, before: nodes.count + 1)
        nodes.append(node)
        return true
    }

    @_lifetime(self: copy self)
    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    @_lifetime(self: copy self)
    private mutating func skipSpace() {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }
}
