internal import Base

/// Takes MessagePack apart (its specification of 2017): the values of all objects in a row.
package struct MessagePackReader {
    private var input: ContentInput
    private var output = ContentValues()

    private init(_ bytes: ArraySlice<UInt8>) { input = ContentInput(bytes) }

    package static func read(_ bytes: ArraySlice<UInt8>) -> ContentValues {
        var reader = MessagePackReader(bytes)
        while reader.output.isWhole, !reader.input.isAtEnd {
            reader.output.isWhole = reader.value()
        }
        return reader.output
    }

    /// - Returns: whether it is whole and there is room for more.
    private mutating func value() -> Bool {
        guard let tag = input.byte() else { return false }
        switch tag {
        case 0x00...0x7F: return output.append(number: String(tag))
        case 0xE0...0xFF: return output.append(number: String(Int8(bitPattern: tag)))
        case 0x80...0x8F: return map(UInt64(tag & 0x0F))
        case 0x90...0x9F: return list(UInt64(tag & 0x0F))
        case 0xA0...0xBF: return text(UInt64(tag & 0x1F))
        case 0xC0: return output.append(.word, "null".utf8)
        case 0xC2: return output.append(.word, "false".utf8)
        case 0xC3: return output.append(.word, "true".utf8)
        case 0xC4...0xC6: return bytes(input.number(1 << (tag - 0xC4)))
        case 0xC7...0xC9: return bytes(input.number(1 << (tag - 0xC7)).map { $0 + 1 })
        case 0xD4...0xD8: return bytes(UInt64(1 << (tag - 0xD4)) + 1)
        case 0xCA...0xD3: return number(tag)
        case 0xD9...0xDB: return text(input.number(1 << (tag - 0xD9)))
        case 0xDC, 0xDD: return list(input.number(tag == 0xDC ? 2 : 4))
        case 0xDE, 0xDF: return map(input.number(tag == 0xDE ? 2 : 4))
        default: return false
        }
    }

    private mutating func number(_ tag: UInt8) -> Bool {
        switch tag {
        case 0xCA:
            guard let bits = input.number(4) else { return false }
            return output.append(number: "\(Float(bitPattern: UInt32(bits)))")
        case 0xCB:
            guard let bits = input.number(8) else { return false }
            return output.append(number: "\(Double(bitPattern: bits))")
        case 0xCC...0xCF:
            return input.number(1 << (tag - 0xCC)).map { output.append(number: "\($0)") } ?? false
        default:
            let size = 1 << (tag - 0xD0)
            guard let bits = input.number(size) else { return false }
            // The sign moves up to the top and back.
            let shift = 64 - size * 8
            return output.append(number: "\(Int64(bitPattern: bits << shift) >> shift)")
        }
    }

    private mutating func text(_ count: UInt64?) -> Bool {
        count.flatMap { input.bytes($0) }.map { output.append(text: $0) } ?? false
    }

    private mutating func bytes(_ count: UInt64?) -> Bool {
        count.flatMap { input.bytes($0) }.map { output.append(.bytes, $0) } ?? false
    }

    private mutating func list(_ count: UInt64?) -> Bool {
        guard let count else { return false }
        return inside(ContentValues.element) { reader in
            for _ in 0..<count { guard reader.value() else { return false } }
            return true
        }
    }

    private mutating func map(_ count: UInt64?) -> Bool {
        guard let count else { return false }
        for _ in 0..<count {
            guard let name = name(), inside(name, { $0.value() }) else { return false }
        }
        return true
    }

    /// A key: a text or a number; lists and maps are none here.
    private mutating func name() -> [UInt8]? {
        guard let tag = input.rest.first, !(0x80...0x9F ~= tag), !(0xDC...0xDF ~= tag) else {
            return nil
        }
        var reader = MessagePackReader(input.rest)
        guard reader.value() else { return nil }
        input = reader.input
        return reader.output.values.first?.bytes
    }

    private mutating func inside(
        _ name: [UInt8], _ read: (inout MessagePackReader) -> Bool
    ) -> Bool {
        guard output.enter(name) else { return false }
        defer { output.leave() }
        return read(&self)
    }
}
