internal import Base
internal import Contents

/// Masks in HTML what fields hold that are for passwords or named for secrets, what links carry, and
/// secrets in scripts; prose stays as it is.
enum HTMLRedaction {
    static func redact(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var tokens = MarkupTokenizer(text, isHTML: true)
        var isScript = false
        while let token = tokens.next() {
            switch token.kind {
            case .startTag:
                isScript = text[token.content].equalsIgnoringCase("script")
                append(token, of: text, to: &result)
            case .text where isScript: result += TextRedaction.redact(Array(text[token.range]))
            default: result += text[token.range]
            }
        }
        return result
    }

    private static func append(
        _ tag: MarkupToken, of text: [UInt8], to result: inout [UInt8]
    ) {
        let isSecret = tag.attributes.contains { attribute in
            guard let value = attribute.value.map({ text[$0] }) else { return false }
            let name = text[attribute.name]
            if name.equalsIgnoringCase("type") { return value.equalsIgnoringCase("password") }
            return (name.equalsIgnoringCase("name") || name.equalsIgnoringCase("id"))
                && SecretName.isField(value)
        }
        var copied = tag.range.lowerBound
        for attribute in tag.attributes {
            guard let place = attribute.value, !place.isEmpty,
                let shown = redacted(text[place], of: text[attribute.name], isSecret)
            else { continue }
            result += text[copied..<place.lowerBound]
            result += shown
            copied = place.upperBound
        }
        result += text[copied..<tag.range.upperBound]
    }

    /// What is shown of an attribute's value, `nil` if that is all.
    private static func redacted(
        _ value: ArraySlice<UInt8>, of name: ArraySlice<UInt8>, _ isSecret: Bool
    ) -> [UInt8]? {
        if isSecret, name.equalsIgnoringCase("value") || name.equalsIgnoringCase("content") {
            return redactionMark
        }
        return ValueRedaction.redact(CharacterReferences.decoded(value), depth: 0)
    }
}
