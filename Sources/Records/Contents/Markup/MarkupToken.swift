/// A piece of XML or HTML, by its place.
package struct MarkupToken: Sendable {
    package enum Kind: Sendable {
        case text
        /// Text between `<![CDATA[` and `]]>`.
        case section
        case comment, instruction, declaration
        case startTag, endTag
    }

    package struct Attribute: Sendable {
        package let name: Range<Int>
        /// Without its quotes; `nil` for a name alone.
        package let value: Range<Int>?
    }

    package let kind: Kind
    /// All of it.
    package let range: Range<Int>
    /// What is between its marks; the name of a tag.
    package let content: Range<Int>
    /// Whether the text did not end before it.
    package let isWhole: Bool
    package internal(set) var attributes: [Attribute] = []
    /// Whether a start tag is that of an empty element: `<a/>`.
    package internal(set) var isEmpty = false

    init(_ kind: Kind, _ range: Range<Int>, content: Range<Int>, isWhole: Bool = true) {
        self.kind = kind
        self.range = range
        self.content = content
        self.isWhole = isWhole
    }
}
