internal import Base

/// Reads tnetstrings that stand behind each other, from input that comes in pieces.
///
/// A value's type stands behind it, so that a value has to be held whole.
struct TnetstringReader {
    struct Item: Equatable {
        /// `nil` for one that is over the limit and was passed over.
        let value: TnetstringValue?
        /// Where it begins, in bytes.
        let offset: Int64
    }

    private let itemByteLimit: Int
    private let nodeLimit: Int
    private var buffer: [UInt8] = []
    /// What of the buffer is read.
    private var position = 0
    /// Of the buffer's first byte.
    private var bufferOffset: Int64 = 0
    /// The rest of an item that is passed over, with its type.
    private var left: Int64 = 0
    private var passedOver: Item?
    private var isFinished = false

    /// - Parameters:
    ///   - itemByteLimit: a longer item is passed over.
    ///   - nodeLimit: how many values one item may hold.
    init(itemByteLimit: Int, nodeLimit: Int = 4_000_000) {
        self.itemByteLimit = itemByteLimit
        self.nodeLimit = nodeLimit
    }

    /// How far the input was read, in bytes.
    var offset: Int64 { bufferOffset + Int64(position) }

    mutating func append(_ bytes: [UInt8]) {
        if position > 0 {
            buffer.removeFirst(position)
            bufferOffset += Int64(position)
            position = 0
        }
        buffer += bytes
    }

    mutating func finish() { isFinished = true }

    /// Returns the next value; `nil` if more input is needed, or the input is over.
    mutating func next() throws(TnetstringViolation) -> Item? {
        if let item = try finishPassingOver() { return item }
        guard left == 0, position < buffer.count else { return nil }
        let start = offset
        var parser = TnetstringParser(
            bytes: buffer[...], origin: bufferOffset, nodesLeft: nodeLimit)
        guard let length = try parser.length(at: position, isWhole: false) else {
            return try needMore()
        }
        let size = length.start - position + length.count + 1
        guard size <= itemByteLimit else {
            passedOver = Item(value: nil, offset: start)
            left = Int64(size)
            return try finishPassingOver()
        }
        guard buffer.count - position >= size else { return try needMore() }
        let value = try parser.value(length, depth: 0)
        position += size
        return Item(value: value, offset: start)
    }

    private func needMore() throws(TnetstringViolation) -> Item? {
        guard isFinished else { return nil }
        throw TnetstringViolation(kind: .ended, offset: bufferOffset + Int64(buffer.count))
    }

    private mutating func finishPassingOver() throws(TnetstringViolation) -> Item? {
        guard let item = passedOver else { return nil }
        let count = Int(min(left, Int64(buffer.count - position)))
        position += count
        left -= Int64(count)
        guard left == 0 else { return try needMore() }
        passedOver = nil
        return item
    }
}

/// Takes apart what is there as a whole.
private struct TnetstringParser {
    struct Length {
        /// Where the payload begins.
        let start: Int
        let count: Int
    }

    let bytes: ArraySlice<UInt8>
    /// Of the first byte.
    let origin: Int64
    var nodesLeft: Int

    /// Reads `5:` at a place; `nil` if the bytes end in it.
    ///
    /// - Parameter isWhole: whether there are no more bytes to come.
    func length(
        at start: Int, isWhole: Bool
    ) throws(TnetstringViolation) -> Length? {
        var index = start
        var count = 0
        while index < bytes.endIndex, bytes[index].isASCIIDigit {
            // Those that write it read no more digits either.
            let isPadded = index == start + 1 && bytes[start] == UInt8(ascii: "0")
            if isPadded || index - start == Self.digitLimit { throw violation(.badLength, index) }
            count = count * 10 + Int(bytes[index] & 15)
            index += 1
        }
        guard index < bytes.endIndex else {
            if isWhole { throw violation(.badLength, index) }
            return nil
        }
        guard index > start, bytes[index] == UInt8(ascii: ":") else {
            throw violation(.badLength, index)
        }
        return Length(start: index + 1, count: count)
    }

    /// Reads a payload and its type, which are within the bytes.
    mutating func value(
        _ length: Length, depth: Int
    ) throws(TnetstringViolation) -> TnetstringValue {
        nodesLeft -= 1
        if nodesLeft < 0 { throw violation(.tooMany, length.start) }
        if depth > Self.depthLimit { throw violation(.tooDeep, length.start) }
        let end = length.start + length.count
        let payload = bytes[length.start..<end]
        switch bytes[end] {
        case UInt8(ascii: ","): return .bytes(Array(payload))
        case UInt8(ascii: ";"): return .string(Array(payload))
        case UInt8(ascii: "]"): return .list(try elements(payload, depth))
        case UInt8(ascii: "}"): return .dictionary(try members(payload, depth))
        case UInt8(ascii: "~") where payload.isEmpty: return .null
        case UInt8(ascii: "!") where payload.elementsEqual("true".utf8): return .boolean(true)
        case UInt8(ascii: "!") where payload.elementsEqual("false".utf8): return .boolean(false)
        case UInt8(ascii: "#"):
            if let number = Int64(payload.text) { return .integer(number) }
            // Python's have no bound.
            let digits = payload.first == UInt8(ascii: "-") ? payload.dropFirst() : payload
            if !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit), let number = Double(payload.text)
            {
                return .float(number)
            }
        case UInt8(ascii: "^"):
            if let number = Double(payload.text) { return .float(number) }
        case UInt8(ascii: "~"), UInt8(ascii: "!"): break
        default: throw violation(.badType, end)
        }
        throw violation(.badScalar, length.start)
    }

    private mutating func elements(
        _ payload: ArraySlice<UInt8>, _ depth: Int
    ) throws(TnetstringViolation) -> [TnetstringValue] {
        var elements: [TnetstringValue] = []
        var index = payload.startIndex
        while index < payload.endIndex {
            elements.append(try item(&index, payload.endIndex, depth))
        }
        return elements
    }

    private mutating func members(
        _ payload: ArraySlice<UInt8>, _ depth: Int
    ) throws(TnetstringViolation) -> [TnetstringValue.Member] {
        var members: [TnetstringValue.Member] = []
        var index = payload.startIndex
        while index < payload.endIndex {
            let start = index
            guard let name = try item(&index, payload.endIndex, depth).text else {
                throw violation(.badKey, start)
            }
            members.append(.init(name: name, value: try item(&index, payload.endIndex, depth)))
        }
        return members
    }

    private mutating func item(
        _ index: inout Int, _ end: Int, _ depth: Int
    ) throws(TnetstringViolation) -> TnetstringValue {
        guard let length = try length(at: index, isWhole: true) else {
            throw violation(.badLength, index)
        }
        guard length.count < end - length.start else { throw violation(.overrun, index) }
        let value = try value(length, depth: depth + 1)
        index = length.start + length.count + 1
        return value
    }

    private func violation(_ kind: TnetstringViolation.Kind, _ index: Int) -> TnetstringViolation {
        TnetstringViolation(kind: kind, offset: origin + Int64(index))
    }

    private static let digitLimit = 12
    private static let depthLimit = 32
}
