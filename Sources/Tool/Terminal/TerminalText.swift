internal import Base

/// Text that a terminal shows as it is, measured in its columns.
package enum TerminalText {
    /// Replaces what acts on a reader or a terminal by an escape such as `\u{1b}`.
    package static func sanitized(_ text: String) -> String {
        text.withoutUnseen
    }

    /// How many columns `text` takes; it must be sanitized.
    package static func width(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + width($1) }
    }

    /// The start of `text` that fits into `columns`, with an ellipsis if that is not all.
    package static func truncated(_ text: String, columns: Int) -> String {
        guard width(text) > columns else { return text }
        var result = ""
        var taken = 1
        for character in text {
            taken += width(character)
            if taken > columns { break }
            result.append(character)
        }
        return result + "…"
    }

    /// The start and the end of `text` that fit into `columns`, with an ellipsis between them; of a
    /// URL the query goes first, since the path tells more.
    package static func abridged(_ text: String, columns: Int) -> String {
        guard width(text) > columns else { return text }
        if let query = text.firstIndex(of: "?") {
            let path = String(text[..<query])
            return width(path) < columns
                ? truncated(text, columns: columns) : abridged(path, columns: columns)
        }
        let end = max(0, columns - 1) / 2
        var tail = ""
        var taken = 0
        for character in text.reversed() {
            taken += width(character)
            if taken > end { break }
            tail.insert(character, at: tail.startIndex)
        }
        return truncated(text, columns: columns - width(tail)) + tail
    }

    /// Breaks `text` at spaces into lines of at most `columns`; a longer word has its own line.
    package static func wrapped(_ text: String, columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, width(line) + 1 + width(String(word)) > columns {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    private static func width(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.contains(where: { $0.properties.isEmojiPresentation || $0.value == 0xFE0F }) {
            return 2
        }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return isWide(first.value) ? 2 : 1
        }
    }

    /// East Asian Wide and Fullwidth (Unicode Standard Annex 11), in whole blocks.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
