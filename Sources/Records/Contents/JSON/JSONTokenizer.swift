internal import Base

/// Takes JSON text (RFC 8259) apart, token by token: the one reader of JSON.
///
/// Tokens are places in the bytes; nothing is decoded. The bytes may be whole, cut at their end, or
/// still to come: what cannot be told yet is not passed over, except for a string, which comes in
/// pieces, so that nobody has to hold one to its end.
package struct JSONTokenizer: Sendable {
    private enum Expectation {
        case start, lineEnd, value, valueOrEnd, nameOrEnd, name, colon, commaOrEnd, end
    }

    /// Where the next byte to look at stands.
    package private(set) var position = 0
    /// Whether no bytes come behind those that are there.
    package var isFinal: Bool
    private let depthLimit: Int
    private let isSequence: Bool
    private var nesting = Nesting()
    private var expectation = Expectation.start
    private var openString: JSONToken.Kind?
    private var hasValue = false

    /// - Parameters:
    ///   - depthLimit: how deep arrays and objects may nest.
    ///   - isSequence: whether values may follow one another (JSON Lines; RFC 7464), behind the
    ///     line with which some APIs keep their answers from being run as a script.
    ///   - isFinal: false if more bytes come.
    package init(depthLimit: Int, isSequence: Bool = false, isFinal: Bool = true) {
        self.depthLimit = depthLimit
        self.isSequence = isSequence
        self.isFinal = isFinal
    }

    /// Whether a text begins as an array or an object does, which little else does.
    package static func mayBegin(_ text: ArraySlice<UInt8>) -> Bool {
        let hasMark = text.first == 0xEF && text.starts(with: [0xEF, 0xBB, 0xBF])
        let first = (hasMark ? text.dropFirst(3) : text).first { $0 > 0x20 }
        return first == 0x7B || first == 0x5B
    }

    /// Whether all values that were begun have ended, and there was one.
    package var isComplete: Bool { hasValue && nesting.depth == 0 && openString == nil }

    /// Tells that the bytes up to `position` were taken away.
    package mutating func rebase() { position = 0 }

    /// Returns the next token; `nil` where the bytes end, or none can be told before more come.
    package mutating func next(in bytes: Span<UInt8>) throws(JSONViolation) -> JSONToken? {
        if let kind = openString {
            return try readString(bytes, kind, from: position, isContinued: true)
        }
        if expectation == .start, !passPrefix(bytes) { return nil }
        if expectation == .lineEnd, !passLine(bytes) { return nil }
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case 0x20, 0x0A, 0x0D, 0x09: break
            case 0x2C where expectation == .commaOrEnd:
                expectation = nesting.isInArray ? .value : .name
            case 0x3A where expectation == .colon: expectation = .value
            // The separator of JSON text sequences (RFC 7464 §2.2).
            case 0x1E where isSequence: break
            default: return try readToken(byte, bytes)
            }
            position += 1
        }
        return nil
    }

    private mutating func readToken(
        _ byte: UInt8, _ bytes: Span<UInt8>
    ) throws(JSONViolation) -> JSONToken? {
        switch (expectation, byte) {
        case (.nameOrEnd, 0x22), (.name, 0x22):
            return try readString(bytes, .name, from: position + 1)
        case (.nameOrEnd, 0x7D): return close(.endObject)
        case (.commaOrEnd, 0x7D) where !nesting.isInArray: return close(.endObject)
        case (.commaOrEnd, 0x5D) where nesting.isInArray: return close(.endArray)
        case (.valueOrEnd, 0x5D): return close(.endArray)
        case (.value, _), (.valueOrEnd, _): return try readValue(byte, bytes)
        default: throw violation(.unexpectedByte)
        }
    }

    private mutating func readValue(
        _ byte: UInt8, _ bytes: Span<UInt8>
    ) throws(JSONViolation) -> JSONToken? {
        switch byte {
        case 0x7B, 0x5B: return try open(isArray: byte == 0x5B)
        case 0x22: return try readString(bytes, .string, from: position + 1)
        case 0x2D, 0x30...0x39: return readNumber(bytes)
        case 0x74: return try readWord(Self.words.true, .true, bytes)
        case 0x66: return try readWord(Self.words.false, .false, bytes)
        case 0x6E: return try readWord(Self.words.null, .null, bytes)
        default: throw violation(byte.isASCIILetter ? .badScalar : .unexpectedByte)
        }
    }

    private mutating func open(isArray opensArray: Bool) throws(JSONViolation) -> JSONToken {
        guard nesting.depth < depthLimit else { throw violation(.tooDeep) }
        nesting.open(isArray: opensArray)
        expectation = opensArray ? .valueOrEnd : .nameOrEnd
        position += 1
        return JSONToken(opensArray ? .beginArray : .beginObject, position - 1..<position)
    }

    private mutating func close(_ kind: JSONToken.Kind) -> JSONToken {
        nesting.close()
        return end(JSONToken(kind, position..<position + 1))
    }

    /// Goes behind a token with which a value ends.
    private mutating func end(_ token: JSONToken) -> JSONToken {
        position = token.range.upperBound
        if nesting.depth == 0 {
            hasValue = true
            expectation = isSequence ? .value : .end
        } else {
            expectation = .commaOrEnd
        }
        return token
    }

    private func violation(_ kind: JSONViolation.Kind, at place: Int? = nil) -> JSONViolation {
        JSONViolation(kind: kind, offset: Int64(place ?? position))
    }
}

// MARK: Between values

extension JSONTokenizer {
    private mutating func passLine(_ bytes: Span<UInt8>) -> Bool {
        while position < bytes.count, bytes[position] != 0x0A { position += 1 }
        if position < bytes.count { expectation = .value }
        return position < bytes.count
    }

    /// Passes a byte order mark over, which no JSON has (RFC 8259 §8.1), and in a sequence the line
    /// with `)]}'`; false if that cannot be told yet.
    private mutating func passPrefix(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 3 || isFinal || bytes.count > 0 && bytes[0] != 0xEF else {
            return false
        }
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
        expectation = .value
        guard isSequence, stands(Self.guardLine, in: bytes) else { return true }
        if bytes.count - position >= Self.guardLine.count {
            expectation = .lineEnd
        } else if !isFinal {
            (position, expectation) = (0, .start)
        }
        return expectation != .start
    }
}

// MARK: Strings

extension JSONTokenizer {
    /// Reads a string up to its end, or to that of the bytes; `nil` if nothing more of it is there.
    private mutating func readString(
        _ bytes: Span<UInt8>, _ kind: JSONToken.Kind, from start: Int, isContinued: Bool = false
    ) throws(JSONViolation) -> JSONToken? {
        var index = start
        var spelling = JSONToken.Spelling.plain
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x22 {
                return endString(JSONToken(kind, start..<index, spelling))
            }
            if byte &- 0x20 < 0x5F, byte != 0x5C {
                index &+= 1
                continue
            }
            guard byte >= 0x20 else { throw violation(.controlCharacter, at: index) }
            if byte == 0x5C {
                guard let length = try escapeLength(bytes, index) else { break }
                spelling = .odd
                index += length
            } else {
                if spelling == .plain { spelling = .regular }
                index &+= 1
            }
        }
        openString = kind
        position = index
        if isContinued, index == start { return nil }
        return JSONToken(kind, start..<index, spelling, isWhole: false)
    }

    private mutating func endString(_ token: JSONToken) -> JSONToken {
        openString = nil
        guard token.kind == .name else { return end(token) }
        position = token.range.upperBound
        expectation = .colon
        return token
    }

    /// How long what a backslash begins is; `nil` if the bytes end before it does, or before it is
    /// told whether the other half of a surrogate pair follows.
    private func escapeLength(
        _ bytes: Span<UInt8>, _ start: Int
    ) throws(JSONViolation) -> Int? {
        guard start + 1 < bytes.count else { return nil }
        switch bytes[start + 1] {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return 2
        case 0x75: break
        default: throw violation(.badEscape, at: start)
        }
        for index in start + 2..<start + 6 {
            guard index < bytes.count else { return nil }
            guard bytes[index].hexDigitValue != nil else {
                throw violation(.badEscape, at: start)
            }
        }
        let isHigh = bytes[start + 2] | 0x20 == 0x64 && 0x38...0x62 ~= bytes[start + 3] | 0x20
        guard isHigh, !isFinal, start + 12 > bytes.count else { return 6 }
        return start + 6 < bytes.count && bytes[start + 6] != 0x5C ? 6 : nil
    }
}

// MARK: Numbers and words

extension JSONTokenizer {
    /// Reads a number; a whole one without zeros in front is plain, and so is a short decimal.
    private mutating func readNumber(_ bytes: Span<UInt8>) -> JSONToken? {
        let start = position
        var index = start
        let isNegative = take(0x2D, bytes, &index)
        let first = index
        var isNumber = skipDigits(bytes, &index)
        let hasZero = isNumber && bytes[first] == 0x30
        var isPlain = !hasZero || index == first + 1 && !isNegative
        var isRegular = !hasZero || index == first + 1
        if isNumber, take(0x2E, bytes, &index) {
            isNumber = skipDigits(bytes, &index)
            // Fifteen digits are the same in every double that is written with them.
            isPlain = !hasZero && index - first <= 16 && bytes[index - 1] != 0x30
        }
        if isNumber, take(0x65, bytes, &index) || take(0x45, bytes, &index) {
            if !take(0x2B, bytes, &index) { _ = take(0x2D, bytes, &index) }
            isNumber = skipDigits(bytes, &index)
            isPlain = false
        }
        isRegular = isRegular && isNumber
        while index < bytes.count, isNumberByte(bytes[index]) {
            isRegular = false
            index += 1
        }
        guard index < bytes.count || isFinal else { return nil }
        let spelling = isRegular && isPlain ? JSONToken.Spelling.plain : isRegular ? .regular : .odd
        return end(JSONToken(.number, start..<index, spelling))
    }

    private func skipDigits(_ bytes: Span<UInt8>, _ index: inout Int) -> Bool {
        let start = index
        while index < bytes.count, bytes[index].isASCIIDigit { index &+= 1 }
        return index > start
    }

    private func take(_ byte: UInt8, _ bytes: Span<UInt8>, _ index: inout Int) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private func isNumberByte(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || byte == 0x2B || byte == 0x2D || byte == 0x2E || byte | 0x20 == 0x65
    }

    private mutating func readWord(
        _ word: [UInt8], _ kind: JSONToken.Kind, _ bytes: Span<UInt8>
    ) throws(JSONViolation) -> JSONToken? {
        guard stands(word, in: bytes) else { throw violation(.badScalar) }
        if bytes.count - position >= word.count {
            return end(JSONToken(kind, position..<position + word.count))
        }
        guard !isFinal else { throw violation(.ended, at: bytes.count) }
        return nil
    }

    /// Whether the bytes go on with a word, as far as they are there.
    private func stands(_ word: [UInt8], in bytes: Span<UInt8>) -> Bool {
        for index in 0..<min(word.count, bytes.count - position)
        where bytes[position + index] != word[index] {
            return false
        }
        return true
    }

    private static let words = (
        true: Array("true".utf8), false: Array("false".utf8), null: Array("null".utf8)
    )
    private static let guardLine = Array(")]}'".utf8)
}

/// Which arrays and objects are open, a bit each.
private struct Nesting {
    private(set) var depth = 0
    private var innermost: UInt64 = 0
    private var outer: [UInt64] = []

    var isInArray: Bool { innermost & 1 == 1 }

    mutating func open(isArray: Bool) {
        if depth > 0, depth.isMultiple(of: 64) { outer.append(innermost) }
        innermost = innermost << 1 | (isArray ? 1 : 0)
        depth += 1
    }

    mutating func close() {
        innermost >>= 1
        depth -= 1
        if depth > 0, depth.isMultiple(of: 64) { innermost = outer.removeLast() }
    }
}
