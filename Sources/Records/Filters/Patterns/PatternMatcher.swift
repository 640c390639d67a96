/// Tells whether a pattern matches anywhere in a text that comes in pieces.
///
/// It follows all ways through the automaton at once, so that the time is at most the product of
/// the text's length and the program's, whatever the pattern (Thompson, 1968). The sets of places
/// that were met are kept as the states of a deterministic automaton, up to `stateLimit`; a byte
/// costs one look into a table then. Not `Sendable`: one task uses it.
final class PatternMatcher {
    private let program: PatternProgram
    /// For each state a row of its successors: one for each class of bytes, and one for the end.
    private var table: [Int32] = []
    /// The places of each state, with the kind of byte before it as the last element.
    private var keys: [[Int32]] = []
    private var numbers: [[Int32]: Int32] = [:]
    private var state: Int32 = 0
    /// Where each step was visited last, for one closure.
    private var marks: [Int]
    /// Where each step was last led to by a byte.
    private var heads: [Int]
    private var mark = 0

    init(_ program: PatternProgram) {
        self.program = program
        marks = [Int](repeating: 0, count: program.steps.count)
        heads = marks
    }

    /// Starts a new text.
    func begin() {
        state = number(of: [Int32(program.start)], after: .start)
    }

    /// Takes the next bytes; returns whether the answer is known, whatever follows.
    func push(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            guard state > Self.dead else { return true }
            let column = Int(program.classes[Int(bytes[index])])
            let next = table[Int(state) * width + column]
            state = next == Self.unknown ? advance(column) : next
            index += 1
        }
        return state <= Self.dead
    }

    /// Ends the text; returns whether the pattern matched.
    func finish() -> Bool {
        if state <= Self.dead { return state == Self.matched }
        let next = table[Int(state) * width + width - 1]
        return (next == Self.unknown ? advance(width - 1) : next) == Self.matched
    }

    // MARK: States

    /// What stands before a place.
    private enum Before: Int32 {
        case start
        case newline
        case word
        case other
    }

    private var width: Int { program.examples.count + 1 }

    /// Finds where a state goes with a class of bytes, or with the end.
    private func advance(_ column: Int) -> Int32 {
        let from = state
        let key = keys[Int(from)]
        let byte = column < program.examples.count ? program.examples[column] : nil
        let before = key.last.flatMap(Before.init(rawValue:)) ?? .other
        let (places, hasMatched) = successors(of: key.dropLast(), before, byte)
        let next: Int32
        if hasMatched {
            next = Self.matched
        } else if byte == nil || places.isEmpty {
            next = Self.dead
        } else {
            next = number(of: places, after: byte.map(Self.kind) ?? .other)
            // Where all states were dropped meanwhile, there is no row to write to.
            if Int(from) >= keys.count || keys[Int(from)] != key { return next }
        }
        table[Int(from) * width + column] = next
        return next
    }

    /// Follows everything that takes no byte from `places`, and then the byte.
    private func successors(
        of places: ArraySlice<Int32>, _ before: Before, _ byte: UInt8?
    ) -> (places: [Int32], hasMatched: Bool) {
        mark += 1
        var next: [Int32] = []
        var pending = Array(places)
        while let place = pending.popLast() {
            guard marks[Int(place)] != mark else { continue }
            marks[Int(place)] = mark
            switch program.steps[Int(place)] {
            case .match: return ([], true)
            case .fork(let first, let second): pending += [Int32(first), Int32(second)]
            case .assertion(let assertion, let then):
                if Self.holds(assertion, before, byte) { pending.append(Int32(then)) }
            case .byte(let set, let then):
                if let byte, set.contains(byte), heads[then] != mark {
                    heads[then] = mark
                    next.append(Int32(then))
                }
            }
        }
        if !program.isAnchored, heads[program.start] != mark { next.append(Int32(program.start)) }
        next.sort()
        return (next, false)
    }

    private static func holds(
        _ assertion: PatternNode.Assertion, _ before: Before, _ byte: UInt8?
    ) -> Bool {
        let isWord = byte.map { kind($0) == .word } ?? false
        return switch assertion {
        case .textStart: before == .start
        case .textEnd: byte == nil
        case .lineStart: before == .start || before == .newline
        case .lineEnd: byte == nil || byte == 0x0A
        case .wordBoundary: (before == .word) != isWord
        case .noWordBoundary: (before == .word) == isWord
        }
    }

    private static func kind(_ byte: UInt8) -> Before {
        byte == 0x0A ? .newline : ByteSet.word.contains(byte) ? .word : .other
    }

    private func number(of places: [Int32], after before: Before) -> Int32 {
        let key = places + [before.rawValue]
        if let number = numbers[key] { return number }
        if keys.count >= Self.stateLimit {
            keys = []
            numbers = [:]
            table = []
        }
        if keys.isEmpty {
            // The first rows stand for the two states that are left no more.
            keys = [[], []]
            table = [Int32](repeating: Self.unknown, count: 2 * width)
        }
        let number = Int32(keys.count)
        keys.append(key)
        numbers[key] = number
        table += [Int32](repeating: Self.unknown, count: width)
        return number
    }

    private static let unknown: Int32 = -1
    private static let matched: Int32 = 0
    private static let dead: Int32 = 1
    /// Each takes a kilobyte or so; most patterns need a few dozen.
    private static let stateLimit = 400
}
