internal import Base
internal import TLS

/// SHA-256 of a file from its start on, read from the disk while the file grows, so that little is
/// left to be read at the end.
///
/// Whoever writes to the file never waits for it: what was read of bytes that are written again is
/// thrown away, with what reads them.
///
/// `@unchecked Sendable`: used on the service's loop, but for the hash, which one work at a time uses.
final class ReadDigest: @unchecked Sendable {
    private let hash = RunningHash(.sha256)
    private var reading: DiskWork<Void>?
    /// Up to where it has read, or is reading, in bytes.
    private(set) var end: Int64 = 0

    /// Begins to read on if nothing is being read, and if it is worth it.
    func advance(
        to limit: Int64, of file: any DiskFile, by worker: DiskWorker
    ) async throws(DiskFailure) {
        if let reading, !reading.isDone { return }
        try await wait()
        guard limit - end >= Self.leastSize else { return }
        begin(to: min(limit, end + Self.mostSize), of: file, by: worker)
    }

    /// Reads what is left.
    ///
    /// - Returns: the digest of the first `size` bytes, which uses it up; `nil` if more was read, or if
    ///   the task was stopped.
    func finish(
        at size: Int64, of file: any DiskFile, for transfer: RunningTransfer
    ) async throws(DiskFailure) -> [UInt8]? {
        try await wait()
        guard end <= size else { return nil }
        while end < size {
            begin(to: min(size, end + Self.mostSize), of: file, by: transfer.worker)
            try await wait()
            if transfer.isStopped { return nil }
        }
        return hash.finish()
    }

    private func begin(to limit: Int64, of file: any DiskFile, by worker: DiskWorker) {
        let range = end..<limit
        end = limit
        reading = worker.begin { [self] () throws(DiskFailure) in try read(range, of: file) }
    }

    private func wait() async throws(DiskFailure) {
        guard let reading else { return }
        try await reading.value()
        self.reading = nil
    }

    private func read(_ range: Range<Int64>, of file: any DiskFile) throws(DiskFailure) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let piece = try file.read(
                at: offset, count: Int(min(Self.pieceSize, range.upperBound - offset)))
            guard !piece.isEmpty else {
                throw DiskFailure(.broken, "a file ended before its end")
            }
            hash.update(piece)
            offset += Int64(piece.count)
        }
    }

    // All in bytes.
    private static let pieceSize: Int64 = 1 << 18
    private static let leastSize: Int64 = 1 << 20
    /// Others wait for a thread meanwhile.
    private static let mostSize: Int64 = 16 << 20
}
