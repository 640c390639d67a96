internal import Base
internal import Contents

/// Masks the secrets of JSON text (RFC 8259) and leaves every other byte as it came.
///
/// It reads one value or several in a row (JSON Lines, JSON text sequences). Below a member whose
/// name is secret, every string and number is masked. It keeps its own stack, so that no nesting is
/// too deep, and looks at each byte once.
struct JSONRedaction {
    private struct Level {
        let isObject: Bool
        let isSecret: Bool
        /// Whether a member named `name` or `key` said that `value` holds a secret.
        var hasSecretName = false
    }

    private enum Expectation {
        case value
        case valueOrEnd
        case name
        case nameOrEnd
        case colon
        case commaOrEnd
    }

    private let content: [UInt8]
    private let isWhole: Bool
    private let depth: Int
    private var index = 0
    private var result: [UInt8] = []
    /// Up to where the content is in the result.
    private var copied = 0
    private var levels: [Level] = []
    private var expectation = Expectation.value
    private var hasValue = false
    /// Whether the value that comes next is secret by its name.
    private var isSecret = false
    /// Whether the value that comes next says what the member `value` beside it holds.
    private var isName = false

    /// Returns `nil` if the content is no JSON.
    ///
    /// - Parameters:
    ///   - isWhole: false if the content was cut at its end; a string that was cut is masked.
    ///   - depth: inside of how many other values it was found.
    ///   - isSecret: whether all of it is secret.
    static func redact(
        _ content: [UInt8], isWhole: Bool, depth: Int = 0, isSecret: Bool = false
    ) -> [UInt8]? {
        var reader = JSONRedaction(content, isWhole, depth)
        reader.isSecret = isSecret
        return reader.read() ? reader.result : nil
    }

    private init(_ content: [UInt8], _ isWhole: Bool, _ depth: Int) {
        self.content = content
        self.isWhole = isWhole
        self.depth = depth
    }

    private mutating func read() -> Bool {
        index = prefixLength
        while true {
            while index < content.count, content[index].isJSONSpace { index += 1 }
            guard index < content.count else { break }
            guard take(content[index]) else { return false }
        }
        copy(to: content.count)
        return isWhole ? levels.isEmpty && hasValue : true
    }

    /// What is before the first value: a byte order mark, and the line with which some APIs keep
    /// their answers from being run as a script.
    private var prefixLength: Int {
        var rest = content[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        if rest.starts(with: Array(")]}'".utf8)) { rest = rest.drop { $0 != 0x0A } }
        return rest.startIndex
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        switch (expectation, byte) {
        case (.valueOrEnd, UInt8(ascii: "]")), (.nameOrEnd, UInt8(ascii: "}")):
            close()
        case (.value, _), (.valueOrEnd, _):
            return takeValue(byte)
        case (.name, UInt8(ascii: "\"")), (.nameOrEnd, UInt8(ascii: "\"")):
            guard let name = readString() else { return wasCut }
            isSecret =
                levels.last?.isSecret == true || SecretName.isParameter(name[...])
                || levels.last?.hasSecretName == true && name[...].equalsIgnoringCase("value")
            isName = name[...].equalsIgnoringCase("name") || name[...].equalsIgnoringCase("key")
            expectation = .colon
        case (.colon, UInt8(ascii: ":")):
            index += 1
            expectation = .value
        case (.commaOrEnd, UInt8(ascii: ",")):
            index += 1
            expectation = levels.last?.isObject == true ? .name : .value
        case (.commaOrEnd, UInt8(ascii: "]")) where levels.last?.isObject == false,
            (.commaOrEnd, UInt8(ascii: "}")) where levels.last?.isObject == true:
            close()
        default: return false
        }
        return true
    }

    private mutating func takeValue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "{"): open(isObject: true)
        case UInt8(ascii: "["): open(isObject: false)
        case UInt8(ascii: "\""): return takeString()
        case UInt8(ascii: "-"), 0x30...0x39: takeNumber()
        default: return takeLiteral()
        }
        return true
    }

    private mutating func open(isObject: Bool) {
        levels.append(Level(isObject: isObject, isSecret: isSecret))
        index += 1
        expectation = isObject ? .nameOrEnd : .valueOrEnd
        isName = false
    }

    private mutating func close() {
        levels.removeLast()
        index += 1
        endValue()
    }

    private mutating func endValue() {
        hasValue = true
        expectation = levels.isEmpty ? .value : .commaOrEnd
        // The elements of an array are as secret as the array; a member's name decides anew.
        isSecret = levels.last?.isSecret == true
        isName = false
    }

    private mutating func takeString() -> Bool {
        let start = index
        guard let text = readString() else {
            guard wasCut else { return false }
            // The rest of the string might have told that it is a secret.
            replace(from: start, with: quotedMark)
            return true
        }
        if isName, levels.last?.isObject == true {
            levels[levels.count - 1].hasSecretName = SecretName.isField(text[...])
        }
        if isSecret {
            replace(from: start, with: quotedMark)
        } else if let redacted = ValueRedaction.redact(text, depth: depth) {
            replace(from: start, with: JSONText.bytes(redacted).line)
        }
        endValue()
        return true
    }

    private mutating func takeNumber() {
        let start = index
        while index < content.count, content[index].isJSONNumberByte { index += 1 }
        if isSecret { replace(from: start, with: quotedMark) }
        endValue()
    }

    private mutating func takeLiteral() -> Bool {
        let word = content[index...].prefix { $0.isASCIILetter }
        let isLiteral = literals.contains { literal in
            word.elementsEqual(literal)
                || !isWhole && word.endIndex == content.count && literal.starts(with: word)
                    && !word.isEmpty
        }
        index = word.endIndex
        endValue()
        return isLiteral
    }

    /// Whether the content ended before what was being read.
    private var wasCut: Bool { !isWhole && index == content.count }

    private mutating func copy(to end: Int) {
        result += content[copied..<end]
        copied = end
    }

    /// Writes `text` for what is between `start` and the place that is read.
    private mutating func replace(from start: Int, with text: [UInt8]) {
        copy(to: start)
        result += text
        copied = index
    }

    /// Reads a string and unescapes it; `nil` if it is malformed, or ends with the content.
    private mutating func readString() -> [UInt8]? {
        let start = index + 1
        index = start
        var hasEscape = false
        while index < content.count, content[index] != UInt8(ascii: "\"") {
            guard content[index] >= 0x20 else { return nil }
            if content[index] == UInt8(ascii: "\\") {
                hasEscape = true
                index += 1
            }
            index += 1
        }
        guard index < content.count else {
            index = content.count
            return nil
        }
        let text = content[start..<index]
        index += 1
        return hasEscape ? JSONEscapes.undo(in: text) : Array(text)
    }
}

private let quotedMark = [UInt8(ascii: "\"")] + redactionMark + [UInt8(ascii: "\"")]
private let literals = [Array("true".utf8), Array("false".utf8), Array("null".utf8)]

extension UInt8 {
    /// White space between values, and the separator of JSON text sequences (RFC 7464 §2.2).
    var isJSONSpace: Bool {
        self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D || self == 0x1E
    }

    fileprivate var isJSONNumberByte: Bool {
        isASCIIDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "+")
            || self == UInt8(ascii: ".") || asciiLowercased == UInt8(ascii: "e")
    }
}
