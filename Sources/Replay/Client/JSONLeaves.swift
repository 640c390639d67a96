internal import Base

/// Finds the strings and numbers of a JSON text with their places, in one pass and without a tree.
struct JSONLeaves {
    struct Leaf {
        /// As `JSONValue.leaves` has it.
        let path: String
        /// With the quotes of a string.
        let range: Range<Int>
        let value: [UInt8]
        let isString: Bool
    }

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private var leaves: [Leaf] = []

    private static let depthLimit = 100
    private static let leafLimit = 20_000

    /// - Returns: `nil` for what is no JSON.
    static func read(_ bytes: [UInt8]) -> [Leaf]? {
        var reader = JSONLeaves(bytes)
        guard reader.value("$") else { return nil }
        reader.skipSpace()
        return reader.position == bytes.count ? reader.leaves : nil
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func value(_ path: String) -> Bool {
        skipSpace()
        guard position < bytes.count, depth < Self.depthLimit else { return false }
        depth += 1
        defer { depth -= 1 }
        let start = position
        switch bytes[position] {
        case 0x7B: return object(path)
        case 0x5B: return array(path)
        case 0x22:
            guard let text = string() else { return false }
            note(Leaf(path: path, range: start..<position, value: text, isString: true))
            return true
        default:
            while position < bytes.count, Self.isWordByte(bytes[position]) { position += 1 }
            let word = Array(bytes[start..<position])
            if let first = word.first, first.isASCIIDigit || first == 0x2D {
                note(Leaf(path: path, range: start..<position, value: word, isString: false))
            }
            return position > start
        }
    }

    private mutating func note(_ leaf: Leaf) {
        if leaves.count < Self.leafLimit { leaves.append(leaf) }
    }

    private mutating func object(_ path: String) -> Bool {
        position += 1
        if take(0x7D) { return true }
        repeat {
            skipSpace()
            guard position < bytes.count, bytes[position] == 0x22, let name = string(),
                take(0x3A), value(path + JSONValue.step(name.text))
            else { return false }
        } while take(0x2C)
        return take(0x7D)
    }

    private mutating func array(_ path: String) -> Bool {
        position += 1
        if take(0x5D) { return true }
        var index = 0
        repeat {
            guard value("\(path)[\(index)]") else { return false }
            index += 1
        } while take(0x2C)
        return take(0x5D)
    }

    private mutating func string() -> [UInt8]? {
        let start = position
        position += 1
        var isEscaped = false
        while position < bytes.count, bytes[position] != 0x22 {
            if bytes[position] == 0x5C {
                isEscaped = true
                position += 1
            }
            position += 1
        }
        guard position < bytes.count else { return nil }
        position += 1
        guard isEscaped else { return Array(bytes[start + 1..<position - 1]) }
        return JSONValue(Array(bytes[start..<position]))?.text.map { Array($0.utf8) }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            position += 1
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == 0x2D || byte == 0x2B || byte == 0x2E
    }
}
