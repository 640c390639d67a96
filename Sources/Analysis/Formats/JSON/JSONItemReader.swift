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

    private let walked: Set<String>
    private let nodeLimit: Int
    private var tokens: JSONTokenReader
    /// Of the containers that are walked through.
    private var paths: [String] = []
    private var isArray: [Bool] = []
    private var name = ""
    private var open: OpenItem?

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
        tokens = JSONTokenReader(stringByteLimit: stringByteLimit)
    }

    mutating func append(_ bytes: [UInt8]) { tokens.append(bytes) }

    mutating func finish() { tokens.finish() }

    /// Returns the next item; `nil` if more input is needed, or the document is over.
    mutating func next() throws(JSONViolation) -> Item? {
        while true {
            let offset = tokens.offset
            guard let token = try tokens.next() else { return nil }
            if var item = open.take() {
                if let value = item.builder.take(token) {
                    return Item(path: item.path, value: value, offset: item.offset)
                }
                open = item
            } else if let item = walk(token, offset) {
                return item
            }
        }
    }

    /// The path of the value that comes next.
    private var path: String {
        guard let outer = paths.last else { return "" }
        if isArray.last == true { return outer + "[]" }
        return outer.isEmpty ? name : outer + "." + name
    }

    private mutating func walk(_ token: JSONTokenReader.Token, _ offset: Int64) -> Item? {
        switch token {
        case .name(let bytes):
            name = bytes.text
            return nil
        case .endObject, .endArray:
            paths.removeLast()
            isArray.removeLast()
            return nil
        case .beginObject where walked.contains(path), .beginArray where walked.contains(path):
            paths.append(path)
            isArray.append(token == .beginArray)
            return nil
        default:
            var builder = JSONNodeBuilder(nodeLimit: nodeLimit)
            if let value = builder.take(token) {
                return Item(path: path, value: value, offset: offset)
            }
            open = OpenItem(path: path, offset: offset, builder: builder)
            return nil
        }
    }
}

/// Builds one value out of its tokens.
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
    mutating func take(_ token: JSONTokenReader.Token) -> JSONNode? {
        switch token {
        case .beginObject: levels.append(Level(isArray: false))
        case .beginArray: levels.append(Level(isArray: true))
        case .endObject, .endArray:
            guard let level = levels.popLast() else { return nil }
            return add(level.isArray ? .array(level.elements) : .object(level.members))
        case .name(let name): levels[levels.count - 1].name = name.text
        case .string(let bytes): return add(.string(bytes))
        case .excess: return add(.excess)
        case .number(let bytes): return add(.number(bytes))
        case .boolean(let value): return add(.boolean(value))
        case .null: return add(.null)
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
