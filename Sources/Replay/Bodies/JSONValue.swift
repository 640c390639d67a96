package import Base

/// A JSON value as it is compared (RFC 8259): members by their names, numbers by what they are
/// worth, white space and the order of members without meaning.
package indirect enum JSONValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    /// In a spelling that equal numbers share.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// By rising name; of members with one name, the last.
    case object([Member])

    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: JSONValue
    }

    /// Reads a whole document; `nil` for what is no JSON, or is nested too deeply.
    package init?(_ bytes: [UInt8]) {
        var reader = JSONValueReader(bytes)
        guard let value = reader.document() else { return nil }
        self = value
    }

    /// A member of an object, `nil` if there is none.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// Calls `visit` with each value that holds no other, and its path: `$.items[0].id`.
    package func leaves(at path: String = "$", _ visit: (_ path: String, JSONValue) -> Void) {
        switch self {
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() {
                element.leaves(at: "\(path)[\(index)]", visit)
            }
        case .object(let members) where !members.isEmpty:
            for member in members {
                member.value.leaves(at: path + Self.step(member.name), visit)
            }
        default: visit(path, self)
        }
    }

    static func step(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0 == 0x5F || $0 == 0x2D || $0 >= 0x80
        }
        return isPlain && !name.isEmpty ? ".\(name)" : "[\(JSONText.string(name).line.text)]"
    }

    /// The canonical form: no white space, members by name.
    package var canonical: JSONText {
        switch self {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .number(let number): Int64(number).map(JSONText.integer) ?? .string(number)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.canonical))
        case .object(let members):
            .object(members.map { JSONText.Member($0.name, $0.value.canonical) })
        }
    }

    /// A value without others inside, as it is shown: a text in quotes, so that `"1"` is not `1`.
    package var shown: String {
        switch self {
        case .number(let number): number
        default: canonical.line.text
        }
    }
}

/// Reads a document; how deep it is nested is bounded, since each level is a call.
private struct JSONValueReader {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    private static let depthLimit = 200

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func document() -> JSONValue? {
        guard let value = value() else { return nil }
        skipSpace()
        return position == bytes.count ? value : nil
    }

    private mutating func value() -> JSONValue? {
        skipSpace()
        guard position < bytes.count, depth < Self.depthLimit else { return nil }
        depth += 1
        defer { depth -= 1 }
        switch bytes[position] {
        case 0x7B: return object()
        case 0x5B: return array()
        case 0x22: return string().map(JSONValue.string)
        case 0x74: return word("true", .boolean(true))
        case 0x66: return word("false", .boolean(false))
        case 0x6E: return word("null", .null)
        default: return number()
        }
    }

    private mutating func object() -> JSONValue? {
        position += 1
        var members: [String: JSONValue] = [:]
        if take(0x7D) { return .object([]) }
        repeat {
            skipSpace()
            guard position < bytes.count, bytes[position] == 0x22, let name = string(),
                take(0x3A), let value = value()
            else { return nil }
            members[name] = value
        } while take(0x2C)
        guard take(0x7D) else { return nil }
        return .object(
            members.sorted { $0.key < $1.key }.map {
                JSONValue.Member(name: $0.key, value: $0.value)
            })
    }

    private mutating func array() -> JSONValue? {
        position += 1
        var elements: [JSONValue] = []
        if take(0x5D) { return .array([]) }
        repeat {
            guard let value = value() else { return nil }
            elements.append(value)
        } while take(0x2C)
        return take(0x5D) ? .array(elements) : nil
    }

    private mutating func string() -> String? {
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case 0x22: return text.text
            case 0x5C: guard escape(into: &text) else { return nil }
            case ..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape(into text: inout [UInt8]) -> Bool {
        guard position < bytes.count else { return false }
        let byte = bytes[position]
        position += 1
        switch byte {
        case 0x22, 0x5C, 0x2F: text.append(byte)
        case 0x62: text.append(0x08)
        case 0x66: text.append(0x0C)
        case 0x6E: text.append(0x0A)
        case 0x72: text.append(0x0D)
        case 0x74: text.append(0x09)
        case 0x75:
            guard let scalar = scalar() else { return false }
            text += Array(String(Character(scalar)).utf8)
        default: return false
        }
        return true
    }

    /// A lone surrogate, which is no character, becomes U+FFFD.
    private mutating func scalar() -> Unicode.Scalar? {
        guard let unit = unit() else { return nil }
        if 0xD800..<0xDC00 ~= unit, position + 1 < bytes.count, bytes[position] == 0x5C,
            bytes[position + 1] == 0x75
        {
            let before = position
            position += 2
            if let low = self.unit(), 0xDC00..<0xE000 ~= low {
                return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
            }
            position = before
        }
        return Unicode.Scalar(unit) ?? Unicode.Scalar(0xFFFD as UInt16)
    }

    private mutating func unit() -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var unit: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = byte.hexDigitValue else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        position += 4
        return unit
    }

    private mutating func number() -> JSONValue? {
        let start = position
        while position < bytes.count, "+-.eE0123456789".utf8.contains(bytes[position]) {
            position += 1
        }
        let text = bytes[start..<position].text
        guard position > start, let first = text.utf8.first, first != 0x2B, first != 0x2E else {
            return nil
        }
        if text.utf8.count < 18, let whole = Int64(text) { return .number(String(whole)) }
        guard let value = Double(text) else { return nil }
        if text.utf8.allSatisfy({ $0.isASCIIDigit || $0 == 0x2D }) { return .number(text) }
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 {
            return .number(String(whole))
        }
        return .number("\(value)")
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) -> JSONValue? {
        let count = word.utf8CodeUnitCount
        guard position + count <= bytes.count,
            bytes[position..<position + count].text == "\(word)"
        else { return nil }
        position += count
        return value
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
}
