internal import Base

/// Decides what the signals that ask for the end come to, by their order and their time.
///
/// One wish often comes twice: `timeout` signals its command and right after it the whole group,
/// the command among it, and so does a terminal whose shell's children pass a signal on.
struct StopMachine {
    enum Action: Equatable {
        /// End in order, with a verdict.
        case stop
        /// The wish is known.
        case none
        /// End by force what does not end, still with a verdict.
        case insist
        /// End at once.
        case leave
    }

    private var count = 0
    /// When the last signal came that was a wish of its own.
    private var last = MonotonicTime(nanoseconds: 0)

    mutating func take(at time: MonotonicTime) -> Action {
        // Two threads may have taken two signals, and so told of them in the wrong order.
        let elapsed = time > last ? time.nanoseconds - last.nanoseconds : 0
        guard count == 0 || elapsed >= Self.sameWish else { return .none }
        count += 1
        last = time
        return count == 1 ? .stop : count == 2 ? .insist : .leave
    }

    /// In nanoseconds. A machine under load may keep a sender waiting between two signals.
    private static let sameWish: UInt64 = 1_000_000_000
}
