internal import Base

/// A piece of JSON text, by its place.
package struct JSONToken: Sendable {
    package enum Kind: Sendable {
        case beginObject, endObject, beginArray, endArray
        /// Of a member.
        case name
        case string, number, `true`, `false`, null
    }

    package enum Spelling: Sendable {
        /// As all that are equal to it: printable ASCII without escapes, a number in its shortest
        /// form.
        case plain
        /// In another way of the grammar, without escapes.
        case regular
        /// A string with escapes; a number that the grammar does not have, such as `01`.
        case odd
    }

    package let kind: Kind
    /// Its bytes; those of a string without the quotes.
    package let content: Range<Int>
    package let spelling: Spelling
    /// Whether a string ends with it; the rest comes in another token of its kind, if at all.
    package let isWhole: Bool

    init(
        _ kind: Kind, _ content: Range<Int>, _ spelling: Spelling = .plain, isWhole: Bool = true
    ) {
        self.kind = kind
        self.content = content
        self.spelling = spelling
        self.isWhole = isWhole
    }

    /// Its bytes, with the quotes of a string, as far as they are there; for what is no later piece
    /// of a string.
    package var range: Range<Int> {
        guard kind == .string || kind == .name else { return content }
        return content.lowerBound - 1..<content.upperBound + (isWhole ? 1 : 0)
    }

    /// Whether it is `true`, `false` or `null`.
    package var isWord: Bool { kind == .true || kind == .false || kind == .null }

    /// What it stands for: a string without its escapes, anything else as it is spelled.
    package func text(in bytes: [UInt8]) -> [UInt8] {
        let text = bytes[content]
        guard spelling == .odd, kind != .number else { return Array(text) }
        return JSONEscapes.undo(in: text) ?? Array(text)
    }

    /// Whether it is no number that cannot be one; some writers write more than the grammar has.
    package func isKnown(in bytes: [UInt8]) -> Bool {
        kind != .number || spelling != .odd || JSONNumber.isKnown(Array(bytes[content]))
    }
}
