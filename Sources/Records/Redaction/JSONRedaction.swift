internal import Base
internal import Contents

/// Masks the secrets of JSON text (RFC 8259) and leaves every other byte as it came.
///
/// It reads one value or several in a row (JSON Lines, JSON text sequences). Below a member whose
/// name is secret, every string and number is masked. It keeps its own stack, so that no nesting is
/// too deep.
struct JSONRedaction {
    private struct Level {
        let isSecret: Bool
        /// Whether a member named `name` or `key` said that `value` holds a secret.
        var hasSecretName = false
    }

    private let content: [UInt8]
    private let isWhole: Bool
    private let depth: Int
    private var result: [UInt8] = []
    /// Up to where the content is in the result.
    private var copied = 0
    private var levels: [Level] = []
    /// Whether the value that comes next is secret by its name.
    private var isSecret: Bool
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
        var redaction = JSONRedaction(content, isWhole, depth, isSecret)
        do throws(JSONViolation) {
            return try redaction.read() ? redaction.result : nil
        } catch { return nil }
    }

    private init(_ content: [UInt8], _ isWhole: Bool, _ depth: Int, _ isSecret: Bool) {
        self.content = content
        self.isWhole = isWhole
        self.depth = depth
        self.isSecret = isSecret
    }

    /// Returns whether the content is JSON, as far as it is there.
    private mutating func read() throws(JSONViolation) -> Bool {
        // Each level takes two bytes, so that the content is bound enough.
        var tokens = JSONTokenizer(depthLimit: .max, isSequence: true, isFinal: isWhole)
        while let token = try tokens.next(in: content.span) {
            guard token.isWhole else {
                // The rest of the string might have told that it is a secret.
                let start = token.kind == .name ? content.count : token.range.lowerBound
                end(at: start, isMasked: token.kind == .string)
                return !isWhole
            }
            take(token)
        }
        end(at: tokens.position, isMasked: isSecret && tokens.position < content.count)
        return !isWhole || tokens.isComplete
    }

    private mutating func take(_ token: JSONToken) {
        switch token.kind {
        case .beginObject, .beginArray:
            levels.append(Level(isSecret: isSecret))
            isName = false
        case .endObject, .endArray:
            levels.removeLast()
            endValue()
        case .name: take(name: token.text(in: content)[...])
        case .string: take(string: token)
        case .number:
            if isSecret { replace(token.range, with: quotedMark) }
            endValue()
        case .true, .false, .null: endValue()
        }
    }

    private mutating func take(name: ArraySlice<UInt8>) {
        isSecret =
            levels.last?.isSecret == true || SecretName.isParameter(name)
            || levels.last?.hasSecretName == true && name.equalsIgnoringCase("value")
        isName = name.equalsIgnoringCase("name") || name.equalsIgnoringCase("key")
    }

    private mutating func take(string: JSONToken) {
        let text = string.text(in: content)
        if isName {
            levels[levels.count - 1].hasSecretName = SecretName.isField(text[...])
        }
        if isSecret {
            replace(string.range, with: quotedMark)
        } else if let redacted = ValueRedaction.redact(text, depth: depth) {
            replace(string.range, with: JSONText.bytes(redacted).line)
        }
        endValue()
    }

    private mutating func endValue() {
        // The elements of an array are as secret as the array; a member's name decides anew.
        isSecret = levels.last?.isSecret == true
        isName = false
    }

    /// Adds what is left from a value on that was cut, or masks it.
    private mutating func end(at start: Int, isMasked: Bool) {
        if isMasked { replace(start..<content.count, with: quotedMark) }
        result += content[copied...]
    }

    /// Writes `text` for what stands at a place.
    private mutating func replace(_ place: Range<Int>, with text: [UInt8]) {
        result += content[copied..<place.lowerBound]
        result += text
        copied = place.upperBound
    }
}

private let quotedMark = [UInt8(ascii: "\"")] + redactionMark + [UInt8(ascii: "\"")]
