internal import Base
internal import Contents
internal import HTTPModel

/// Masks in XML what stands in elements and attributes whose names are those of secrets, and in
/// those that follow such a name, as in property lists and XML-RPC; malformed texts too, as far as
/// they go.
struct XMLRedaction {
    private let text: [UInt8]
    private var index = 0
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
        while redaction.index < text.count { redaction.step() }
        return redaction.result
    }

    private init(_ text: [UInt8]) { self.text = text }

    private mutating func step() {
        let rest = text[index...]
        if rest.first != less {
            take(rest.prefix { $0 != less })
        } else if rest.starts(with: section) {
            take(from: section, to: sectionEnd) { $0.take($1) }
        } else if rest.starts(with: comment) {
            take(from: comment, to: commentEnd) { $0.append($1) }
        } else if rest.starts(with: instruction) {
            take(from: instruction, to: instructionEnd) { $0.append($1) }
        } else {
            takeTag(text[index..<tagEnd()])
        }
    }

    /// Takes what stands between two signs.
    private mutating func take(
        from start: [UInt8], to end: [UInt8],
        _ takeInside: (inout XMLRedaction, ArraySlice<UInt8>) -> Void
    ) {
        let inside = index + start.count
        let stop = place(of: end, from: inside) ?? text.count
        result += start
        takeInside(&self, text[inside..<stop])
        index = min(stop + end.count, text.count)
        result += text[stop..<index]
    }

    private mutating func take(_ characters: ArraySlice<UInt8>) {
        if let count = given?.count { given? += characters.prefix(Self.nameLimit - count) }
        append(characters)
        index = characters.endIndex
    }

    private mutating func append(_ characters: ArraySlice<UInt8>) {
        let isBlank = characters.allSatisfy { $0 <= 0x20 }
        result += secret != nil && !isBlank ? redactionMark[...] : characters
    }

    private mutating func takeTag(_ tag: ArraySlice<UInt8>) {
        defer { index = tag.endIndex }
        let isEnd = tag.dropFirst().first == slash
        let name = tag.dropFirst(isEnd ? 2 : 1).prefix { $0 > 0x20 && $0 != greater && $0 != slash }
        if isEnd {
            close(name)
            result += tag
        } else if name.first == UInt8(ascii: "!") {
            append(tag)
        } else {
            open(tag, name)
        }
    }

    private mutating func close(_ name: ArraySlice<UInt8>) {
        if let open = secret, open.name == name {
            secret = open.depth > 1 ? (name, open.depth - 1) : nil
        }
        isNextSecret = given.map { SecretName.isField($0[...].trimmingWhitespace) } ?? false
        given = nil
    }

    private mutating func open(_ tag: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) {
        let attributes = Self.attributes(of: tag)
        let local = name.localName
        let isNamed = attributes.contains {
            Self.names($0.name, Self.givingNames) && SecretName.isField(text[$0.value])
        }
        let isSecret = isNextSecret || isNamed || SecretName.isField(local)
        appendTag(tag, attributes, isSecret: isSecret)
        isNextSecret = false
        let isEmpty = tag.dropLast().last == slash
        given = !isEmpty && Self.names(local, Self.givingNames) ? [] : nil
        guard !isEmpty else { return }
        if let open = secret {
            if open.name == name { secret = (name, open.depth + 1) }
        } else if isSecret {
            secret = (name, 1)
        }
    }

    /// Appends a tag with the values of secret attributes masked.
    private mutating func appendTag(
        _ tag: ArraySlice<UInt8>, _ attributes: [Attribute], isSecret: Bool
    ) {
        var copied = tag.startIndex
        for attribute in attributes where !attribute.value.isEmpty {
            let name = attribute.name
            let isMasked =
                SecretName.isField(name)
                || isSecret && Self.names(name.localName, Self.valueNames)
                || secret != nil && !Self.names(name.localName, Self.harmlessNames)
                    && !name.starts(with: "xmlns".utf8)
            guard isMasked else { continue }
            result += text[copied..<attribute.value.lowerBound]
            result += redactionMark
            copied = attribute.value.upperBound
        }
        result += text[copied..<tag.endIndex]
    }

    private struct Attribute {
        let name: ArraySlice<UInt8>
        let value: Range<Int>
    }

    private static func attributes(of tag: ArraySlice<UInt8>) -> [Attribute] {
        var attributes: [Attribute] = []
        var rest = tag
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let before = rest[..<equals].trimmingWhitespace
            let name = before.suffix(while: { $0 > 0x20 && $0 != less })
            let quote = rest[(equals + 1)...].firstIndex { $0 > 0x20 } ?? rest.endIndex
            guard quote < rest.endIndex, [0x22, 0x27].contains(rest[quote]),
                let end = rest[(quote + 1)...].firstIndex(of: rest[quote])
            else { break }
            attributes.append(Attribute(name: name, value: quote + 1..<end))
            rest = rest[(end + 1)...]
        }
        return attributes
    }

    private static func names(_ name: ArraySlice<UInt8>, _ known: [StaticString]) -> Bool {
        known.contains { name.equalsIgnoringCase($0) }
    }

    /// Behind the sign that ends a tag, which may stand in a quoted value as well.
    private func tagEnd() -> Int {
        var quote: UInt8?
        var index = index
        while index < text.count {
            let byte = text[index]
            index += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == greater {
                return index
            } else if byte == 0x22 || byte == 0x27 {
                quote = byte
            }
        }
        return index
    }

    private func place(of mark: [UInt8], from start: Int) -> Int? {
        var index = start
        while let found = text[index...].firstIndex(of: mark[0]) {
            if text[found...].starts(with: mark) { return found }
            index = found + 1
        }
        return nil
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

private let less = UInt8(ascii: "<")
private let greater = UInt8(ascii: ">")
private let slash = UInt8(ascii: "/")
private let section = Array("<![CDATA[".utf8)
private let sectionEnd = Array("]]>".utf8)
private let comment = Array("<!--".utf8)
private let commentEnd = Array("-->".utf8)
private let instruction = Array("<?".utf8)
private let instructionEnd = Array("?>".utf8)

extension ArraySlice<UInt8> {
    /// Without its namespace.
    fileprivate var localName: ArraySlice<UInt8> {
        lastIndex(of: UInt8(ascii: ":")).map { self[($0 + 1)...] } ?? self
    }

    fileprivate func suffix(while belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = lastIndex { !belongs($0) }.map { $0 + 1 } ?? startIndex
        return self[start...]
    }
}
