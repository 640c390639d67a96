internal import Base
internal import Contents

/// Reads the tokens of one JSON document that comes in pieces (RFC 8259, strictly; a byte order
/// mark before it is passed over).
///
/// It holds the string that it is in, up to `stringByteLimit`, and nothing else.
struct JSONTokenReader {
    enum Token: Equatable {
        case beginObject
        case endObject
        case beginArray
        case endArray
        case name([UInt8])
        case string([UInt8])
        /// A string that was longer than the limit.
        case excess
        case number([UInt8])
        case boolean(Bool)
        case null
    }

    private enum Expectation {
        case start, value, valueOrEnd, nameOrEnd, name, colon, commaOrEnd, end
    }

    private struct OpenString {
        let isName: Bool
        var content: [UInt8] = []
        var isCut = false
    }

    private let stringByteLimit: Int
    private var input: [UInt8] = []
    private var position = 0
    /// Of the first byte of `input`.
    private var inputOffset: Int64 = 0
    private var isFinished = false
    private var isArray: [Bool] = []
    private var expectation = Expectation.start
    private var string: OpenString?

    init(stringByteLimit: Int) {
        self.stringByteLimit = stringByteLimit
    }

    /// Where the next byte to look at stands.
    var offset: Int64 { inputOffset + Int64(position) }

    mutating func append(_ bytes: [UInt8]) {
        inputOffset += Int64(position)
        if position == input.count {
            input = bytes
        } else {
            input.removeFirst(position)
            input += bytes
        }
        position = 0
    }

    /// Tells that no more comes.
    mutating func finish() { isFinished = true }

    /// Returns the next token; `nil` if more input is needed, or the document is over.
    mutating func next() throws(JSONViolation) -> Token? {
        while true {
            if string != nil {
                guard let token = try readString() else { return try starve() }
                return token
            }
            if expectation == .start, try !passMark() { return try starve() }
            skipSpace()
            guard position < input.count else {
                return expectation == .end ? nil : try starve()
            }
            if let token = try step(input[position]) { return token }
            if isStarved { return try starve() }
        }
    }

    /// Whether a scalar is cut by the end of what is there.
    private var isStarved = false

    private mutating func starve() throws(JSONViolation) -> Token? {
        isStarved = false
        guard isFinished else { return nil }
        throw JSONViolation(kind: .ended, offset: inputOffset + Int64(input.count))
    }

    /// Passes a byte order mark over; false if that cannot be told yet.
    private mutating func passMark() throws(JSONViolation) -> Bool {
        guard input.first == 0xEF else {
            if !input.isEmpty { expectation = .value }
            return !input.isEmpty
        }
        guard input.count >= 3 else { return false }
        if input[1] == 0xBB, input[2] == 0xBF { position = 3 }
        expectation = .value
        return true
    }

    private mutating func step(_ byte: UInt8) throws(JSONViolation) -> Token? {
        switch (expectation, byte) {
        case (.valueOrEnd, 0x5D): return close(.endArray)
        case (.nameOrEnd, 0x7D): return close(.endObject)
        case (.commaOrEnd, 0x5D) where isArray.last == true: return close(.endArray)
        case (.commaOrEnd, 0x7D) where isArray.last == false: return close(.endObject)
        case (.commaOrEnd, 0x2C):
            position += 1
            expectation = isArray.last == true ? .value : .name
        case (.colon, 0x3A):
            position += 1
            expectation = .value
        case (.nameOrEnd, 0x22), (.name, 0x22):
            position += 1
            string = OpenString(isName: true)
        case (.value, _), (.valueOrEnd, _):
            return try beginValue(byte)
        default:
            throw violation(.unexpectedByte)
        }
        return nil
    }

    private mutating func beginValue(_ byte: UInt8) throws(JSONViolation) -> Token? {
        switch byte {
        case 0x7B, 0x5B:
            guard isArray.count < Self.depthLimit else { throw violation(.tooDeep) }
            position += 1
            isArray.append(byte == 0x5B)
            expectation = byte == 0x5B ? .valueOrEnd : .nameOrEnd
            return byte == 0x5B ? .beginArray : .beginObject
        case 0x22:
            position += 1
            string = OpenString(isName: false)
            return nil
        default:
            return try readScalar()
        }
    }

    private mutating func close(_ token: Token) -> Token {
        position += 1
        isArray.removeLast()
        expectation = isArray.isEmpty ? .end : .commaOrEnd
        return token
    }

    private mutating func skipSpace() {
        while position < input.count, [0x20, 0x09, 0x0A, 0x0D].contains(input[position]) {
            position += 1
        }
    }

    /// Reads a number or a word, which has to be there with the byte after it.
    private mutating func readScalar() throws(JSONViolation) -> Token? {
        var end = position
        while end < input.count, input[end].isScalarByte, end - position <= Self.scalarLimit {
            end += 1
        }
        // Only a document that is a scalar itself may end with one.
        if end == input.count, !isFinished || !isArray.isEmpty {
            isStarved = true
            return nil
        }
        let text = Array(input[position..<end])
        let token: Token
        switch text.text {
        case "true": token = .boolean(true)
        case "false": token = .boolean(false)
        case "null": token = .null
        case let word:
            guard text.isNumber, Double(word) != nil else {
                throw violation(text.isEmpty ? .unexpectedByte : .badScalar)
            }
            token = .number(text)
        }
        position = end
        expectation = isArray.isEmpty ? .end : .commaOrEnd
        return token
    }

    private func violation(_ kind: JSONViolation.Kind) -> JSONViolation {
        JSONViolation(kind: kind, offset: offset)
    }

    // MARK: Strings

    /// Goes on with the open string; `nil` if it does not end in what is there.
    private mutating func readString() throws(JSONViolation) -> Token? {
        guard var open = string.take() else { return nil }
        while position < input.count {
            let start = position
            position = input.span.endOfPlainText(from: position)
            add(start..<position, to: &open)
            guard position < input.count else { break }
            switch input[position] {
            case 0x22:
                position += 1
                return end(open)
            case 0x5C:
                guard let character = try readEscape() else {
                    string = open
                    return nil
                }
                if open.content.count + character.count <= limit(of: open) {
                    open.content += character
                } else {
                    open.isCut = true
                }
            default: throw violation(.controlCharacter)
            }
        }
        string = open
        return nil
    }

    private func limit(of open: OpenString) -> Int {
        open.isName ? Self.nameLimit : stringByteLimit
    }

    private func add(_ range: Range<Int>, to open: inout OpenString) {
        let room = limit(of: open) - open.content.count
        if range.count > room { open.isCut = true }
        open.content += input[range.lowerBound..<(range.lowerBound + min(room, range.count))]
    }

    private mutating func end(_ open: OpenString) -> Token {
        if open.isName {
            expectation = .colon
            return .name(open.content)
        }
        expectation = isArray.isEmpty ? .end : .commaOrEnd
        return open.isCut ? .excess : .string(open.content)
    }

    /// Reads what a backslash begins, as UTF-8; half of a surrogate pair becomes U+FFFD.
    ///
    /// - Returns: `nil` if more input is needed.
    private mutating func readEscape() throws(JSONViolation) -> [UInt8]? {
        let left = input.count - position
        guard left >= 2 else { return nil }
        if let byte = Self.escapes[input[position + 1]] {
            position += 2
            return [byte]
        }
        guard input[position + 1] == 0x75 else { throw violation(.badEscape) }
        guard left >= 6 else { return nil }
        guard let unit = unit(at: position + 2) else { throw violation(.badEscape) }
        guard 0xD800..<0xDC00 ~= unit else {
            position += 6
            return Array(String(Character(Unicode.Scalar(unit) ?? "\u{FFFD}")).utf8)
        }
        let isAlone =
            left >= 7 && input[position + 6] != 0x5C
            || left >= 8 && input[position + 7] != 0x75
        guard isAlone || left >= 12 else { return nil }
        let low = isAlone ? nil : self.unit(at: position + 8)
        position += 6
        guard let low, 0xDC00..<0xE000 ~= low else { return Array("\u{FFFD}".utf8) }
        position += 6
        let code = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
        return Array(String(Character(Unicode.Scalar(code) ?? "\u{FFFD}")).utf8)
    }

    private func unit(at start: Int) -> UInt32? {
        var code: UInt32 = 0
        for index in start..<start + 4 {
            guard let digit = input[index].hexDigitValue else { return nil }
            code = code << 4 | UInt32(digit)
        }
        return code
    }

    private static let escapes: [UInt8: UInt8] = [
        0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D,
        0x74: 0x09,
    ]
    /// How deep arrays and objects may nest: no HAR nests deeper than ten.
    private static let depthLimit = 128
    /// In bytes: a longer name is cut.
    private static let nameLimit = 1024
    private static let scalarLimit = 128
}

extension Span<UInt8> {
    /// Where the first quote, backslash or control character stands, or the end.
    fileprivate func endOfPlainText(from start: Int) -> Int {
        var index = start
        while index < count, self[index] >= 0x20, self[index] != 0x22, self[index] != 0x5C {
            index &+= 1
        }
        return index
    }
}

extension UInt8 {
    /// Whether it may stand in a number or a word.
    fileprivate var isScalarByte: Bool {
        isASCIILetter || isASCIIDigit || self == 0x2B || self == 0x2D || self == 0x2E
    }
}

extension [UInt8] {
    /// Whether it is a number of JSON (RFC 8259 §6).
    fileprivate var isNumber: Bool {
        var rest = self[...]
        if rest.first == 0x2D { rest.removeFirst() }
        let whole = rest.prefix(while: \.isASCIIDigit)
        guard !whole.isEmpty, whole.count == 1 || whole.first != 0x30 else { return false }
        rest = rest[whole.endIndex...]
        if rest.first == 0x2E {
            let fraction = rest.dropFirst().prefix(while: \.isASCIIDigit)
            guard !fraction.isEmpty else { return false }
            rest = rest[fraction.endIndex...]
        }
        guard let mark = rest.first else { return true }
        guard mark | 0x20 == 0x65 else { return false }
        rest.removeFirst()
        if rest.first == 0x2B || rest.first == 0x2D { rest.removeFirst() }
        return !rest.isEmpty && rest.allSatisfy(\.isASCIIDigit)
    }
}
