internal import Base
internal import TLS

/// Ends a download that is whole: reads it again from the disk, compares it, and moves it to where it
/// goes.
///
/// In this order, so that after a crash at any point it is done once: digest, data synced, journal
/// (verified), rename, folder synced, journal (completed).
struct DownloadFinish {
    private let store: DownloadStore
    private let transfer: RunningTransfer
    private let size: Int64

    init(_ store: DownloadStore, at size: Int64? = nil) {
        self.store = store
        transfer = store.transfer
        self.size = size ?? store.offset
    }

    func run() async throws(DiskFailure) -> AttemptOutcome {
        transfer.note(.verifying)
        let wanted = expected
        let digests = try await digests(Set(wanted.map(\.algorithm)).union([.sha256]))
        guard let digests, let digest = digests[.sha256] else { return .stopped }
        guard wanted.allSatisfy({ digests[$0.algorithm] == $0.bytes }) else {
            return try refuse()
        }
        let (store, size) = (store, size)
        try await transfer.worker.run { () throws(DiskFailure) in
            if try store.file.size() > size { try store.file.truncate(to: size) }
            try store.file.sync()
            try store.transfer.journal.append(.verified(sha256: digest, size: size))
            try Self.deliver(store.transfer, from: store.path)
        }
        return .completed
    }

    /// Whether it is what its digests say.
    func isRight() async throws(DiskFailure) -> Bool {
        let wanted = expected
        let digests = try await digests(Set(wanted.map(\.algorithm)))
        return wanted.allSatisfy { digests?[$0.algorithm] == $0.bytes }
    }

    private func digests(
        _ algorithms: Set<DigestAlgorithm>
    ) async throws(DiskFailure) -> [DigestAlgorithm: [UInt8]]? {
        if algorithms == [.sha256], store.running.end == size {
            return [.sha256: store.running.finish()]
        }
        return try await Self.digests(store.file, size, algorithms, for: transfer)
    }

    private var expected: [ExpectedDigest] {
        (store.saved?.digests ?? []) + (transfer.task.options.expected.map { [$0] } ?? [])
    }

    private func refuse() throws(DiskFailure) -> AttemptOutcome {
        let isRepeated = transfer.journal.state.restarts.contains(Self.mismatch)
        try store.drop(because: Self.mismatch)
        guard isRepeated else { return .again }
        return .failed(
            Failure(
                Self.mismatch, party: .origin,
                "\(transfer.task.url): its digest is not the one that was told, twice"))
    }

    private static let mismatch = "digest-mismatch"

    // MARK: Digests

    /// - Returns: `nil` if the task was stopped.
    private static func digests(
        _ file: any DiskFile, _ size: Int64, _ algorithms: Set<DigestAlgorithm>,
        for transfer: RunningTransfer
    ) async throws(DiskFailure) -> [DigestAlgorithm: [UInt8]]? {
        let hashes = Hashes(algorithms)
        var offset: Int64 = 0
        while offset < size {
            let start = offset
            let count = try await transfer.worker.run { () throws(DiskFailure) in
                let piece = try file.read(
                    at: start, count: Int(min(pieceSize, size - start)))
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

    // MARK: Delivery

    private static func deliver(
        _ transfer: RunningTransfer, from path: String
    ) throws(DiskFailure) {
        let disk = transfer.disk
        guard let target = transfer.task.file else {
            try disk.syncFolder(path.folder)
            return try transfer.journal.append(.completed(path: path))
        }
        try disk.rename(path, to: target, replacing: transfer.task.options.replacesFile)
        try disk.syncFolder(target.folder)
        try transfer.journal.append(.completed(path: target))
    }

    /// Goes on where a crash came between the comparison and the end.
    ///
    /// - Returns: `nil` if the download has to go on.
    static func recover(_ transfer: RunningTransfer) async throws(DiskFailure) -> AttemptOutcome? {
        guard let verified = transfer.journal.state.verified, let target = transfer.task.file else {
            return nil
        }
        let disk = transfer.disk
        let path = DownloadStore.path(of: transfer.task, in: transfer.folder)
        let isGathered = try disk.size(of: path) ?? 0 > 0
        guard try disk.size(of: target) != nil else {
            if !isGathered { try transfer.journal.append(.restarted("file-missing")) }
            return nil
        }
        let file = try transfer.open(target, creating: false)
        guard try file.size() == verified.size else {
            if !isGathered { try transfer.journal.append(.restarted("file-missing")) }
            return nil
        }
        let digests = try await digests(file, verified.size, [.sha256], for: transfer)
        guard let digests else { return .stopped }
        guard digests[.sha256] == verified.digest else {
            if !isGathered { try transfer.journal.append(.restarted("file-missing")) }
            return nil
        }
        // The rename was done, or its first half.
        if isGathered { try disk.remove(path) }
        try disk.syncFolder(target.folder)
        try transfer.journal.append(.completed(path: target))
        return .completed
    }
}
