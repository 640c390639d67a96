internal import Base
internal import Synchronization

/// The time that wakes go by: the wall clock's when it began, and from then on what has passed. It
/// follows a wall clock that is ahead by more than a minute, which was set or went on while the machine
/// was suspended; one that was set back is not followed, since all wakes would wait until it has caught
/// up.
final class FetchClock: Sendable {
    /// In milliseconds, since 1970 and since any moment.
    typealias Reading = (wall: Int64, monotonic: Int64)

    private let read: @Sendable () -> Reading
    private let last: Mutex<Reading>

    init(reading read: @escaping @Sendable () -> Reading = FetchClock.machine) {
        self.read = read
        last = Mutex(read())
    }

    /// In milliseconds since 1970, never back.
    func now() -> Int64 {
        let reading = read()
        return last.withLock { last in
            let time = last.wall + max(0, reading.monotonic - last.monotonic)
            let isAhead = reading.wall - time > Self.difference
            last = (isAhead ? reading.wall : time, max(last.monotonic, reading.monotonic))
            return last.wall
        }
    }

    private static let machine: @Sendable () -> Reading = {
        (
            Timestamp.now().microseconds / 1000,
            Int64(clamping: MonotonicTime.now().nanoseconds / 1_000_000)
        )
    }

    /// In milliseconds.
    private static let difference: Int64 = 60_000
}
