internal import Base
internal import Synchronization
internal import TLS

/// SHA-256 of a file from its start on, read from the disk while the file grows, so that little is
/// left to be read at the end.
///
/// `@unchecked Sendable`: the hash is used under the lock only.
final class ReadDigest: @unchecked Sendable {
    private let state = Mutex(State())

    private struct State {
        nonisolated(unsafe) var hash = RunningHash(.sha256)
        /// Up to where it has read, in bytes.
        var end: Int64 = 0
    }

    func reset() { state.withLock { $0 = State() } }

    /// Reads on, if the range is the next one.
    func read(_ range: Range<Int64>, of file: any DiskFile) throws(DiskFailure) {
        try state.withLock { state throws(DiskFailure) in
            guard range.lowerBound == state.end else { return }
            while state.end < range.upperBound {
                let count = Int(min(Self.pieceSize, range.upperBound - state.end))
                let piece = try file.read(at: state.end, count: count)
                guard piece.count == count else {
                    throw DiskFailure(.broken, "a file ended before its end")
                }
                unsafe state.hash.update(piece)
                state.end += Int64(count)
            }
        }
    }

    /// Up to where it has read, in bytes.
    var end: Int64 { state.withLock { $0.end } }

    /// The digest of what was read; begins anew.
    func finish() -> [UInt8] {
        state.withLock { state in
            defer { state = State() }
            return unsafe state.hash.finish()
        }
    }

    /// In bytes.
    private static let pieceSize: Int64 = 1 << 18
}
