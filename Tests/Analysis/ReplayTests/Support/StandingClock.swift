import Base
import Synchronization
import Traffic
@testable import Replay

/// Time that only passes where a test says so.
final class StandingClock: Sendable {
    private let passed = Mutex<UInt64>(0)

    var milliseconds: UInt64 { passed.withLock(\.self) }

    func pass(_ milliseconds: UInt64) { passed.withLock { $0 += milliseconds } }

    func options(_ timing: Int64) -> ReplayOptions {
        var options = ReplayOptions()
        options.timing = timing
        options.now = { [self] in
            MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
        }
        return options
    }
}
