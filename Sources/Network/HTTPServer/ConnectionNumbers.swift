internal import Synchronization

/// Counts the connections of one server, over all its ports and loops.
final class ConnectionNumbers: Sendable {
    private let last = Atomic<UInt64>(0)

    /// Counted from 1.
    func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
