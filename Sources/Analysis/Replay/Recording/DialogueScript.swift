internal import Base
internal import Traffic

/// What the sides of a recorded stream said, in order.
struct DialogueScript: Sendable {
    private(set) var lines: [Line] = []

    struct Line: Sendable {
        let direction: Direction
        let kind: MessageRecord.Kind
        var bytes: [UInt8]
        /// From the first line, in microseconds.
        let due: Int64
        /// The code of a close, as it was recorded.
        let detail: String
        fileprivate let number: Int64
    }

    private var start: Timestamp?

    /// Adds a message, or the next part of one.
    mutating func add(_ message: MessageRecord) {
        if let last = lines.indices.last, lines[last].number == message.number {
            lines[last].bytes += message.bytes
            return
        }
        start = start ?? message.at
        lines.append(
            Line(
                direction: message.direction, kind: message.kind, bytes: message.bytes,
                due: message.at.microseconds(since: start ?? message.at), detail: message.detail,
                number: message.number))
    }
}

/// A recorded stream of bytes as a play: what the client said before each of the origin's lines has
/// to have come.
///
/// `@unchecked Sendable`: one loop drives it.
final class SegmentDialogue: ReplayDialogue, @unchecked Sendable {
    private let lines: [DialogueScript.Line]
    private let clock: ReplayClock
    private var position = 0
    private var heard: [UInt8] = []
    private var hasClientEnded = false

    /// Of what is heard and not yet expected, in bytes.
    private static let heardLimit = 16 << 20

    init(_ script: DialogueScript, _ options: ReplayOptions) {
        lines = script.lines
        clock = ReplayClock(options)
    }

    func receive(_ bytes: Span<UInt8>) {
        guard heard.count + bytes.count <= Self.heardLimit else { return }
        unsafe bytes.withUnsafeBufferPointer { unsafe heard.append(contentsOf: $0) }
    }

    func noteEnd() { hasClientEnded = true }

    func next() -> ReplayDialogueStep {
        guard hearClient() else { return hasClientEnded ? .end : .needMore }
        guard position < lines.count else {
            // Nobody knows what the origin would have said to more.
            return hasClientEnded || !heard.isEmpty || lines.last?.direction == .response
                ? .end : .needMore
        }
        let line = lines[position]
        if let time = clock.wait(until: line.due) { return .pause(time) }
        position += 1
        return .send(line.bytes)
    }

    /// Passes over what the client said, once all of it has come.
    private func hearClient() -> Bool {
        let end = lines[position...].firstIndex { $0.direction == .response } ?? lines.count
        let expected = lines[position..<end].reduce(into: [UInt8]()) { $0 += $1.bytes }
        guard !expected.isEmpty else {
            position = end
            return true
        }
        // A line that is longer or shorter this time, such as a name, is a line none the less.
        let lineCount = expected.last == 0x0A ? expected.count { $0 == 0x0A } : 0
        if lineCount > 0, let last = heard.index(ofLine: lineCount) {
            heard.removeSubrange(...last)
        } else if lineCount == 0, heard.count >= expected.count {
            heard.removeFirst(expected.count)
        } else {
            return false
        }
        position = end
        return true
    }
}

extension [UInt8] {
    /// Where the line feed of the n-th line stands.
    fileprivate func index(ofLine count: Int) -> Int? {
        var left = count
        return firstIndex { byte in
            if byte == 0x0A { left -= 1 }
            return left == 0
        }
    }
}
