internal import Base

/// How long an origin is waited for, by how long it took in the recording.
enum RecordedPatience {
    /// As long as it took between two moments, an hour at most: a file's word for a time is not
    /// taken.
    static func milliseconds(from start: Timestamp, to end: Timestamp) -> UInt64 {
        min(UInt64(end.microseconds(since: start)) / 1000, limit)
    }

    /// In milliseconds.
    private static let limit: UInt64 = 3_600_000
}
