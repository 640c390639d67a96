/// Streams that are reset without an error some sweeps after our direction of them has ended: the
/// peer need not send the rest (RFC 9113 §8.1).
///
/// Clients that read a reset before they have looked at the response, as curl 7 does that still
/// sends, take it for lost.
struct LateResets {
    /// Of a quarter of a second each: that curl needs less than 300 ms was measured.
    private static let sweepsToReset = 3

    /// Those of which the end is still to go out.
    private var waiting: Set<Int32> = []
    /// Those of which it has, with how many sweeps are to come.
    private var ended: [(stream: Int32, sweeps: Int)] = []

    mutating func add(_ stream: Int32, hasEnded: Bool) {
        if hasEnded {
            ended.append((stream, Self.sweepsToReset))
        } else {
            waiting.insert(stream)
        }
    }

    mutating func noteSentEnd(_ stream: Int32) {
        guard !waiting.isEmpty, waiting.remove(stream) != nil else { return }
        add(stream, hasEnded: true)
    }

    mutating func noteClosed(_ stream: Int32) {
        if !waiting.isEmpty { waiting.remove(stream) }
        if !ended.isEmpty { ended.removeAll { $0.stream == stream } }
    }

    /// - Returns: those that are due.
    mutating func sweep() -> [Int32] {
        guard !ended.isEmpty else { return [] }
        for index in ended.indices { ended[index].sweeps -= 1 }
        let due = ended.prefix { $0.sweeps <= 0 }.map(\.stream)
        ended.removeFirst(due.count)
        return due
    }
}
