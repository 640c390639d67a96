internal import Base
internal import Contents
internal import HTTPClient
internal import HTTPModel
internal import TLS

/// Takes the answer to one request of a download: decides by its head, compares what is there and
/// writes what is not.
///
/// `@unchecked Sendable`: used on the service's loop.
final class DownloadReception: ClientReception, @unchecked Sendable {
    private let store: DownloadStore
    private let plan: ResumePlan
    private let location: TransferLocation
    private let isExpected: Bool
    private(set) var facts: AnswerFacts?
    /// `nil` while there is no head.
    private(set) var step: ResumeStep?
    private(set) var failure: DiskFailure?
    /// Why the content is of no use.
    private(set) var flaw: Flaw?
    /// Up to where the content has come, in bytes of the resource.
    private(set) var position: Int64 = 0
    private var end: Int64?
    /// Up to where it is compared.
    private var comparedEnd: Int64 = 0
    /// What was written and is not committed begins here.
    private var uncommitted: Int64 = 0
    /// What is safe ends here.
    private var committed: Int64 = 0
    private var commit: DiskWork<Void>?
    private var committedAt: Int64
    private var contentHashes: [(hash: RunningHash, expected: [UInt8])] = []
    private let byteLimit: Int64

    enum Flaw: Equatable {
        /// A part does not agree with what is there.
        case mismatch
        /// More came than was said.
        case excess
        case tooLong
        case contentDigest
    }

    init(_ store: DownloadStore, _ plan: ResumePlan, at location: TransferLocation) {
        self.store = store
        self.plan = plan
        self.location = location
        isExpected = store.transfer.task.options.expected != nil
        byteLimit = store.transfer.task.options.byteLimit ?? .max
        committedAt = store.transfer.clock.elapsed
    }

    func takeInterim(_ head: ResponseHead) {}

    // MARK: The head

    func take(_ head: ResponseHead) -> Bool {
        let facts = AnswerFacts(
            url: location.url, head, now: HTTPDate(store.transfer.clock.now))
        let rule = ResumeRule(plan, store.saved, offset: store.offset, isExpected: isExpected)
        let step = rule.judge(facts)
        self.facts = facts
        self.step = step
        do throws(DiskFailure) {
            switch step {
            case .takeWhole:
                try store.begin(facts.version, because: "version-changed")
                end = facts.version.length
            case .append(let start, let end):
                position = start
                comparedEnd = store.offset
                note(facts)
                self.end = end ?? store.saved?.length
            case .next, .complete, .restart, .wait, .refuse, .authenticate, .redirect:
                return false
            }
            uncommitted = max(position, comparedEnd)
            committed = uncommitted
            try checkRoom()
        } catch {
            failure = error
            return false
        }
        for claim in ClaimedDigest.all(RecordedHead(head.raw), trailers: [])
        where claim.field == .content {
            guard case .hash(let algorithm) = claim.algorithm else { continue }
            contentHashes.append((RunningHash(algorithm), claim.bytes))
        }
        return flaw == nil
    }

    /// Completes what is known of the version.
    private func note(_ facts: AnswerFacts) {
        guard var saved = store.saved else { return }
        for digest in facts.version.digests where !saved.digests.contains(digest) {
            saved.digests.append(digest)
        }
        // What is compared with the whole has its length, whatever was said before.
        if saved.length == nil || facts.status != 206 { saved.length = facts.version.length }
        store.note(saved)
    }

    private func checkRoom() throws(DiskFailure) {
        guard let total = store.saved?.length else { return }
        if total > byteLimit { flaw = .tooLong }
        let transfer = store.transfer
        let missing = total - uncommitted
        let free = try transfer.disk.freeSpace(at: store.path.folder)
        guard free < missing else { return }
        throw DiskFailure(
            .full, "cannot write \(store.path): \(missing) bytes are missing, \(free) are free")
    }

    // MARK: The content

    func take(_ piece: Span<UInt8>) {
        guard failure == nil, flaw == nil else { return }
        for content in contentHashes {
            unsafe piece.withUnsafeBytes { unsafe content.hash.update($0) }
        }
        var count = piece.count
        if let end, position + Int64(count) > end {
            count = Int(end - position)
            flaw = .excess
        }
        if position + Int64(count) > byteLimit {
            flaw = .tooLong
            return
        }
        do throws(DiskFailure) {
            let compared = try compare(piece.extracting(..<count))
            try store.file.write(piece.extracting(compared..<count), at: position)
            position += Int64(count - compared)
        } catch {
            failure = error
        }
    }

    /// Compares the start of a piece with what is there.
    ///
    /// - Returns: how much of it is there, in bytes.
    private func compare(_ piece: Span<UInt8>) throws(DiskFailure) -> Int {
        let count = Int(min(Int64(piece.count), comparedEnd - position))
        guard count > 0 else { return 0 }
        let there = try store.file.read(at: position, count: count)
        var same = 0
        while same < there.count, there[same] == piece[same] { same += 1 }
        position += Int64(same)
        guard same < count else { return count }
        guard let facts, facts.status != 206 else {
            flaw = .mismatch
            return count
        }
        // The whole comes: up to here it is what is there, and from here on another version.
        try store.begin(facts.version, keeping: position, because: "version-changed: its content")
        comparedEnd = position
        uncommitted = position
        committed = position
        end = facts.version.length
        return same
    }

    /// Half a batch is made safe while the other half comes.
    func waitForRoom() async -> Bool {
        guard failure == nil, flaw == nil, !store.transfer.isStopped else { return false }
        let limits = store.transfer.limits
        let batch = max(
            limits.batchSize,
            min(limits.fastBatchSize, (store.transfer.task.rate ?? 0) / 8))
        if let commit, commit.isDone { await settle(commit) }
        if commit == nil, position > uncommitted,
            position - uncommitted >= batch / 2
                || store.transfer.clock.elapsed - committedAt >= limits.batchTime
        {
            beginCommit()
        }
        if let commit, position - committed >= batch || commit.isDone {
            await settle(commit)
        }
        return failure == nil && !store.transfer.isStopped
    }

    private func beginCommit() {
        let start = uncommitted
        uncommitted = max(start, position)
        committedAt = store.transfer.clock.elapsed
        commit = store.beginCommit(start..<uncommitted)
    }

    private func settle(_ work: DiskWork<Void>) async {
        commit = nil
        let end = uncommitted
        do throws(DiskFailure) {
            try await store.settle(work)
            committed = end
        } catch {
            failure = failure ?? error
        }
    }

    // MARK: The end

    /// Makes safe what has come.
    func finishCommits() async {
        if let commit { await settle(commit) }
        guard step?.takesContent ?? false, failure == nil || failure?.kind == .full else { return }
        beginCommit()
        if let commit { await settle(commit) }
    }

    /// Takes the end of the content, which was not declined.
    func finish(_ trailers: Fields) {
        if !trailers.slices.isEmpty, var saved = store.saved {
            saved.note(ClaimedDigest.all(RecordedHead([]), trailers: trailers.raw))
            store.note(saved)
        }
        if contentHashes.contains(where: { $0.hash.finish() != $0.expected }) {
            flaw = flaw ?? .contentDigest
        }
        contentHashes = []
    }

    var hasBroughtSomething: Bool { position > comparedEnd }

    /// Whether the whole came, and all of it was there before.
    var hasComparedAll: Bool { position == comparedEnd && facts?.status != 206 }
}

extension ResumeStep {
    var takesContent: Bool {
        switch self {
        case .append, .takeWhole: true
        case .next, .complete, .restart, .wait, .refuse, .authenticate, .redirect: false
        }
    }
}

extension String {
    /// Of a path, the folder.
    var folder: String {
        lastIndex(of: "/").map { $0 == startIndex ? "/" : String(self[..<$0]) } ?? "."
    }
}
