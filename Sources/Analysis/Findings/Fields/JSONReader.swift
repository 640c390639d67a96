internal import Base

/// Reads the scalars of JSON text (RFC 8259), strictly, without recursion and within bounds.
struct JSONReader {
    enum ScalarKind { case string, number, literal }

    private enum Expectation { case value, valueOrEnd, keyOrEnd, key, commaOrEnd, end }

    private let bytes: [UInt8]
    private var index = 0
    private var isArray: [Bool] = []
    private var path: [[UInt8]] = []
    private var expectation = Expectation.value
    private var isStopped = false

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Calls `visit` for each scalar, in order, until it returns false.
    ///
    /// - Returns: whether the text is well-formed and no deeper than `depthLimit`; what came before
    ///   a flaw has been visited.
    @discardableResult
    static func read(
        _ bytes: [UInt8], _ visit: (_ path: [[UInt8]], ScalarKind, _ value: [UInt8]) -> Bool
    ) -> Bool {
        var reader = JSONReader(bytes)
        // A mark that no JSON has (RFC 8259 §8.1), and that servers pass over.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.index = 3 }
        while !reader.isStopped {
            reader.skipSpace()
            guard reader.index < bytes.count else { return reader.expectation == .end }
            guard reader.step(visit) else { return false }
        }
        return true
    }

    private mutating func step(_ visit: ([[UInt8]], ScalarKind, [UInt8]) -> Bool) -> Bool {
        let byte = bytes[index]
        switch (expectation, byte) {
        case (.valueOrEnd, 0x5D), (.keyOrEnd, 0x7D):
            close()
        case (.commaOrEnd, 0x5D):
            guard isArray.last == true else { return false }
            close()
        case (.commaOrEnd, 0x7D):
            guard isArray.last == false else { return false }
            close()
        case (.commaOrEnd, 0x2C):
            index += 1
            expectation = isArray.last == true ? .value : .key
        case (.keyOrEnd, 0x22), (.key, 0x22):
            return readKey()
        case (.value, _), (.valueOrEnd, _):
            return readValue(byte, visit)
        default:
            return false
        }
        return true
    }

    private mutating func readValue(
        _ byte: UInt8, _ visit: ([[UInt8]], ScalarKind, [UInt8]) -> Bool
    ) -> Bool {
        switch byte {
        case 0x7B, 0x5B:
            guard isArray.count < Self.depthLimit else { return false }
            isArray.append(byte == 0x5B)
            path.append(MessageField.anyElement)
            index += 1
            expectation = byte == 0x5B ? .valueOrEnd : .keyOrEnd
            return true
        case 0x22:
            guard let text = readString(limit: MessageField.valueLimit) else { return false }
            isStopped = !visit(path, .string, text)
        case 0x2D, 0x30...0x39:
            isStopped = !visit(
                path, .number, readRun { $0.isASCIIDigit || "+-.eE".utf8.contains($0) })
        default:
            let word = readRun(\.isASCIILetter)
            guard ["true", "false", "null"].contains(word.text) else { return false }
            isStopped = !visit(path, .literal, word)
        }
        expectation = isArray.isEmpty ? .end : .commaOrEnd
        return true
    }

    private mutating func readKey() -> Bool {
        guard let key = readString(limit: Self.keyLimit) else { return false }
        skipSpace()
        guard index < bytes.count, bytes[index] == 0x3A, !path.isEmpty else { return false }
        index += 1
        path[path.count - 1] = key
        expectation = .value
        return true
    }

    private mutating func close() {
        index += 1
        isArray.removeLast()
        path.removeLast()
        expectation = isArray.isEmpty ? .end : .commaOrEnd
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private mutating func readRun(_ belongs: (UInt8) -> Bool) -> [UInt8] {
        var run: [UInt8] = []
        while index < bytes.count, belongs(bytes[index]) {
            if run.count < 64 { run.append(bytes[index]) }
            index += 1
        }
        return run
    }

    /// The string whose opening quote stands at `index`, without its escapes.
    private mutating func readString(limit: Int) -> [UInt8]? {
        index += 1
        var text: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == 0x22 { return text }
            guard byte >= 0x20 else { return nil }
            var piece = [byte]
            if byte == 0x5C {
                guard let unescaped = readEscape() else { return nil }
                piece = unescaped
            }
            if text.count + piece.count <= limit { text += piece }
        }
        return nil
    }

    /// What stands behind a backslash, as UTF-8.
    private mutating func readEscape() -> [UInt8]? {
        guard index < bytes.count else { return nil }
        let byte = bytes[index]
        index += 1
        switch byte {
        case 0x22, 0x5C, 0x2F: return [byte]
        case 0x62: return [0x08]
        case 0x66: return [0x0C]
        case 0x6E: return [0x0A]
        case 0x72: return [0x0D]
        case 0x74: return [0x09]
        case 0x75: break
        default: return nil
        }
        guard let unit = readFourDigits() else { return nil }
        var code = unit
        if (0xD800..<0xDC00).contains(unit), index + 1 < bytes.count, bytes[index] == 0x5C,
            bytes[index + 1] == 0x75
        {
            index += 2
            guard let low = readFourDigits() else { return nil }
            if (0xDC00..<0xE000).contains(low) {
                code = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
            }
        }
        let scalar = Unicode.Scalar(code) ?? "\u{FFFD}"
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func readFourDigits() -> UInt32? {
        guard index + 4 <= bytes.count else { return nil }
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = bytes[index].hexDigitValue else { return nil }
            code = code << 4 | UInt32(digit)
            index += 1
        }
        return code
    }

    static let depthLimit = 64
    private static let keyLimit = 256
}
