internal import Base
internal import TLS

/// Ends a download that is whole: compares it with its digests, and moves it to where it goes.
///
/// What has a digest is read from the disk again for it: what its origin or its owner has told one of,
/// and what is short (`TransferLimits.digestedSize`).
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
        var wanted: [ExpectedDigest]
        var digests: [DigestAlgorithm: [UInt8]]
        repeat {
            wanted = store.expected
            guard let found = try await self.digests(store.digests(size)) else { return .stopped }
            digests = found
            // Who asks for the same file meanwhile may name one.
        } while wanted != store.expected
        guard wanted.allSatisfy({ digests[$0.algorithm] == $0.bytes }) else {
            return try refuse(digests)
        }
        guard try isAsVerified(digests[.sha256]) else {
            try store.drop(because: "file-changed")
            return .again
        }
        guard !transfer.isStopped else { return .stopped }
        let (store, size, digest) = (store, size, digests[.sha256])
        let task = transfer.task
        transfer.isDelivering = true
        try await transfer.worker.run { () throws(DiskFailure) in
            if try store.file.size() > size { try store.file.truncate(to: size) }
            try store.file.sync()
            try Self.check(store.file, at: store.path)
            let content = VerifiedContent(
                size: size, sha256: digest, in: try store.file.identity())
            try store.transfer.journal.append(.verified(content))
            try Self.deliver(store.file, content, of: store.transfer, task, from: store.path)
        }
        return .completed
    }

    /// Whether it is what was found right when it could not be delivered; so is what was never found right.
    private func isAsVerified(_ digest: [UInt8]?) throws(DiskFailure) -> Bool {
        guard let verified = transfer.journal.state.verified, verified.size == size else {
            return true
        }
        guard let known = verified.sha256 else { return verified.isIn(try store.file.identity()) }
        return digest == known
    }

    /// Whether it is what its digests say.
    func isRight() async throws(DiskFailure) -> Bool {
        let wanted = store.expected
        let digests = try await digests(Set(wanted.map(\.algorithm)))
        return wanted.allSatisfy { digests?[$0.algorithm] == $0.bytes }
    }

    private func digests(
        _ algorithms: Set<DigestAlgorithm>
    ) async throws(DiskFailure) -> [DigestAlgorithm: [UInt8]]? {
        if algorithms == [.sha256], let digest = try await store.digest(at: size) {
            return [.sha256: digest]
        }
        return try await FileDigests.of(store.file, 0..<size, algorithms, for: transfer)
    }

    private func refuse(
        _ found: [DigestAlgorithm: [UInt8]]
    ) throws(DiskFailure) -> AttemptOutcome {
        let failure = mismatch(found)
        let isRepeated = transfer.journal.state.restarts.contains(Self.mismatch)
        try store.drop(because: Self.mismatch)
        guard isRepeated else { return .again }
        return .failed(failure)
    }

    private func mismatch(_ found: [DigestAlgorithm: [UInt8]]) -> Failure {
        // What the user names is only at fault where the origin does not contradict itself.
        let told = store.saved?.digests.first { found[$0.algorithm] != $0.bytes }
        guard let wanted = told ?? transfer.task.options.expected else {
            preconditionFailure("nothing was compared")
        }
        let (name, digest) = (wanted.algorithm.rawValue, found[wanted.algorithm] ?? [])
        let whose = told == nil ? "was wanted" : "is what its origin told"
        return Failure(
            Self.mismatch, party: told == nil ? .client : .origin,
            "\(transfer.task.url): its \(name) was \(digest.hex) twice, and \(wanted.bytes.hex)"
                + " \(whose)")
    }

    private static let mismatch = "digest-mismatch"

    // MARK: Delivery

    private static func deliver(
        _ file: any DiskFile, _ content: VerifiedContent, of transfer: RunningTransfer,
        _ task: TransferTask, from path: String
    ) throws(DiskFailure) {
        let disk = transfer.disk
        guard let target = task.file else {
            try disk.syncFolder(path.folder)
            return try transfer.journal.append(.completed(path: path))
        }
        do throws(DiskFailure) {
            try disk.rename(path, to: target, replacing: task.options.replacesFile)
        } catch {
            guard error.kind == .exists else { throw error }
            throw DiskFailure(.exists, "all has come, and \(target) is in its way")
        }
        try check(file, at: target)
        try disk.syncFolder(target.folder)
        try transfer.journal.append([
            .verified(content.delivered(try file.identity())), .completed(path: target),
        ])
    }

    /// What was compared is what is delivered.
    private static func check(_ file: any DiskFile, at path: String) throws(DiskFailure) {
        guard try file.isThere(path) else {
            throw DiskFailure(.other, "\(path) was removed, or has another file in its place")
        }
    }

    /// What is at a target; `nil` for a folder, a link, another's file or the like, which is in the way.
    private static func opened(
        _ target: String, of transfer: RunningTransfer
    ) throws(DiskFailure) -> (any DiskFile)? {
        do throws(DiskFailure) {
            return try transfer.open(target, creating: false)
        } catch {
            guard error.kind == .other else { throw error }
            return nil
        }
    }

    /// Whether a file is what was verified, and what its owner expects; `nil` if the task was stopped.
    private static func isVerified(
        _ file: any DiskFile, _ verified: VerifiedContent, for transfer: RunningTransfer
    ) async throws(DiskFailure) -> Bool? {
        if verified.sha256 == nil, !verified.isIn(try file.identity()) { return false }
        let known = verified.sha256.map { ExpectedDigest(.sha256, $0) }
        var expected: ExpectedDigest?
        var isRight = false
        repeat {
            expected = transfer.task.options.expected
            let wanted = [known, expected].compactMap { $0 }
            let found = try await FileDigests.of(
                file, 0..<verified.size, Set(wanted.map(\.algorithm)), for: transfer)
            guard let found, !transfer.isStopped else { return nil }
            isRight = wanted.allSatisfy { found[$0.algorithm] == $0.bytes }
            // As in `run`.
        } while expected != transfer.task.options.expected
        return isRight
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
        if try disk.isLinked(path), let outcome = try await letGo(path, verified, of: transfer) {
            return outcome
        }
        let isGathered = try disk.size(of: path) ?? 0 > 0
        guard let file = try delivered(verified, of: transfer) else {
            if !isGathered { try transfer.journal.append(.restarted("file-missing")) }
            return nil
        }
        let identity = try file.identity()
        guard let isRight = try await isVerified(file, verified, for: transfer) else {
            return .stopped
        }
        // Its owner has it already, and may write to it.
        guard isRight, try file.identity() == identity else {
            if !isGathered { try transfer.journal.append(.restarted("file-missing")) }
            return nil
        }
        transfer.isDelivering = true
        try check(file, at: target)
        if isGathered { try disk.remove(path) }
        try disk.syncFolder(target.folder)
        let content = VerifiedContent(
            size: verified.size, sha256: verified.sha256, in: identity
        ).delivered(try file.identity())
        try transfer.journal.append([.verified(content), .completed(path: target)])
        return .completed
    }

    /// Lets go of a file that has another name as well: the first half of the rename was done, so that it is
    /// its owner's, and nothing is written there. One that is as it was is delivered, if it is not: others
    /// give names too.
    ///
    /// - Returns: `nil` if the task's name of it is gone.
    private static func letGo(
        _ path: String, _ verified: VerifiedContent, of transfer: RunningTransfer
    ) async throws(DiskFailure) -> AttemptOutcome? {
        let file = try transfer.open(path, creating: false)
        let isThere = try transfer.task.file.map { target throws(DiskFailure) in
            try file.isThere(target)
        }
        if isThere == false, try file.size() == verified.size {
            let identity = try file.identity()
            guard let isRight = try await isVerified(file, verified, for: transfer) else {
                return .stopped
            }
            if isRight, try file.identity() == identity {
                transfer.isDelivering = true
                let content = VerifiedContent(
                    size: verified.size, sha256: verified.sha256, in: identity)
                try deliver(file, content, of: transfer, transfer.task, from: path)
                return .completed
            }
        }
        try transfer.disk.remove(path)
        return nil
    }

    /// What has the name and the size of what was verified; `nil` if nothing has.
    private static func delivered(
        _ verified: VerifiedContent, of transfer: RunningTransfer
    ) throws(DiskFailure) -> (any DiskFile)? {
        guard let target = transfer.task.file, try transfer.disk.size(of: target) != nil,
            let file = try opened(target, of: transfer), try file.size() == verified.size
        else { return nil }
        return file
    }
}
