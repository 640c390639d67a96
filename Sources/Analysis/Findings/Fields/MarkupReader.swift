internal import Base

/// Reads the start tags of XML or HTML, each with its attributes and the text right behind it.
///
/// A scanner and no parser: it skips comments, declarations and the content of `script` and
/// `style`, knows no nesting, and takes each byte once.
struct MarkupReader {
    struct Tag {
        /// As written.
        var name: [UInt8] = []
        var attributes: [(name: [UInt8], value: [UInt8])] = []
        /// Without the white space around it.
        var text: [UInt8] = []

        func attribute(_ name: StaticName) -> [UInt8]? {
            attributes.first { $0.name.lowercasedBytes == name.bytes }?.value
        }
    }

    private let bytes: [UInt8]
    private var index = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Calls `visit` for each start tag until it returns false.
    static func read(_ bytes: [UInt8], _ visit: (Tag) -> Bool) {
        var reader = MarkupReader(bytes)
        while let tag = reader.next() {
            guard visit(tag) else { return }
        }
    }

    private mutating func next() -> Tag? {
        while skip(to: 0x3C) {
            index += 1
            guard index < bytes.count else { return nil }
            if starts(with: "!--") {
                skip(past: "-->")
            } else if bytes[index].isASCIILetter {
                return readTag()
            }
        }
        return nil
    }

    private mutating func readTag() -> Tag {
        var tag = Tag()
        tag.name = readRun { $0 > 0x20 && $0 != 0x3E && $0 != 0x2F }
        while index < bytes.count, bytes[index] != 0x3E {
            if bytes[index] <= 0x20 || bytes[index] == 0x2F {
                index += 1
            } else {
                readAttribute(into: &tag)
            }
        }
        index += 1
        let name = tag.name.lowercasedBytes.text
        if name == "script" || name == "style" {
            skip(past: name == "script" ? "</script" : "</style")
        } else {
            tag.text = decodedEntities(readRun { $0 != 0x3C }.trimmed)
        }
        return tag
    }

    private mutating func readAttribute(into tag: inout Tag) {
        let start = index
        let name = readRun { $0 > 0x20 && $0 != 0x3E && $0 != 0x3D && $0 != 0x2F }
        var value: [UInt8] = []
        skipSpace()
        if index < bytes.count, bytes[index] == 0x3D {
            index += 1
            skipSpace()
            if index < bytes.count, bytes[index] == 0x22 || bytes[index] == 0x27 {
                let quote = bytes[index]
                index += 1
                value = readRun { $0 != quote }
                index += 1
            } else {
                value = readRun { $0 > 0x20 && $0 != 0x3E }
            }
        }
        if index == start { index += 1 }
        if tag.attributes.count < Self.attributeLimit {
            tag.attributes.append((name, decodedEntities(value)))
        }
    }

    private mutating func readRun(_ belongs: (UInt8) -> Bool) -> [UInt8] {
        let start = index
        while index < bytes.count, belongs(bytes[index]) { index += 1 }
        guard start < index else { return [] }
        return Array(bytes[start..<index].prefix(MessageField.valueLimit))
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] <= 0x20 { index += 1 }
    }

    private mutating func skip(to byte: UInt8) -> Bool {
        while index < bytes.count, bytes[index] != byte { index += 1 }
        return index < bytes.count
    }

    private func starts(with text: StaticName) -> Bool {
        bytes[index...].prefix(text.bytes.count).lowercasedBytes == text.bytes
    }

    private mutating func skip(past text: StaticName) {
        while index < bytes.count {
            if bytes[index] == text.bytes[0], starts(with: text) {
                index += text.bytes.count
                return
            }
            index += 1
        }
    }

    private static let attributeLimit = 64
}

/// The five entities of XML and the numeric ones of ASCII characters.
private func decodedEntities(_ text: [UInt8]) -> [UInt8] {
    guard text.contains(0x26) else { return text }
    var result: [UInt8] = []
    var index = 0
    while index < text.count {
        if text[index] == 0x26, let end = text[index...].prefix(10).firstIndex(of: 0x3B),
            let byte = entity(text[(index + 1)..<end])
        {
            result.append(byte)
            index = end + 1
        } else {
            result.append(text[index])
            index += 1
        }
    }
    return result
}

private func entity(_ name: ArraySlice<UInt8>) -> UInt8? {
    switch name.text {
    case "amp": return 0x26
    case "lt": return 0x3C
    case "gt": return 0x3E
    case "quot": return 0x22
    case "apos": return 0x27
    case "colon": return 0x3A
    case "sol": return 0x2F
    default: break
    }
    guard name.first == 0x23 else { return nil }
    let digits = name.dropFirst()
    let code =
        digits.first == 0x78 || digits.first == 0x58
        ? UInt8(digits.dropFirst().text, radix: 16) : UInt8(digits.text)
    return code.flatMap { $0 < 0x80 ? $0 : nil }
}
