internal import Base

/// Takes XML or HTML apart, token by token, malformed texts too: the one reader of markup.
///
/// It knows no nesting, and looks at each byte once. Where texts have two readings, it takes that
/// of browsers.
package struct MarkupTokenizer {
    private let bytes: [UInt8]
    private let isHTML: Bool
    private var index = 0
    /// What ends the text of an element in which there are no tags.
    private var rawEnd: [UInt8]?

    /// - Parameter isHTML: whether `script` and `style` hold text in which there are no tags.
    package init(_ bytes: [UInt8], isHTML: Bool = false) {
        self.bytes = bytes
        self.isHTML = isHTML
    }

    package mutating func next() -> MarkupToken? {
        guard index < bytes.count else { return nil }
        let start = index
        let end = endOfText()
        if end > start {
            index = end
            return MarkupToken(.text, start..<end, content: start..<end)
        }
        if stands(Self.section) { return read(.section, Self.section.count, to: Self.sectionEnd) }
        // Its first two hyphens may be those of its end.
        if stands(Self.comment) { return read(.comment, 4, to: Self.commentEnd, from: 2) }
        if stands(Self.instruction) { return read(.instruction, 2, to: Self.instructionEnd) }
        if stands(Self.declaration) { return read(.declaration, 2, to: [greater]) }
        return readTag()
    }

    private mutating func endOfText() -> Int {
        if let mark = rawEnd.take() { return place(of: mark, from: index) ?? bytes.count }
        var end = index
        while end < bytes.count, !opensToken(end) { end += 1 }
        return end
    }

    private func opensToken(_ place: Int) -> Bool {
        guard bytes[place] == less, place + 1 < bytes.count else { return false }
        let next = bytes[place + 1]
        return next.isASCIILetter || next == slash || next == UInt8(ascii: "!")
            || next == UInt8(ascii: "?") || next == UInt8(ascii: "_") || next == UInt8(ascii: ":")
            || next >= 0x80
    }

    private func stands(_ mark: [UInt8]) -> Bool { bytes[index...].starts(with: mark) }

    /// Where a mark stands, its letters in either case.
    private func place(of mark: [UInt8], from start: Int) -> Int? {
        var place = start
        while place + mark.count <= bytes.count {
            if bytes[place] == mark[0],
                bytes[place..<place + mark.count].elementsEqual(
                    mark, by: { $0.asciiLowercased == $1 })
            {
                return place
            }
            place += 1
        }
        return nil
    }

    /// Reads what stands between two marks; what has no end goes up to that of the text.
    private mutating func read(
        _ kind: MarkupToken.Kind, _ markCount: Int, to end: [UInt8], from offset: Int? = nil
    ) -> MarkupToken {
        let start = index
        let inside = start + markCount
        let found = place(of: end, from: start + (offset ?? markCount))
        index = found.map { $0 + end.count } ?? bytes.count
        let content = inside..<max(inside, found ?? bytes.count)
        return MarkupToken(kind, start..<index, content: content, isWhole: found != nil)
    }

    // MARK: Tags

    private mutating func readTag() -> MarkupToken {
        let start = index
        let isEnd = bytes[index + 1] == slash
        index += isEnd ? 2 : 1
        let name = readRun { $0 > 0x20 && $0 != greater && $0 != slash }
        var attributes: [MarkupToken.Attribute] = []
        var isEmpty = false
        while index < bytes.count, bytes[index] != greater {
            isEmpty = bytes[index] == slash
            if bytes[index] <= 0x20 || isEmpty {
                index += 1
            } else {
                attributes.append(readAttribute())
            }
        }
        let isWhole = index < bytes.count
        if isWhole { index += 1 }
        var token = MarkupToken(
            isEnd ? .endTag : .startTag, start..<index, content: name, isWhole: isWhole)
        token.attributes = attributes
        token.isEmpty = isEmpty
        if isHTML, !isEnd {
            rawEnd = Self.rawElements.first { bytes[name].equalsIgnoringCase($0.name) }?.end
        }
        return token
    }

    private mutating func readAttribute() -> MarkupToken.Attribute {
        let name = readRun { $0 > 0x20 && $0 != greater && $0 != slash && $0 != equals }
        skipSpace()
        guard index < bytes.count, bytes[index] == equals else {
            return MarkupToken.Attribute(name: name, value: nil)
        }
        index += 1
        skipSpace()
        guard index < bytes.count, bytes[index] == 0x22 || bytes[index] == 0x27 else {
            return MarkupToken.Attribute(
                name: name, value: readRun { $0 > 0x20 && $0 != greater })
        }
        let quote = bytes[index]
        index += 1
        let value = readRun { $0 != quote }
        if index < bytes.count { index += 1 }
        return MarkupToken.Attribute(name: name, value: value)
    }

    private mutating func readRun(_ belongs: (UInt8) -> Bool) -> Range<Int> {
        let start = index
        while index < bytes.count, belongs(bytes[index]) { index += 1 }
        return start..<index
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] <= 0x20 { index += 1 }
    }

    private static let section = Array("<![CDATA[".utf8)
    private static let sectionEnd = Array("]]>".utf8)
    private static let comment = Array("<!--".utf8)
    private static let commentEnd = Array("-->".utf8)
    private static let instruction = Array("<?".utf8)
    private static let instructionEnd = Array("?>".utf8)
    private static let declaration = Array("<!".utf8)
    private static let rawElements: [(name: StaticString, end: [UInt8])] = [
        ("script", Array("</script".utf8)), ("style", Array("</style".utf8)),
    ]
}

private let less = UInt8(ascii: "<")
private let greater = UInt8(ascii: ">")
private let slash = UInt8(ascii: "/")
private let equals = UInt8(ascii: "=")
