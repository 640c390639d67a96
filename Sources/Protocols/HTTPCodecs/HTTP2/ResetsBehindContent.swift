/// Streams that are reset once all that was said on them has been sent, as a socket that is closed still
/// sends what it holds.
struct ResetsBehindContent {
    /// One that waits; its times are in sweeps of a quarter of a second.
    private struct Waiting {
        let code: UInt32
        /// Until it is reset, whatever its peer takes.
        var left = 120
        /// Until it is reset, if its peer takes nothing.
        var idle: Int
    }

    /// Sweeps without a byte that the peer has taken: for a while, and where the connection is to end.
    private static let (patience, lastPatience) = (16, 4)

    private var waiting: [Int32: Waiting] = [:]
    private var isEnding = false

    private var idle: Int { isEnding ? Self.lastPatience : Self.patience }

    mutating func add(_ stream: Int32, _ code: UInt32) {
        if waiting[stream] == nil { waiting[stream] = Waiting(code: code, idle: idle) }
    }

    mutating func remove(_ stream: Int32) {
        if !waiting.isEmpty { waiting[stream] = nil }
    }

    mutating func noteProgress(of stream: Int32) {
        guard !waiting.isEmpty else { return }
        let idle = idle
        waiting[stream]?.idle = idle
    }

    /// The connection is to end.
    mutating func hurry() {
        isEnding = true
        for stream in waiting.keys { waiting[stream]?.idle = Self.lastPatience }
    }

    /// Whether one of them has nothing left to send.
    func isDue(_ holdsContent: (Int32) -> Bool) -> Bool {
        !waiting.isEmpty && waiting.keys.contains { !holdsContent($0) }
    }

    /// Those that have nothing left to send.
    mutating func takeDue(ifNot holdsContent: (Int32) -> Bool) -> [(stream: Int32, code: UInt32)] {
        take { stream, _ in !holdsContent(stream) }
    }

    /// - Returns: those whose time is over.
    mutating func sweep() -> [(stream: Int32, code: UInt32)] {
        guard !waiting.isEmpty else { return [] }
        for stream in waiting.keys {
            waiting[stream]?.left -= 1
            waiting[stream]?.idle -= 1
        }
        return take { _, waiting in min(waiting.left, waiting.idle) <= 0 }
    }

    private mutating func take(
        where isDue: (Int32, Waiting) -> Bool
    ) -> [(stream: Int32, code: UInt32)] {
        guard !waiting.isEmpty else { return [] }
        let due = waiting.filter { isDue($0.key, $0.value) }
        for stream in due.keys { waiting[stream] = nil }
        return due.map { ($0.key, $0.value.code) }
    }
}
