internal import Base

/// Takes the literals out of a document of GraphQL (GraphQL §2): values that stand in it and not in
/// its variables, behind the names of their fields and arguments.
package struct GraphQLReader {
    private let text: ArraySlice<UInt8>
    private var index: Int
    private var output = ContentValues()
    /// The last name that was read, and whether a colon came behind it.
    private var name: [UInt8] = []
    private var isArgument = false
    private var brackets: [(isNamed: Bool, isList: Bool)] = []

    private var isInList: Bool { brackets.last?.isList ?? false }

    /// Whether a text begins as a document does.
    package static func isDocument(_ text: ArraySlice<UInt8>) -> Bool {
        let start = text.drop { $0 <= 0x20 }
        let begins = openings.contains { start.starts(with: $0.utf8) }
        return begins && start.contains(UInt8(ascii: "{"))
    }

    package static func read(_ text: ArraySlice<UInt8>) -> ContentValues {
        var reader = GraphQLReader(text)
        while reader.output.isWhole, reader.index < text.endIndex {
            reader.output.isWhole = reader.next()
        }
        return reader.output
    }

    private init(_ text: ArraySlice<UInt8>) {
        self.text = text
        index = text.startIndex
    }

    /// - Returns: whether all is well and there is room for more.
    private mutating func next() -> Bool {
        let byte = text[index]
        switch byte {
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "#"): index = text[index...].firstIndex(of: 0x0A) ?? text.endIndex
        case UInt8(ascii: ":"):
            isArgument = true
            index += 1
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
            index += 1
            return open(byte)
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
            index += 1
            return close()
        case UInt8(ascii: "$"):
            // A variable: its value stands elsewhere, but for a default.
            index += 1
            name = Array(run().prefix(256))
            isArgument = false
        case _ where Self.isWord(byte): return word()
        default: index += 1
        }
        return true
    }

    private mutating func open(_ bracket: UInt8) -> Bool {
        // The fields of a selection are no arguments of what it belongs to.
        let isNamed =
            isInList || !name.isEmpty && (isArgument || bracket == UInt8(ascii: "("))
        if isNamed, !output.enter(isInList ? ContentValues.element : name) { return false }
        brackets.append((isNamed, isList: bracket == UInt8(ascii: "[")))
        name = []
        isArgument = false
        return brackets.count <= 4 * ContentValues.depthLimit
    }

    private mutating func close() -> Bool {
        isArgument = false
        name = []
        guard let bracket = brackets.popLast() else { return false }
        if bracket.isNamed { output.leave() }
        return true
    }

    private mutating func word() -> Bool {
        let word = run()
        guard isArgument || isInList else {
            name = Array(word.prefix(256))
            return true
        }
        let isNumber = word.first.map { $0.isASCIIDigit || $0 == UInt8(ascii: "-") } ?? false
        return append(isNumber ? .number : .word, Array(word))
    }

    private mutating func string() -> Bool {
        let rest = text[index...]
        let isBlock = rest.starts(with: Self.blockMark)
        let start = index + (isBlock ? 3 : 1)
        guard let end = isBlock ? endOfBlock(from: start) : endOfString(from: start) else {
            return false
        }
        index = end + (isBlock ? 3 : 1)
        let inner = text[start..<end]
        return append(.text, isBlock ? Array(inner) : JSONEscapes.undo(in: inner) ?? Array(inner))
    }

    private func endOfString(from start: Int) -> Int? {
        var place = start
        while place < text.endIndex, text[place] != UInt8(ascii: "\"") {
            place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return place < text.endIndex ? place : nil
    }

    private func endOfBlock(from start: Int) -> Int? {
        var place = start
        while place < text.endIndex {
            if text[place] == UInt8(ascii: "\\") {
                place += 2
            } else if text[place...].prefix(3).elementsEqual(Self.blockMark) {
                return place
            } else {
                place += 1
            }
        }
        return nil
    }

    private mutating func append(_ kind: ContentValue.Kind, _ bytes: [UInt8]) -> Bool {
        isArgument = false
        guard output.enter(isInList ? ContentValues.element : name) else { return false }
        defer { output.leave() }
        return output.append(kind, bytes)
    }

    private mutating func run() -> ArraySlice<UInt8> {
        let run = text[index...].prefix(while: Self.isWord)
        index = run.endIndex
        return run
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte >= 0x80
    }

    private static let openings = ["query", "mutation", "subscription", "fragment", "{", "#"]
    private static let blockMark = Array("\"\"\"".utf8)
}
