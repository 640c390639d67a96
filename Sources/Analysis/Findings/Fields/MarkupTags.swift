internal import Base
internal import Contents

/// The start tags of XML or HTML, each with its attributes and the text behind it.
enum MarkupTags {
    struct Tag {
        /// As written.
        let name: [UInt8]
        let attributes: [(name: [UInt8], value: [UInt8])]
        /// Whether it has more attributes than are looked at.
        let isCut: Bool
        /// Up to the next tag, without the white space around it.
        var text: [UInt8] = []

        func attribute(_ name: StaticName) -> [UInt8]? {
            attributes.first { $0.name.lowercasedBytes == name.bytes }?.value
        }
    }

    /// Calls `visit` for each tag until it returns false.
    static func read(_ bytes: [UInt8], isHTML: Bool, _ visit: (Tag) -> Bool) {
        var tokens = MarkupTokenizer(bytes, isHTML: isHTML)
        var open: Tag?
        while let token = tokens.next() {
            switch token.kind {
            case .comment, .instruction, .declaration: continue
            case .text, .section:
                let text = bytes[token.content]
                let plain = token.kind == .text ? CharacterReferences.decoded(text) : Array(text)
                let room = MessageField.valueLimit - (open?.text.count ?? 0)
                open?.text += plain.prefix(room)
            case .startTag, .endTag:
                if let tag = open, !visit(tag.trimmed) { return }
                open = token.kind == .startTag ? Tag(token, in: bytes) : nil
            }
        }
        if let open { _ = visit(open.trimmed) }
    }
}

extension MarkupTags.Tag {
    fileprivate init(_ token: MarkupToken, in bytes: [UInt8]) {
        name = Array(bytes[token.content].prefix(MessageField.valueLimit))
        isCut = token.attributes.count > Self.attributeLimit
        attributes = token.attributes.prefix(Self.attributeLimit).map { attribute in
            let value = attribute.value.map { bytes[$0].prefix(MessageField.valueLimit) } ?? []
            return (Array(bytes[attribute.name]), CharacterReferences.decoded(value))
        }
    }

    fileprivate var trimmed: MarkupTags.Tag {
        var tag = self
        tag.text = text.trimmed
        return tag
    }

    private static var attributeLimit: Int { 64 }
}
