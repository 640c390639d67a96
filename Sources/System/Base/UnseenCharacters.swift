extension Unicode.Scalar {
    /// Whether the character acts on who reads a text, or on their terminal, instead of being seen:
    /// control characters, changes of the writing direction, ends of lines, invisible marks, and what
    /// is no character. Joiners are none, because scripts and emoji need them.
    ///
    /// All that writes recorded text for a reader writes these as numbers.
    package var actsOnReader: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F: true
        case 0xFEFF, 0xFFF9...0xFFFB, 0xFFFE, 0xFFFF, 0xE0000...0xE0FFF: true
        default: false
        }
    }

    /// The number of the character, such as `\u{202e}`.
    package var escape: String { "\\u{" + String(value, radix: 16) + "}" }
}

extension String {
    /// Whether nothing in it acts on a reader, and each byte is a character that is seen, as in nearly
    /// all that is printed. Without number signs, which may: see `withoutUnseen`.
    package var isPlainASCII: Bool { utf8.span.isPlainASCII }

    /// The text with the number of each character that acts on a reader in its place.
    ///
    /// CI runners obey `##[group]` and `##vso[task]` wherever they stand in a line, so that one of
    /// their number signs is such a character.
    package var withoutUnseen: String {
        if isPlainASCII { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.actsOnReader {
                result += scalar.escape
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        for command in ["##[", "##vso["] where result.contains(command) {
            result.replace(command, with: "#\\u{23}" + command.dropFirst(2))
        }
        return result
    }
}

extension Span<UInt8> {
    /// The same of text that is held as bytes.
    package var isPlainASCII: Bool {
        // Without an end at the first, so that the compiler looks at sixteen at once.
        var unseen: UInt8 = 0
        for index in indices { unseen |= unsafe self[unchecked: index].maybeUnseen }
        return unseen == 0
    }
}

extension UInt8 {
    /// 0 for what is plain, else 1.
    fileprivate var maybeUnseen: UInt8 {
        (self &- 0x20 < 0x5F ? 0 : 1) | (self == UInt8(ascii: "#") ? 1 : 0)
    }

    /// Whether a character of UTF-8 that begins with this byte may act on a reader.
    var mayBeginUnseen: Bool {
        switch self {
        case 0x20..<0x7F: false
        case 0..<0x80, 0xC2, 0xD8, 0xE2, 0xEF, 0xF3: true
        default: false
        }
    }
}
