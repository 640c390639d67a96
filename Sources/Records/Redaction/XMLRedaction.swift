internal import Base
internal import Contents
internal import HTTPModel

/// Masks in XML what stands in elements and attributes whose names are those of secrets, and in
/// those that follow such a name, as in property lists and XML-RPC; malformed texts too, as far as
/// they go.
struct XMLRedaction {
    private let text: [UInt8]
    private var result: [UInt8] = []
    /// The element in which all is secret, and how many of its name are open; nothing but its end
    /// tag ends the secrecy, whatever stands inside.
    private var secret: (name: ArraySlice<UInt8>, depth: Int)?
    /// What came so far of the text of an element that names its neighbour; `nil` outside of one.
    private var given: [UInt8]?
    /// Whether the element before named the next one as a secret.
    private var isNextSecret = false

    static func redact(_ text: [UInt8]) -> [UInt8] {
        var redaction = XMLRedaction(text)
        var tokens = MarkupTokenizer(text)
        while let token = tokens.next() { redaction.take(token) }
        return redaction.result
    }

    private init(_ text: [UInt8]) { self.text = text }

    private mutating func take(_ token: MarkupToken) {
        switch token.kind {
        case .text, .section:
            let characters = text[token.content]
            if let count = given?.count { given? += characters.prefix(Self.nameLimit - count) }
            append(token)
        case .comment, .instruction, .declaration: append(token)
        case .startTag: open(token)
        case .endTag:
            close(text[token.content])
            result += text[token.range]
        }
    }

    /// Appends a token, masked if all is secret where it stands.
    private mutating func append(_ token: MarkupToken) {
        let isBlank = text[token.content].allSatisfy { $0 <= 0x20 }
        append(token.range, masking: secret != nil && !isBlank ? [token.content] : [])
    }

    private mutating func append(_ range: Range<Int>, masking places: [Range<Int>]) {
        var copied = range.lowerBound
        for place in places {
            result += text[copied..<place.lowerBound]
            result += redactionMark
            copied = place.upperBound
        }
        result += text[copied..<range.upperBound]
    }

    private mutating func close(_ name: ArraySlice<UInt8>) {
        if let open = secret, open.name == name {
            secret = open.depth > 1 ? (name, open.depth - 1) : nil
        }
        isNextSecret = given.map { SecretName.isField($0[...].trimmingWhitespace) } ?? false
        given = nil
    }

    private mutating func open(_ tag: MarkupToken) {
        let name = text[tag.content]
        let isNamed = tag.attributes.contains { attribute in
            guard let value = attribute.value else { return false }
            return Self.names(text[attribute.name], Self.givingNames)
                && SecretName.isField(text[value])
        }
        let isSecret = isNextSecret || isNamed || SecretName.isField(name.localName)
        append(tag.range, masking: tag.attributes.compactMap { masked($0, isSecret) })
        isNextSecret = false
        given = !tag.isEmpty && Self.names(name.localName, Self.givingNames) ? [] : nil
        guard !tag.isEmpty else { return }
        if let open = secret {
            if open.name == name { secret = (name, open.depth + 1) }
        } else if isSecret {
            secret = (name, 1)
        }
    }

    /// Where the value of an attribute is masked, `nil` if it is shown.
    private func masked(_ attribute: MarkupToken.Attribute, _ isSecret: Bool) -> Range<Int>? {
        let name = text[attribute.name]
        let isMasked =
            SecretName.isField(name)
            || isSecret && Self.names(name.localName, Self.valueNames)
            || secret != nil && !Self.names(name.localName, Self.harmlessNames)
                && !name.starts(with: "xmlns".utf8)
        return isMasked ? attribute.value.flatMap { $0.isEmpty ? nil : $0 } : nil
    }

    private static func names(_ name: ArraySlice<UInt8>, _ known: [StaticString]) -> Bool {
        known.contains { name.equalsIgnoringCase($0) }
    }

    /// Elements and attributes that say what the next element, or their own, holds.
    private static let givingNames: [StaticString] = ["name", "key"]
    /// Attributes that hold what others have as their content.
    private static let valueNames: [StaticString] = ["value", "content", "data", "text"]
    /// Attributes that say nothing of the content that they stand beside.
    private static let harmlessNames: [StaticString] = ["type", "nil", "name"]
    /// No name is longer, in bytes.
    private static let nameLimit = 256
}

extension ArraySlice<UInt8> {
    /// Without its namespace.
    fileprivate var localName: ArraySlice<UInt8> {
        lastIndex(of: UInt8(ascii: ":")).map { self[($0 + 1)...] } ?? self
    }
}
