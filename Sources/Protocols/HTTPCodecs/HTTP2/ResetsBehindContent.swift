/// Streams that are reset once all that was said on them has been sent, as a socket that is closed still
/// sends what it holds.
struct ResetsBehindContent {
    /// Of a quarter of a second each, without a byte that the peer has taken.
    private static let patience = 120

    private var waiting: [Int32: (code: UInt32, sweeps: Int)] = [:]

    mutating func add(_ stream: Int32, _ code: UInt32) {
        if waiting[stream] == nil { waiting[stream] = (code, Self.patience) }
    }

    mutating func remove(_ stream: Int32) {
        if !waiting.isEmpty { waiting[stream] = nil }
    }

    mutating func noteProgress(of stream: Int32) {
        if !waiting.isEmpty { waiting[stream]?.sweeps = Self.patience }
    }

    /// Whether one of them has nothing left to send.
    func isDue(_ holdsContent: (Int32) -> Bool) -> Bool {
        !waiting.isEmpty && waiting.keys.contains { !holdsContent($0) }
    }

    /// Those that have nothing left to send.
    mutating func takeDue(ifNot holdsContent: (Int32) -> Bool) -> [(stream: Int32, code: UInt32)] {
        guard !waiting.isEmpty else { return [] }
        let due = waiting.filter { !holdsContent($0.key) }
        for stream in due.keys { waiting[stream] = nil }
        return due.map { ($0.key, $0.value.code) }
    }

    /// - Returns: those whose peer takes nothing.
    mutating func sweep() -> [(stream: Int32, code: UInt32)] {
        guard !waiting.isEmpty else { return [] }
        for stream in waiting.keys { waiting[stream]?.sweeps -= 1 }
        let late = waiting.filter { $0.value.sweeps <= 0 }
        for stream in late.keys { waiting[stream] = nil }
        return late.map { ($0.key, $0.value.code) }
    }
}
