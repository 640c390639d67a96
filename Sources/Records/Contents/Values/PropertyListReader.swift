internal import Base

/// Takes property lists apart, of XML and binary ones.
package enum PropertyListReader {
    /// Whether bytes begin as a binary property list does.
    package static func isBinary(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: "bplist0".utf8)
    }

    package static func read(_ bytes: [UInt8]) -> ContentValues {
        isBinary(bytes[...])
            ? BinaryPropertyList.read(bytes)
            : MarkupPropertyList.values(bytes)
    }
}

/// The binary form, in its version 00: objects that name others by their numbers.
///
/// Objects that many others name are visited each time, so a budget bounds the visits.
private struct BinaryPropertyList {
    private let bytes: [UInt8]
    private let offsets: Int
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private var visitsLeft = 1 << 16
    private var output = ContentValues()

    static func read(_ bytes: [UInt8]) -> ContentValues {
        guard let (list, top) = BinaryPropertyList.opened(bytes) else {
            var nothing = ContentValues()
            nothing.isWhole = false
            return nothing
        }
        var reader = list
        reader.output.isWhole = reader.object(top)
        return reader.output
    }

    /// By the trailer, which is the last 32 bytes.
    private static func opened(_ bytes: [UInt8]) -> (BinaryPropertyList, top: Int)? {
        guard bytes.count >= 40 else { return nil }
        var trailer = ContentInput(bytes.suffix(32).dropFirst(6))
        guard let offsetSize = trailer.number(1), let referenceSize = trailer.number(1),
            let count = trailer.number(8), let top = trailer.number(8),
            let offsets = trailer.number(8), (1...8).contains(offsetSize),
            (1...8).contains(referenceSize), offsets <= UInt64(bytes.count - 32),
            count <= UInt64(bytes.count), top < count,
            count * offsetSize <= UInt64(bytes.count - 32) - offsets
        else { return nil }
        let list = BinaryPropertyList(
            bytes: bytes, offsets: Int(offsets), offsetSize: Int(offsetSize),
            referenceSize: Int(referenceSize), objectCount: Int(count))
        return (list, Int(top))
    }

    private init(
        bytes: [UInt8], offsets: Int, offsetSize: Int, referenceSize: Int, objectCount: Int
    ) {
        self.bytes = bytes
        self.offsets = offsets
        self.offsetSize = offsetSize
        self.referenceSize = referenceSize
        self.objectCount = objectCount
    }

    private mutating func object(_ number: Int) -> Bool {
        guard visitsLeft > 0, var input = input(of: number), let tag = input.byte() else {
            return false
        }
        visitsLeft -= 1
        switch tag >> 4 {
        case 0x0: return output.append(.word, Self.word(tag).utf8)
        case 0x1 where tag & 0x0F <= 3:
            guard let bits = input.number(1 << (tag & 0x0F)) else { return false }
            // Numbers of eight bytes have a sign.
            return output.append(number: tag & 0x0F == 3 ? "\(Int64(bitPattern: bits))" : "\(bits)")
        case 0x1: return input.bytes(16).map { output.append(.bytes, $0) } ?? false
        case 0x2, 0x3: return real(tag, &input)
        case 0x8:
            return input.number(Int(tag & 0x07) + 1).map { output.append(number: "\($0)") } ?? false
        default: break
        }
        guard let count = Self.count(tag, &input) else { return false }
        switch tag >> 4 {
        case 0x4: return input.bytes(count).map { output.append(.bytes, $0) } ?? false
        case 0x5, 0x7: return input.bytes(count).map { output.append(text: $0) } ?? false
        case 0x6: return wide(count, &input)
        case 0xA, 0xB, 0xC: return list(count, &input)
        case 0xD: return dictionary(count, &input)
        default: return false
        }
    }

    private func input(of number: Int) -> ContentInput? {
        guard number < objectCount else { return nil }
        var entry = ContentInput(bytes[(offsets + number * offsetSize)...])
        guard let offset = entry.number(offsetSize), offset < UInt64(offsets) else { return nil }
        return ContentInput(bytes[Int(offset)..<offsets])
    }

    private static func word(_ tag: UInt8) -> String {
        switch tag {
        case 0x08: "false"
        case 0x09: "true"
        default: "null"
        }
    }

    private mutating func real(_ tag: UInt8, _ input: inout ContentInput) -> Bool {
        switch tag & 0x0F {
        case 2:
            guard let bits = input.number(4) else { return false }
            return output.append(number: "\(Float(bitPattern: UInt32(bits)))")
        case 3:
            guard let bits = input.number(8) else { return false }
            return output.append(number: "\(Double(bitPattern: bits))")
        default: return false
        }
    }

    /// How many there are: in the tag, or in a number behind it.
    private static func count(_ tag: UInt8, _ input: inout ContentInput) -> UInt64? {
        guard tag & 0x0F == 0x0F else { return UInt64(tag & 0x0F) }
        guard let marker = input.byte(), marker >> 4 == 1, marker & 0x0F <= 3 else { return nil }
        return input.number(1 << (marker & 0x0F))
    }

    /// UTF-16, most significant byte first.
    private mutating func wide(_ count: UInt64, _ input: inout ContentInput) -> Bool {
        guard count <= UInt64(bytes.count), let text = input.bytes(count * 2) else { return false }
        return output.append(text: Self.decoded(wide: text.prefix(output.byteLimit))[...])
    }

    private static func decoded(wide text: ArraySlice<UInt8>) -> [UInt8] {
        let units = stride(from: text.startIndex, to: text.endIndex - 1, by: 2).map {
            UInt16(text[$0]) << 8 | UInt16(text[$0 + 1])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private mutating func list(_ count: UInt64, _ input: inout ContentInput) -> Bool {
        guard count <= UInt64(bytes.count), output.enter(ContentValues.element) else {
            return false
        }
        defer { output.leave() }
        for _ in 0..<count {
            guard let number = input.number(referenceSize), object(Int(clamping: number)) else {
                return false
            }
        }
        return true
    }

    private mutating func dictionary(_ count: UInt64, _ input: inout ContentInput) -> Bool {
        guard count <= UInt64(bytes.count),
            let keys = input.bytes(count * UInt64(referenceSize)),
            let values = input.bytes(count * UInt64(referenceSize))
        else { return false }
        var (names, numbers) = (ContentInput(keys), ContentInput(values))
        while let name = names.number(referenceSize), let number = numbers.number(referenceSize) {
            guard output.enter(self.name(Int(clamping: name)) ?? ContentValues.element) else {
                return false
            }
            defer { output.leave() }
            guard object(Int(clamping: number)) else { return false }
        }
        return true
    }

    /// A key, which is a text of ASCII or of UTF-16.
    private func name(_ number: Int) -> [UInt8]? {
        guard var input = input(of: number), let tag = input.byte(),
            let count = Self.count(tag, &input), count <= 256
        else { return nil }
        switch tag >> 4 {
        case 0x5, 0x7: return input.bytes(count).map { Array($0) }
        case 0x6: return input.bytes(count * 2).map(Self.decoded(wide:))
        default: return nil
        }
    }
}

/// The form of XML: elements named for their types, and keys before the values of a dictionary.
struct MarkupPropertyList<Sink: PropertyListSink> {
    private let bytes: [UInt8]
    private var tokens: MarkupTokenizer
    private var output: Sink
    /// What is open: whether it is a dictionary, whose values have names, and whether a name or a
    /// place in a list leads into it.
    private var open: [(isDictionary: Bool, isInside: Bool)] = []
    private var name: [UInt8]?
    private var text: [UInt8] = []

    /// - Returns: what was found, and whether the list was well-formed to its end, and none of its
    ///   values was left out.
    static func read(_ bytes: [UInt8], into sink: Sink) -> (Sink, isWhole: Bool) {
        var reader = MarkupPropertyList(
            bytes: bytes, tokens: MarkupTokenizer(bytes), output: sink)
        var isList = false
        var isWhole = true
        while isWhole, let token = reader.tokens.next() {
            if token.kind == .startTag, bytes[token.content].elementsEqual("plist".utf8) {
                isList = true
            }
            isWhole = reader.take(token)
        }
        return (reader.output, isWhole && isList && reader.open.isEmpty)
    }

    private init(bytes: [UInt8], tokens: MarkupTokenizer, output: Sink) {
        self.bytes = bytes
        self.tokens = tokens
        self.output = output
    }

    /// - Returns: whether all is well and there is room for more.
    private mutating func take(_ token: MarkupToken) -> Bool {
        switch token.kind {
        case .comment, .instruction, .declaration: return true
        case .text, .section:
            let room = output.byteLimit - text.count
            let piece = bytes[token.content].prefix(max(room, 0))
            text += token.kind == .text ? CharacterReferences.decoded(piece) : Array(piece)
            return true
        case .startTag:
            text = []
            let tag = Array(bytes[token.content])
            guard token.isEmpty || PropertyListTags.words.contains(tag) else { return enter(tag) }
            return token.isEmpty ? close(tag, isEmpty: true) : true
        case .endTag: return close(Array(bytes[token.content]), isEmpty: false)
        }
    }

    private mutating func enter(_ tag: [UInt8]) -> Bool {
        guard tag == PropertyListTags.dictionary || tag == PropertyListTags.array else {
            return true
        }
        guard open.isEmpty || output.enter(place()) else { return false }
        open.append((tag == PropertyListTags.dictionary, isInside: !open.isEmpty))
        return true
    }

    private mutating func close(_ tag: [UInt8], isEmpty: Bool) -> Bool {
        if tag == PropertyListTags.dictionary || tag == PropertyListTags.array {
            guard !isEmpty else {
                name = nil
                return true
            }
            guard let last = open.popLast(),
                last.isDictionary == (tag == PropertyListTags.dictionary)
            else {
                return false
            }
            if last.isInside { output.leave() }
            return true
        }
        if tag.elementsEqual("key".utf8) {
            name = Array(text.prefix(256))
            return true
        }
        guard let kind = PropertyListTags.kinds[tag] else { return true }
        let value = kind == .word ? tag : kind == .text ? text : text.trimmed
        guard output.enter(place()) else { return false }
        defer { output.leave() }
        return output.take(tag, kind, value)
    }

    /// What leads to the next value: its key, or its place in a list.
    private mutating func place() -> [UInt8] {
        open.last?.isDictionary == true ? name.take() ?? [] : ContentValues.element
    }
}

private enum PropertyListTags {
    static let dictionary = Array("dict".utf8)
    static let array = Array("array".utf8)
    static let kinds: [[UInt8]: ContentValue.Kind] = [
        Array("string".utf8): .text, Array("integer".utf8): .number, Array("real".utf8): .number,
        Array("date".utf8): .text, Array("data".utf8): .text, Array("true".utf8): .word,
        Array("false".utf8): .word,
    ]
    static let words: Set<[UInt8]> = [Array("true".utf8), Array("false".utf8)]
}

/// What is told of a property list as it is read.
protocol PropertyListSink {
    /// How many bytes of a value are wanted.
    var byteLimit: Int { get }

    /// Goes one level deeper, by a key or a place in a list.
    ///
    /// - Returns: whether it may.
    mutating func enter(_ name: [UInt8]) -> Bool
    mutating func leave()

    /// Takes a value with the name of its element.
    ///
    /// - Returns: whether there is room for more.
    mutating func take(_ tag: [UInt8], _ kind: ContentValue.Kind, _ bytes: [UInt8]) -> Bool
}

extension ContentValues: PropertyListSink {
    mutating func take(_ tag: [UInt8], _ kind: ContentValue.Kind, _ bytes: [UInt8]) -> Bool {
        append(kind, bytes)
    }
}

extension MarkupPropertyList<ContentValues> {
    static func values(_ bytes: [UInt8]) -> ContentValues {
        var (values, isWhole) = read(bytes, into: ContentValues())
        values.isWhole = isWhole
        return values
    }
}
