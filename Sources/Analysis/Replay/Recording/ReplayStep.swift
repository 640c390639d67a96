internal import Base
package import HTTPModel

/// What comes next of a recorded response. Indirect: heads are large.
package indirect enum ReplayStep {
    /// More of the request is needed.
    case needMore
    /// Nothing for so many milliseconds.
    case pause(UInt64)
    case interim(ResponseHead)
    /// - `isAll`: whether neither content nor trailers follow.
    case head(ResponseHead, isAll: Bool)
    /// A 101, and what is spoken then.
    case switching(ResponseHead, any ReplayDialogue)
    case content([UInt8])
    case end(trailers: Fields)
    /// The origin broke off here.
    case broken
    case miss(ReplayMiss)
}

/// The origin's side of a recorded stream that is no HTTP.
package protocol ReplayDialogue: AnyObject, Sendable {
    func receive(_ bytes: Span<UInt8>)
    /// Takes note that the client sends nothing more.
    func noteEnd()
    func next() -> ReplayDialogueStep
    /// What the client said otherwise than it was recorded; it is told once.
    func takeMiss() -> ReplayMiss?
}

extension ReplayDialogue {
    package func takeMiss() -> ReplayMiss? { nil }
}

package enum ReplayDialogueStep: Sendable, Equatable {
    case needMore
    /// The same, and to be asked again if nothing comes for so many milliseconds.
    case needMoreWithin(UInt64)
    case pause(UInt64)
    case send([UInt8])
    case end
}

/// When recorded moments are due.
struct ReplayClock {
    private let now: @Sendable () -> MonotonicTime
    private let start: MonotonicTime
    /// In thousandths.
    private let factor: Int64

    init(_ options: ReplayOptions) {
        factor = options.timing
        now = options.now
        start = now()
    }

    var time: MonotonicTime { now() }

    func milliseconds(since time: MonotonicTime) -> UInt64 {
        UInt64(clamping: (now().nanoseconds - time.nanoseconds) / 1_000_000)
    }

    /// How many milliseconds there are until a moment, `nil` if it is now or has been.
    ///
    /// - Parameter due: from the start of the recording, in microseconds.
    func wait(until due: Int64) -> UInt64? {
        guard factor > 0 else { return nil }
        let (scaled, overflow) = due.multipliedReportingOverflow(by: factor)
        let passed = Int64(clamping: (now().nanoseconds - start.nanoseconds) / 1000)
        let left = (overflow ? Int64.max / 1000 : scaled / 1000) - passed
        return left > 0 ? UInt64(left + 999) / 1000 : nil
    }
}
