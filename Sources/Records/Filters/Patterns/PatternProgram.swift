/// A pattern as the steps of a nondeterministic automaton (Thompson's construction).
struct PatternProgram: Sendable {
    enum Step: Sendable {
        case byte(ByteSet, next: Int)
        case fork(Int, Int)
        case assertion(PatternNode.Assertion, next: Int)
        case match
    }

    private(set) var steps: [Step] = []
    private(set) var start = 0
    /// Whether it can only match at the start of a text.
    let isAnchored: Bool
    /// Bytes that no step tells apart have the same class.
    private(set) var classes: [UInt8] = []
    /// A byte of each class.
    private(set) var examples: [UInt8] = []
    private var work = 0

    /// Errors: a pattern that would need more than `stepLimit` steps.
    init(_ node: PatternNode) throws(PatternViolation) {
        isAnchored = node.isAnchored
        let end = try add(.match)
        start = try add(node, before: end)
        (classes, examples) = Self.classes(of: steps)
    }

    private mutating func add(_ step: Step) throws(PatternViolation) -> Int {
        guard steps.count < Self.stepLimit else { throw Self.tooLarge }
        steps.append(step)
        return steps.count - 1
    }

    /// Adds the steps of a node that lead to `next`, and returns the first of them.
    private mutating func add(
        _ node: PatternNode, before next: Int
    ) throws(PatternViolation) -> Int {
        // Counts of nothing add no steps and still take time.
        work += 1
        guard work <= Self.workLimit else { throw Self.tooLarge }
        switch node {
        case .byte(let set): return try add(.byte(set, next: next))
        case .assertion(let assertion): return try add(.assertion(assertion, next: next))
        case .sequence(let parts):
            var next = next
            for part in parts.reversed() { next = try add(part, before: next) }
            return next
        case .choice(let parts):
            var first = try add(parts[parts.count - 1], before: next)
            for part in parts.dropLast().reversed() {
                first = try add(.fork(try add(part, before: next), first))
            }
            return first
        case .repeated(let part, let least, let most):
            var first = next
            if let most {
                for _ in least..<max(most, least) {
                    first = try add(.fork(try add(part, before: first), next))
                }
            } else {
                let fork = try add(.fork(next, next))
                steps[fork] = .fork(try add(part, before: fork), next)
                first = fork
            }
            for _ in 0..<least { first = try add(part, before: first) }
            return first
        }
    }

    private static func classes(of steps: [Step]) -> (classes: [UInt8], examples: [UInt8]) {
        // The sets that assertions look at count, too.
        var sets: Set<ByteSet> = [.word, ByteSet(0x0A...0x0A)]
        for case .byte(let set, _) in steps { sets.insert(set) }
        var classes = [UInt8](repeating: 0, count: 256)
        var count = 1
        for set in sets {
            // Each class is cut in two: what is in the set, and what is not.
            var numbers = [Int](repeating: -1, count: 2 * count)
            count = 0
            for byte in 0..<256 {
                let half = 2 * Int(classes[byte]) + (set.contains(UInt8(byte)) ? 1 : 0)
                if numbers[half] < 0 {
                    numbers[half] = count
                    count += 1
                }
                classes[byte] = UInt8(numbers[half])
            }
        }
        var examples = [UInt8](repeating: 0, count: count)
        for byte in UInt8.min...UInt8.max { examples[Int(classes[Int(byte)])] = byte }
        return (classes, examples)
    }

    private static let tooLarge = PatternViolation(
        0, "the pattern is too large: its counts stand for more than \(stepLimit) steps")
    /// A byte takes at most this many steps, so a text at most the product.
    static let stepLimit = 2000
    private static let workLimit = 20 * stepLimit
}
