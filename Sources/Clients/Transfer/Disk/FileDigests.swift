internal import Base
internal import TLS

/// Digests of a part of a file, read beside the loop.
enum FileDigests {
    /// - Parameter range: in bytes.
    /// - Returns: `nil` if the task was stopped.
    static func of(
        _ file: any DiskFile, _ range: Range<Int64>, _ algorithms: Set<DigestAlgorithm>,
        for transfer: RunningTransfer
    ) async throws(DiskFailure) -> [DigestAlgorithm: [UInt8]]? {
        guard !algorithms.isEmpty else { return [:] }
        let hashes = Hashes(algorithms)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let start = offset
            let count = try await transfer.worker.run { () throws(DiskFailure) in
                let piece = try file.read(
                    at: start, count: Int(min(pieceSize, range.upperBound - start)))
                for hash in hashes.all.values { hash.update(piece) }
                return piece.count
            }
            guard count > 0 else {
                throw DiskFailure(.broken, "a file ended before its end")
            }
            offset += Int64(count)
            if transfer.isStopped { return nil }
            await Task.yield()
        }
        return hashes.all.mapValues { $0.finish() }
    }

    /// `@unchecked Sendable`: one thread at a time uses it.
    private final class Hashes: @unchecked Sendable {
        let all: [DigestAlgorithm: RunningHash]

        init(_ algorithms: Set<DigestAlgorithm>) {
            all = Dictionary(uniqueKeysWithValues: algorithms.map { ($0, RunningHash($0)) })
        }
    }

    /// In bytes.
    private static let pieceSize: Int64 = 1 << 20
}
