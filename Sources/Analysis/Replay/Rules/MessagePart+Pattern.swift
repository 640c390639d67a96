internal import Base

extension MessagePart {
    /// The pattern for a part. What differs in one element of a list will differ in others, so an
    /// index becomes a star; all else stands for itself.
    package var pattern: MessagePart {
        switch self {
        case .query(let name): .query(Glob.literal(name))
        case .header(let name): .header(Glob.literal(name))
        case .trailer(let name): .trailer(Glob.literal(name))
        case .body(let path): .body(Self.withoutIndices(Glob.literal(path)))
        case .method, .authority, .path, .status: self
        }
    }

    static func withoutIndices(_ path: String) -> String {
        var result: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            result.append(byte)
            guard byte == UInt8(ascii: "[") else { continue }
            let digits = rest.prefix { $0.isASCIIDigit }
            if rest.first == UInt8(ascii: "\"") {
                let length = quotedLength(rest)
                result += rest.prefix(length)
                rest = rest.dropFirst(length)
            } else if !digits.isEmpty, rest[digits.endIndex...].first == UInt8(ascii: "]") {
                result.append(UInt8(ascii: "*"))
                rest = rest[digits.endIndex...]
            }
        }
        return result.text
    }

    /// Of a text in quotes, with both.
    private static func quotedLength(_ text: ArraySlice<UInt8>) -> Int {
        var isEscaped = false
        for (index, byte) in text.enumerated() where index > 0 {
            if byte == UInt8(ascii: "\""), !isEscaped { return index + 1 }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return text.count
    }
}
