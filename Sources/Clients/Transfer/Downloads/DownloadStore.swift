internal import Base

/// The file that a download is gathered in, with the journal of what is in it.
///
/// Data is synced before the journal says that it is there, so that the journal never says too much.
///
/// `@unchecked Sendable`: used on the service's loop, but for the file and the journal, which take
/// calls from any thread.
final class DownloadStore: @unchecked Sendable {
    let transfer: RunningTransfer
    let file: any DiskFile
    let path: String
    /// What the journal does not say yet, and must before the next progress.
    private var unsaid: [JournalRecord] = []
    /// What commits under way say.
    private var saying: [DownloadCommit] = []
    /// Of what was committed, from the start on.
    private var readDigest = ReadDigest()
    /// Whether a crash could still take the file itself.
    private var isNew: Bool

    /// Opens the file, and takes back what the journal says too much of it, whatever the disk did.
    init(_ transfer: RunningTransfer) throws(DiskFailure) {
        self.transfer = transfer
        path = Self.path(of: transfer.task, in: transfer.folder)
        file = try transfer.open(path, creating: true)
        isNew = transfer.journal.state.committedCount == 0
        try check()
    }

    /// Where a download is gathered: beside the place where it goes, so that it needs no copying to
    /// get there.
    static func path(of task: TransferTask, in folder: String) -> String {
        guard let file = task.file else { return "\(folder)/content" }
        let slash = file.lastIndex(of: "/")
        let name = slash.map { file[file.index(after: $0)...] } ?? file[...]
        let parent = slash.map { file[...$0] } ?? ""
        // Names have 255 bytes at most, of which a character may take many.
        var shown = name.prefix(40)
        while shown.utf8.count > 160 { shown.removeLast() }
        return "\(parent).\(shown).\(task.identifier).part"
    }

    var saved: SavedVersion? {
        for record in (saying.flatMap(\.records) + unsaid).reversed() {
            if case .head(let version) = record { return version }
        }
        return transfer.journal.state.saved
    }

    /// From the start on without a gap, in bytes.
    var offset: Int64 { transfer.journal.state.prefix }

    /// Where what comes behind the first gap begins; `nil` if nothing does.
    var gapEnd: Int64? {
        let ranges = transfer.journal.state.committed.ranges
        return ranges.first { $0.lowerBound > 0 }?.lowerBound
    }

    /// In bytes: so much of what another request brought is asked for again and compared where two
    /// parts meet, unless what is put together wrongly will be seen at its end.
    var boundary: Int64 {
        let isDigestKnown =
            transfer.task.options.expected != nil || (saved?.hasSecureDigest ?? false)
        return isDigestKnown ? 0 : Self.boundarySize
    }

    static let boundarySize: Int64 = 256

    // MARK: Versions

    /// Drops what is there for a version that begins now.
    ///
    /// - Parameters:
    ///   - kept: how much of the start is of the new version as well, in bytes.
    ///   - reason: why; `nil` where nothing was there.
    func begin(
        _ version: SavedVersion, keeping kept: Int64 = 0, because reason: String
    ) throws(DiskFailure) {
        let state = transfer.journal.state
        let version = version.heir(to: transfer.dropped)
        guard state.committedCount > 0 else {
            // Nothing is lost if a crash comes before this is said.
            unsaid = [.head(version)]
            readDigest = ReadDigest()
            return try file.truncate(to: 0)
        }
        unsaid = []
        readDigest = ReadDigest()
        transfer.closedEnd = nil
        // Before a byte of the old version goes.
        var records: [JournalRecord] = [.restarted(reason), .head(version)]
        if kept > 0 { records.append(.progress(try blockCheck(endingAt: kept), from: 0)) }
        try transfer.journal.append(records)
        try file.truncate(to: kept)
        transfer.task.restarts = transfer.journal.state.restarts
    }

    /// Drops all that is there.
    func drop(because reason: String) throws(DiskFailure) {
        transfer.dropped = saved ?? transfer.dropped
        unsaid = []
        readDigest = ReadDigest()
        transfer.closedEnd = nil
        try transfer.journal.append(.restarted(reason))
        try file.truncate(to: 0)
        transfer.task.restarts = transfer.journal.state.restarts
        transfer.noteProgress(0, total: nil)
    }

    /// Drops what parts have brought behind the first gap, for a whole that comes now without being
    /// compared with them: written over, they would be counted, and digested, as what they were.
    func dropParts() throws(DiskFailure) {
        guard gapEnd != nil else { return }
        let end = offset
        var records = [JournalRecord.forgotten]
        if end > 0 { records.append(.progress(try blockCheck(endingAt: end), from: 0)) }
        try transfer.journal.append(records)
        try file.truncate(to: end)
        transfer.noteProgress(end, total: saved?.length)
    }

    /// Takes notice of bytes that are written: what was digested of them is so no longer.
    func noteWriting(at position: Int64) {
        if position < readDigest.end { readDigest = ReadDigest() }
    }

    /// Takes a better description of the same version.
    func note(_ version: SavedVersion) {
        guard version != saved else { return }
        unsaid.append(.head(version))
    }

    // MARK: Progress

    /// Begins to make safe what was written, and to say so; `settle` has to follow.
    func beginCommit(_ range: Range<Int64>) -> DownloadCommit {
        let (records, isNew) = (unsaid, isNew)
        unsaid = []
        let work = transfer.worker.begin { [self] () throws(DiskFailure) in
            guard !range.isEmpty else {
                return records.isEmpty ? () : try transfer.journal.append(records)
            }
            try file.sync()
            if isNew { try transfer.disk.syncFolder(path.folder) }
            let check = try blockCheck(endingAt: range.upperBound)
            try transfer.journal.append(records + [.progress(check, from: range.lowerBound)])
        }
        let commit = DownloadCommit(work, records)
        saying.append(commit)
        return commit
    }

    /// Waits for a commit.
    func settle(_ commit: DownloadCommit) async throws(DiskFailure) {
        defer { saying.removeAll { $0 === commit } }
        do throws(DiskFailure) {
            try await commit.work.value()
        } catch {
            unsaid = commit.records + unsaid
            throw error
        }
        isNew = false
        let state = transfer.journal.state
        transfer.noteProgress(state.committedCount, total: saved?.length)
        guard digests(saved?.length ?? state.prefix).contains(.sha256) else { return }
        try await readDigest.advance(to: state.prefix, of: file, by: transfer.worker)
    }

    /// What the whole has to be.
    var expected: [ExpectedDigest] {
        (saved?.digests ?? []) + (transfer.task.options.expected.map { [$0] } ?? [])
    }

    /// The digests to take of a whole of `size` bytes.
    func digests(_ size: Int64) -> Set<DigestAlgorithm> {
        let isDigested =
            size <= transfer.limits.digestedSize || transfer.journal.state.verified?.sha256 != nil
        return Set(expected.map(\.algorithm)).union(isDigested ? [.sha256] : [])
    }

    /// SHA-256 of the first `size` bytes, most of which was read already; `nil` if it has to be read from
    /// its start on, or if the task was stopped.
    func digest(at size: Int64) async throws(DiskFailure) -> [UInt8]? {
        let digest = readDigest
        readDigest = ReadDigest()
        return try await digest.finish(at: size, of: file, for: transfer)
    }

    private func blockCheck(endingAt end: Int64) throws(DiskFailure) -> BlockCheck {
        let count = Int(min(end, Int64(BlockCheck.size)))
        let bytes = try file.read(at: end - Int64(count), count: count)
        return BlockCheck(end: end, count: count, checksum: bytes.castagnoli)
    }

    private func check() throws(DiskFailure) {
        let state = transfer.journal.state
        let size = try file.size()
        var records: [JournalRecord] = []
        var isRight = true
        for range in state.committed.ranges {
            let check = state.checks[range.upperBound]
            if range.upperBound <= size, let check, try holds(check) {
                records.append(.progress(check, from: range.lowerBound))
                continue
            }
            isRight = false
            let end = min(range.upperBound, size) - Int64(BlockCheck.size)
            if end > range.lowerBound {
                records.append(.progress(try blockCheck(endingAt: end), from: range.lowerBound))
            }
        }
        if !isRight { try transfer.journal.append([.forgotten] + records) }
        // Behind it may be anything that a crash left.
        let kept = transfer.journal.state.committed.ranges.last?.upperBound ?? 0
        if size > kept, state.verified == nil { try file.truncate(to: kept) }
    }

    private func holds(_ check: BlockCheck) throws(DiskFailure) -> Bool {
        let bytes: [UInt8]
        do throws(DiskFailure) {
            bytes = try file.read(at: check.end - Int64(check.count), count: check.count)
        } catch {
            guard error.kind == .unreadable else { throw error }
            return false
        }
        return bytes.count == check.count && bytes.castagnoli == check.checksum
    }
}

/// Bytes that are being made safe.
final class DownloadCommit: Sendable {
    fileprivate let work: DiskWork<Void>
    /// What the journal says with it.
    fileprivate let records: [JournalRecord]

    fileprivate init(_ work: DiskWork<Void>, _ records: [JournalRecord]) {
        self.work = work
        self.records = records
    }

    var isDone: Bool { work.isDone }
}

extension [UInt8] {
    /// CRC32C.
    fileprivate var castagnoli: UInt32 {
        let sum = RunningChecksum(.crc32c)
        sum.update(self)
        return sum.finish().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
