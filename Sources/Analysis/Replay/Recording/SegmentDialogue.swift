internal import Base
internal import Traffic

/// A recorded stream of bytes as a play: what the client said before each of the origin's lines has
/// to have come, and what it says otherwise is told.
///
/// `@unchecked Sendable`: one loop drives it.
final class SegmentDialogue: ReplayDialogue, @unchecked Sendable {
    private let lines: [DialogueScript.Line]
    private let clock: ReplayClock
    private let authority: String
    /// Whether the client may say what it likes.
    private let ignoresClient: Bool
    private var position = 0
    private var turn: ClientTurn
    private var heard: [UInt8] = []
    /// Since when nothing was heard.
    private var quietSince: MonotonicTime
    private var hasClientEnded = false
    private var isOver = false
    /// What the client calls its commands, by what it called them when it was recorded.
    private var tags: [[UInt8]: [UInt8]] = [:]
    private var miss: ReplayMiss?
    private var hasDiffered = false

    /// Of what is heard and not yet expected, in bytes.
    private static let heardLimit = 16 << 20
    /// In milliseconds: for the rest of what the client has begun to say, and for that of something
    /// that was not recorded.
    private static let (patience, shortPatience) = (UInt64(15_000), UInt64(2_000))

    /// - Parameters:
    ///   - authority: the origin's, with its port where that is not the scheme's.
    ///   - path: that of the request in whose place it is spoken.
    init(
        _ script: DialogueScript, with authority: String, path: String = "",
        _ options: ReplayOptions
    ) {
        lines = script.lines
        clock = ReplayClock(options)
        self.authority = authority
        let rules = options.rules.at([(authority, path)])
        ignoresClient =
            rules.ignores(.request, .body("")) || rules.ignoresContents(.request)
        turn = ClientTurn(lines[...], after: nil)
        quietSince = clock.time
    }

    func receive(_ bytes: Span<UInt8>) {
        quietSince = clock.time
        if isOver { tell("the client says more than was recorded") }
        guard heard.count + bytes.count <= Self.heardLimit else { return }
        unsafe bytes.withUnsafeBufferPointer { unsafe heard.append(contentsOf: $0) }
    }

    func noteEnd() { hasClientEnded = true }

    func takeMiss() -> ReplayMiss? {
        defer { miss = nil }
        return miss
    }

    func next() -> ReplayDialogueStep {
        if position < turn.end {
            guard let said = turn.split(from: &heard) else { return wait() }
            if !ignoresClient, let difference = turn.difference(said, lines, &tags) {
                tell(difference)
            }
            position = turn.end
        }
        guard position < lines.count else {
            // Nobody knows what the origin would have said to more.
            if !heard.isEmpty { tell("the client says more than was recorded") }
            isOver = hasClientEnded || !heard.isEmpty || lines.last?.direction == .response
            return isOver ? .end : .needMore
        }
        let line = lines[position]
        if let time = clock.wait(until: line.due) { return .pause(time) }
        position += 1
        if position == lines.count || lines[position].direction == .request {
            turn = ClientTurn(lines[position...], after: turn)
        }
        return .send(tags.isEmpty ? line.bytes : line.bytes.replacing(tags))
    }

    /// For the rest of what the client has to say first, for ever if it has said nothing of it.
    private func wait() -> ReplayDialogueStep {
        if hasClientEnded {
            if !heard.isEmpty { tell("the client ends in the middle of \(turn.name)") }
            isOver = true
            return .end
        }
        guard !heard.isEmpty else { return .needMore }
        let patience =
            turn.begins(with: heard) ? max(Self.patience, turn.duration) : Self.shortPatience
        let passed = clock.milliseconds(since: quietSince)
        guard passed >= patience else { return .needMoreWithin(patience - passed) }
        tell("the client falls silent in the middle of \(turn.name)")
        isOver = true
        return .end
    }

    /// Tells the first difference: those after it follow from it.
    private func tell(_ difference: String) {
        guard !hasDiffered else { return }
        hasDiffered = true
        miss = ReplayMiss(difference, in: authority)
    }
}

extension [UInt8] {
    /// The text with the first words of its lines replaced.
    fileprivate func replacing(_ words: [[UInt8]: [UInt8]]) -> [UInt8] {
        var result: [UInt8] = []
        for (index, line) in split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { result.append(0x0A) }
            let word = line.firstWord
            result += words[Array(word)] ?? Array(word)
            result += line[word.endIndex...]
        }
        return result
    }
}
