internal import Base
internal import Contents
internal import HTTPClient
internal import HTTPModel
internal import Origins
internal import TLS

/// Takes the answer to one request of a download: decides by its head, compares what is there and
/// writes what is not.
///
/// `@unchecked Sendable`: used on the service's loop.
final class DownloadReception: ClientReception, @unchecked Sendable {
    private let store: DownloadStore
    private let plan: ResumePlan
    private let location: OriginLocation
    private let isExpected: Bool
    let role: Role
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
    /// Where what another request brings begins.
    private(set) var limit: Int64 = .max
    /// So much of what is behind the limit was compared, in bytes.
    private var metCount: Int64 = 0
    /// Whether it has come to its limit, and what stands behind it agrees.
    private(set) var hasReachedLimit = false
    /// What was written and is not committed begins here.
    private var uncommitted: Int64 = 0
    /// What is safe ends here.
    private var committed: Int64 = 0
    private var commit: DownloadCommit?
    private var committedAt: Int64
    private var contentHashes: [(hash: RunningHash, expected: [UInt8])] = []
    /// For digests of the content that come behind it.
    private var trailerHashes: [(algorithm: DigestAlgorithm, hash: RunningHash)] = []
    /// Whether nothing says that the whole which comes is of the version that is there.
    private var isUnproven = false
    private let byteLimit: Int64

    /// Failures in a row.
    private static let stuckCount = 3

    enum Role {
        /// It begins where something is missing.
        case main(DownloadSegments)
        /// It brings just this range; `accept` says whether that is still wanted.
        case part(Range<Int64>, of: DownloadSegments, accept: () -> Bool)

        var isMain: Bool {
            if case .main = self { true } else { false }
        }

        var segments: DownloadSegments {
            switch self {
            case .main(let segments), .part(_, let segments, _): segments
            }
        }
    }

    enum Flaw: Equatable {
        /// A part does not agree with what is there.
        case mismatch
        /// More came than was said.
        case excess
        case tooLong
        case contentDigest
    }

    init(
        _ store: DownloadStore, _ plan: ResumePlan, at location: OriginLocation, _ role: Role
    ) {
        self.role = role
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
        var facts = AnswerFacts(
            url: location.url, head, now: HTTPDate(store.transfer.clock.now))
        let claims = Self.claims(facts.status, RecordedHead(head.raw))
        // The content of a 200 is the whole (RFC 9110 §15.3.1), also where not all of it comes.
        facts.version.note(claims, ofWholeContent: facts.status == 200)
        let saved = store.saved
        let rule = ResumeRule(
            plan, saved, offset: offset, isExpected: isExpected,
            isStuck: store.transfer.brokenParts >= Self.stuckCount)
        let step = accepted(rule.judge(facts), facts)
        store.transfer.noteAnswer(head, from: location)
        if case .main = role {
            let isBroken = ResumeRule.brokenStatuses.contains(facts.status)
            store.transfer.brokenParts = isBroken ? store.transfer.brokenParts + 1 : 0
        }
        self.facts = facts
        self.step = step
        do throws(DiskFailure) {
            switch step {
            case .takeWhole:
                try store.begin(facts.version, because: "version-changed")
                end = facts.version.length
            case .append(let start, let end):
                position = start
                comparedEnd = offset
                isUnproven = facts.status != 206 && saved?.compare(facts.version) == .unproven
                note(facts)
                self.end = end ?? store.saved?.length
                if facts.status == 206 { limit = rangeEnd } else { try store.dropParts() }
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
        noteDigests(head, claims)
        return flaw == nil
    }

    /// Digests that hold: somebody between has changed the content of a 203, and not what is said of it
    /// (RFC 9110 §15.3.4).
    private static func claims(
        _ status: Int, _ head: RecordedHead, _ trailers: [UInt8] = []
    ) -> [ClaimedDigest] {
        status == 203 ? [] : ClaimedDigest.all(head, trailers: trailers)
    }

    private func noteDigests(_ head: ResponseHead, _ claims: [ClaimedDigest]) {
        for claim in claims where claim.field == .content {
            guard case .hash(let algorithm) = claim.algorithm else { continue }
            contentHashes.append((RunningHash(algorithm), claim.bytes))
        }
        // Announced, as RFC 9110 §6.6.2 wants it: what is read already cannot be digested.
        guard head.fields.contains(.trailer, token: "content-digest") else { return }
        trailerHashes = [.sha256, .sha512].map { ($0, RunningHash($0)) }
    }

    /// From where on something is missing.
    private var offset: Int64 {
        switch role {
        case .main: store.offset
        case .part(let range, _, _): range.lowerBound
        }
    }

    /// Where the part ends that was asked for.
    private var rangeEnd: Int64 {
        switch role {
        case .main: store.gapEnd ?? .max
        case .part(let range, _, _):
            range.upperBound == store.saved?.length ? .max : range.upperBound
        }
    }

    /// Of a part nothing else will do than what was asked for, of the very same version.
    private func accepted(_ step: ResumeStep, _ facts: AnswerFacts) -> ResumeStep {
        guard case .part(let range, _, let accept) = role else { return step }
        guard case .append(range.lowerBound, let end) = step, end == plan.end, facts.status == 206,
            facts.version.entityTag == store.saved?.entityTag, accept()
        else { return .next("not the part that was asked for") }
        return step
    }

    /// Leaves what begins at an offset to another request.
    ///
    /// - Returns: whether it has not come so far yet.
    func limit(to start: Int64) -> Bool {
        guard position + store.boundary < start, start < limit else { return false }
        limit = start
        return true
    }

    /// What it has still to bring of a whole, in bytes.
    func missing(of total: Int64) -> Int64 {
        step?.takesContent ?? false ? max(0, min(total, limit) - position) : 0
    }

    /// Completes what is known of the version.
    private func note(_ facts: AnswerFacts) {
        guard var saved = store.saved else { return }
        for digest in facts.version.digests where !saved.digests.contains(digest) {
            saved.digests.append(digest)
        }
        // What is compared with the whole has its length; one that was told is not forgotten for an answer
        // that tells none.
        if let length = facts.version.length, saved.length == nil || facts.status != 206 {
            saved.length = length
        }
        store.note(saved)
    }

    /// From here on it is this answer's version that is gathered: what its tag or its date proves of the
    /// one before would not hold for it.
    private func adopt() {
        guard isUnproven, let saved = store.saved, var version = facts?.version else { return }
        isUnproven = false
        version.length = version.length ?? saved.length
        for digest in saved.digests where !version.digests.contains(digest) {
            version.digests.append(digest)
        }
        store.note(version)
    }

    private func checkRoom() throws(DiskFailure) {
        guard let total = store.saved?.length else { return }
        if total > byteLimit { flaw = .tooLong }
        let transfer = store.transfer
        let missing = total - max(uncommitted, transfer.journal.state.committedCount)
        let free = try transfer.disk.freeSpace(at: store.path.folder)
        guard free < missing else { return }
        throw DiskFailure(
            .full, "cannot write \(store.path): \(missing) bytes are missing, \(free) are free")
    }

    // MARK: The content

    func take(_ piece: Span<UInt8>) {
        guard failure == nil, flaw == nil, !hasReachedLimit else { return }
        role.segments.noteReceived(piece.count)
        for content in contentHashes {
            unsafe piece.withUnsafeBytes { unsafe content.hash.update($0) }
        }
        for content in trailerHashes {
            unsafe piece.withUnsafeBytes { unsafe content.hash.update($0) }
        }
        var count = piece.count
        if let end, position + metCount + Int64(count) > end {
            count = Int(end - position - metCount)
            flaw = .excess
        }
        if position + Int64(count) > byteLimit {
            flaw = .tooLong
            return
        }
        do throws(DiskFailure) {
            try write(piece.extracting(..<count))
        } catch {
            failure = error
        }
    }

    private func write(_ piece: Span<UInt8>) throws(DiskFailure) {
        let count = Int(min(Int64(piece.count), limit - position))
        let compared = try compare(piece.extracting(..<count))
        if compared < count {
            adopt()
            store.noteWriting(at: position)
        }
        try store.file.write(piece.extracting(compared..<count), at: position)
        position += Int64(count - compared)
        guard position == limit else { return }
        try meet(piece.extracting(count...))
    }

    /// Compares what comes behind the limit with what another request has brought; where it has
    /// brought nothing, that comes from here as well.
    private func meet(_ piece: Span<UInt8>) throws(DiskFailure) {
        let boundary = min(store.boundary, (store.saved?.length ?? .max) - limit)
        if metCount == 0, boundary > 0, !piece.isEmpty {
            let next = role.segments.boundary(at: limit, count: boundary)
            guard next == limit else {
                limit = next
                return try write(piece)
            }
        }
        let count = Int(min(Int64(piece.count), boundary - metCount))
        if count > 0 {
            let there = try store.file.read(at: limit + metCount, count: count)
            guard there.count == count, (0..<count).allSatisfy({ there[$0] == piece[$0] }) else {
                flaw = .mismatch
                return
            }
            metCount += Int64(count)
        }
        hasReachedLimit = metCount == boundary
    }

    /// Up to where what has come may be said to be there: what meets another's part and was not
    /// compared with it has to be asked for again.
    private var safeEnd: Int64 { position == limit && !hasReachedLimit ? position - 1 : position }

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
        isUnproven = false
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
        if hasReachedLimit { return position + metCount == end }
        if position > comparedEnd { role.segments.consider(self) }
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
        uncommitted = max(start, safeEnd)
        committedAt = store.transfer.clock.elapsed
        commit = store.beginCommit(start..<uncommitted)
    }

    private func settle(_ work: DownloadCommit) async {
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
        let claims = Self.claims(facts?.status ?? 200, RecordedHead([]), trailers.raw)
        if !claims.isEmpty, var saved = store.saved {
            saved.note(claims)
            store.note(saved)
        }
        for (algorithm, hash) in trailerHashes {
            let claim = claims.first {
                $0.field == .content && $0.algorithm == .hash(algorithm)
            }
            if let claim { contentHashes.append((hash, claim.bytes)) }
        }
        trailerHashes = []
        if contentHashes.contains(where: { $0.hash.finish() != $0.expected }) {
            flaw = flaw ?? .contentDigest
        }
        contentHashes = []
    }

    /// Whether it was asked for without a condition.
    var asksForWhole: Bool { plan.mode == .whole }

    /// Whether the whole ended before what was there, which it should be of.
    var isCutCopy: Bool {
        guard let facts, let saved = store.saved else { return false }
        return saved.isCut(facts.version, position, has: comparedEnd)
    }

    /// Whether the content ended just where another's part begins, so that the two were not compared.
    var hasStoppedShort: Bool { position == limit && !hasReachedLimit }

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
