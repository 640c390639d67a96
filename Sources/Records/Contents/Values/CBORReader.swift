internal import Base

/// Takes CBOR apart (RFC 8949): the values of all items in a row.
package struct CBORReader {
    private var input: ContentInput
    private var output = ContentValues()

    private init(_ bytes: ArraySlice<UInt8>) { input = ContentInput(bytes) }

    package static func read(_ bytes: ArraySlice<UInt8>) -> ContentValues {
        var reader = CBORReader(bytes)
        while reader.output.isWhole, !reader.input.isAtEnd { reader.output.isWhole = reader.item() }
        return reader.output
    }

    /// - Returns: whether it is whole and there is room for more.
    private mutating func item() -> Bool {
        var head = head()
        // Tags say what an item is for; a row of them is no depth.
        while head?.major == 6 { head = self.head() }
        guard let head else { return false }
        switch head.major {
        case 0: return head.argument.map { output.append(number: "\($0)") } ?? false
        case 1: return head.argument.map { output.append(number: Self.negative($0)) } ?? false
        case 2: return string(head).map { output.append(.bytes, $0) } ?? false
        case 3: return string(head).map { output.append(text: $0[...]) } ?? false
        case 4: return list(head.argument)
        case 5: return map(head.argument)
        default: return simple(head)
        }
    }

    private struct Head {
        let major: UInt8
        let information: UInt8
        /// `nil` for what ends with a break.
        let argument: UInt64?
    }

    /// `nil` if there is no more, or no such head.
    private mutating func head() -> Head? {
        guard let byte = input.byte() else { return nil }
        let (major, information) = (byte >> 5, byte & 0x1F)
        switch information {
        case 0..<24:
            return Head(major: major, information: information, argument: UInt64(information))
        case 24...27:
            guard let argument = input.number(1 << (information - 24)) else { return nil }
            return Head(major: major, information: information, argument: argument)
        case 31 where (2...5).contains(major):
            return Head(major: major, information: information, argument: nil)
        default: return nil
        }
    }

    private static func negative(_ argument: UInt64) -> String {
        argument == .max ? "-18446744073709551616" : "-\(argument + 1)"
    }

    /// The bytes of a string, its chunks in one piece; what is past the limit is passed over.
    private mutating func string(_ head: Head) -> [UInt8]? {
        if let count = head.argument {
            return input.bytes(count).map { Array($0.prefix(output.byteLimit)) }
        }
        var result: [UInt8] = []
        while input.rest.first != Self.stop {
            guard let chunk = self.head(), chunk.major == head.major, let count = chunk.argument,
                let bytes = input.bytes(count)
            else { return nil }
            result += bytes.prefix(output.byteLimit - result.count)
        }
        _ = input.byte()
        return result
    }

    private mutating func list(_ count: UInt64?) -> Bool {
        guard output.enter(ContentValues.element) else { return false }
        defer { output.leave() }
        return repeated(count) { $0.item() }
    }

    private mutating func map(_ count: UInt64?) -> Bool {
        repeated(count) { reader in
            guard let name = reader.name(), reader.output.enter(name) else { return false }
            defer { reader.output.leave() }
            return reader.item()
        }
    }

    private mutating func repeated(
        _ count: UInt64?, _ read: (inout CBORReader) -> Bool
    ) -> Bool {
        var left = count ?? .max
        while left > 0 {
            if count == nil, input.rest.first == Self.stop {
                _ = input.byte()
                return true
            }
            guard read(&self) else { return false }
            left -= 1
        }
        return true
    }

    /// A key: a text, some bytes or a number; others are none here.
    private mutating func name() -> [UInt8]? {
        guard let head = head() else { return nil }
        switch head.major {
        case 0: return head.argument.map { Array("\($0)".utf8) }
        case 1: return head.argument.map { Array(Self.negative($0).utf8) }
        case 2, 3: return string(head)
        default: return nil
        }
    }

    /// Words and floating-point numbers (RFC 8949 §3.3).
    private mutating func simple(_ head: Head) -> Bool {
        guard let bits = head.argument else { return false }
        switch head.information {
        case 20: return output.append(.word, "false".utf8)
        case 21: return output.append(.word, "true".utf8)
        case 22, 23: return output.append(.word, "null".utf8)
        case 25: return output.append(number: "\(Self.half(UInt16(bits)))")
        case 26: return output.append(number: "\(Float(bitPattern: UInt32(bits)))")
        case 27: return output.append(number: "\(Double(bitPattern: bits))")
        default: return output.append(.word, "simple".utf8)
        }
    }

    /// A number of half precision (RFC 8949 appendix D).
    private static func half(_ bits: UInt16) -> Double {
        let exponent = Int(bits >> 10 & 0x1F)
        let mantissa = Double(bits & 0x3FF)
        let size: Double =
            switch exponent {
            case 0: mantissa * 0x1p-24
            case 31: mantissa == 0 ? .infinity : .nan
            default:
                (mantissa + 1024) * Double(sign: .plus, exponent: exponent - 25, significand: 1)
            }
        return bits & 0x8000 == 0 ? size : -size
    }

    private static let stop: UInt8 = 0xFF
}
