internal import Base
internal import Contents

/// Reads a JSON document that comes in pieces as a row of items: the containers at given paths are
/// walked through, and each value in them is handed over whole.
struct JSONItemReader {
    struct Item: Equatable {
        /// Such as `log.version`, and `log.entries[]` for each element.
        let path: String
        let value: JSONNode
        /// Where it begins, in bytes.
        let offset: Int64
    }

    /// What tokens come to, once the pieces of a string are together.
    enum Event {
        case begin(isArray: Bool)
        case end
        case name(String)
        case value(JSONNode)
    }

    private let walked: Set<String>
    private let nodeLimit: Int
    private let stringByteLimit: Int
    private var tokens = JSONTokenizer(depthLimit: Self.depthLimit, isFinal: false)
    private var input: [UInt8] = []
    /// Of the first byte of `input`.
    private var inputOffset: Int64 = 0
    private var string: OpenString?
    /// Of the containers that are walked through.
    private var paths: [String] = []
    private var isArray: [Bool] = []
    private var name = ""
    private var open: OpenItem?

    private struct OpenString {
        let offset: Int64
        var content: [UInt8] = []
        var isCut = false
    }

    private struct OpenItem {
        let path: String
        let offset: Int64
        var builder: JSONNodeBuilder
    }

    /// - Parameters:
    ///   - walked: the paths of the objects and arrays that are not handed over whole; the document
    ///     itself is "".
    ///   - stringByteLimit: a longer string is left out.
    ///   - nodeLimit: how many values one item may hold; those behind are left out.
    init(walking walked: Set<String>, stringByteLimit: Int, nodeLimit: Int) {
        self.walked = walked
        self.nodeLimit = nodeLimit
        self.stringByteLimit = stringByteLimit
    }

    mutating func append(_ bytes: [UInt8]) {
        inputOffset += Int64(tokens.position)
        input.removeFirst(tokens.position)
        if input.isEmpty { input = bytes } else { input += bytes }
        tokens.rebase()
    }

    /// Tells that no more comes.
    mutating func finish() { tokens.isFinal = true }

    /// Returns the next item; `nil` if more input is needed, or the document is over.
    mutating func next() throws(JSONViolation) -> Item? {
        while let token = try nextToken() {
            let offset = string?.offset ?? inputOffset + Int64(token.range.lowerBound)
            guard let event = try event(token, offset) else { continue }
            if var item = open.take() {
                if let value = item.builder.take(event) {
                    return Item(path: item.path, value: value, offset: item.offset)
                }
                open = item
            } else if let item = walk(event, offset) {
                return item
            }
        }
        return nil
    }

    private mutating func nextToken() throws(JSONViolation) -> JSONToken? {
        let input = input
        do throws(JSONViolation) {
            if let token = try tokens.next(in: input.span) { return token }
        } catch { throw violation(error.kind, Int(error.offset)) }
        if tokens.isFinal, !tokens.isComplete { throw violation(.ended, input.count) }
        // A number; what is left of a string is an escape at most.
        guard input.count - tokens.position <= Self.scalarLimit else {
            throw violation(.badScalar, tokens.position)
        }
        return nil
    }

    private func violation(_ kind: JSONViolation.Kind, _ place: Int) -> JSONViolation {
        JSONViolation(kind: kind, offset: inputOffset + Int64(place))
    }

    /// Returns `nil` inside of a string.
    private mutating func event(_ token: JSONToken, _ offset: Int64) throws(JSONViolation) -> Event?
    {
        switch token.kind {
        case .beginObject, .beginArray: return .begin(isArray: token.kind == .beginArray)
        case .endObject, .endArray: return .end
        case .null: return .value(.null)
        case .true, .false: return .value(.boolean(token.kind == .true))
        case .number:
            guard token.isKnown(in: input) else {
                let (start, end) = (token.range.lowerBound, token.range.upperBound)
                throw end < input.count ? violation(.badScalar, start) : violation(.ended, end)
            }
            return .value(.number(token.text(in: input)))
        case .name, .string:
            var text = string.take() ?? OpenString(offset: offset)
            let piece = token.text(in: input)
            let limit = token.kind == .name ? Self.nameLimit : stringByteLimit
            text.isCut = text.isCut || piece.count > limit - text.content.count
            text.content += piece.prefix(limit - text.content.count)
            guard token.isWhole else {
                string = text
                return nil
            }
            if token.kind == .name { return .name(text.content.text) }
            return .value(text.isCut ? .excess : .string(text.content))
        }
    }

    /// How deep arrays and objects may nest: no HAR nests deeper than ten.
    private static let depthLimit = 128
    /// In bytes: a longer name is cut.
    private static let nameLimit = 1024
    private static let scalarLimit = 128

    /// The path of the value that comes next.
    private var path: String {
        guard let outer = paths.last else { return "" }
        if isArray.last == true { return outer + "[]" }
        return outer.isEmpty ? name : outer + "." + name
    }

    private mutating func walk(_ event: Event, _ offset: Int64) -> Item? {
        switch event {
        case .name(let text): name = text
        case .end:
            paths.removeLast()
            isArray.removeLast()
        case .begin(let beginsArray) where walked.contains(path):
            paths.append(path)
            isArray.append(beginsArray)
        case .begin, .value:
            var builder = JSONNodeBuilder(nodeLimit: nodeLimit)
            if let value = builder.take(event) {
                return Item(path: path, value: value, offset: offset)
            }
            open = OpenItem(path: path, offset: offset, builder: builder)
        }
        return nil
    }
}

/// Builds one value out of its parts.
struct JSONNodeBuilder {
    private struct Level {
        let isArray: Bool
        var name = ""
        var elements: [JSONNode] = []
        var members: [JSONNode.Member] = []
    }

    private var levels: [Level] = []
    private var left: Int

    init(nodeLimit: Int) {
        left = nodeLimit
    }

    /// Returns the value once it is whole.
    mutating func take(_ event: JSONItemReader.Event) -> JSONNode? {
        switch event {
        case .begin(let isArray): levels.append(Level(isArray: isArray))
        case .end:
            guard let level = levels.popLast() else { return nil }
            return add(level.isArray ? .array(level.elements) : .object(level.members))
        case .name(let name): levels[levels.count - 1].name = name
        case .value(let value): return add(value)
        }
        return nil
    }

    private mutating func add(_ value: JSONNode) -> JSONNode? {
        guard let last = levels.indices.last else { return value }
        left -= 1
        guard left >= 0 else { return nil }
        let kept = left == 0 ? JSONNode.excess : value
        if levels[last].isArray {
            levels[last].elements.append(kept)
        } else {
            levels[last].members.append(JSONNode.Member(name: levels[last].name, value: kept))
        }
        return nil
    }
}
