internal import Base
internal import Contents
internal import HTTPClient
internal import HTTPModel
internal import Origins
internal import TLS

/// Takes the answer to one request of an upload: hears of the upload resource while the content still
/// goes out, and decides by the head.
///
/// `@unchecked Sendable`: used on the service's loop.
final class UploadReception: ClientReception, @unchecked Sendable {
    private let store: UploadStore
    private let action: UploadAction
    private let location: OriginLocation
    private let way: TransferWay
    private(set) var facts: UploadFacts?
    /// `nil` while there is no head.
    private(set) var step: UploadStep?
    /// Whether the origin has surely done nothing with the request.
    private(set) var isUnprocessed = false
    /// Of the answer's own content.
    private let contentHashes: [DigestAlgorithm: RunningHash] = [
        .sha256: RunningHash(.sha256), .sha512: RunningHash(.sha512),
    ]
    private var contentCount = 0
    /// In milliseconds of the clock.
    private var headAt: Int64?
    /// Whether the answer went on for so long that its end was not waited for.
    private(set) var hasDripped = false

    init(_ store: UploadStore, _ action: UploadAction, _ way: TransferWay) {
        self.store = store
        self.action = action
        self.way = way
        location = way.location
    }

    func noteUnprocessed() { isUnprocessed = true }

    // MARK: 104

    /// draft-ietf-httpbis-resumable-upload §4.2.1, §5.1.
    func takeInterim(_ head: ResponseHead) {
        let dialect = store.options.dialect
        guard head.status == 104, dialect.isResumable else { return }
        // Without its version it is of nobody knows which draft.
        if let mark = dialect.mark {
            let told = head.fields.first(named: "upload-draft-interop-version")
            guard told?.text == mark.value else { return }
        }
        let facts = facts(of: head)
        if action == .sendWhole, store.state.resource == nil,
            let resource = resource(facts.answer.location)
        {
            store.change(atOnce: true) { state in
                state.resource = resource
                self.take(facts.limits, into: &state)
            }
        }
        note(facts)
    }

    /// How far the origin is, as it tells while the content comes: a word of progress, which does not
    /// decide anything.
    private func note(_ facts: UploadFacts) {
        guard let offset = facts.offset, store.state.resource != nil else { return }
        store.change { state in
            guard offset <= state.reach, offset > state.offset else { return }
            state.offset = offset
        }
    }

    /// Where an upload resource is; `nil` for none that is safe.
    func resource(_ reference: String?) -> String? {
        guard let reference else { return nil }
        do throws(Failure) {
            return try way.resolved(reference).url
        } catch {
            return nil
        }
    }

    func take(_ limits: UploadLimits?, into state: inout UploadState) {
        guard let limits else { return }
        state.limits = limits
        let now = store.transfer.clock.now.microseconds / 1_000_000
        state.expiry = limits.age.map { now.addingSaturated($0) }
    }

    private func facts(of head: ResponseHead) -> UploadFacts {
        UploadFacts(
            url: location.url, head, store.options.dialect,
            now: HTTPDate(store.transfer.clock.now))
    }

    // MARK: The answer

    func take(_ head: ResponseHead) -> Bool {
        let facts = facts(of: head)
        self.facts = facts
        let rule = UploadRule(action, store.state, store.options, url: location.url)
        let step = rule.judge(facts)
        self.step = step
        store.transfer.noteAnswer(head, from: location)
        headAt = store.transfer.clock.elapsed
        // Its content may have a digest, which is that of the upload or its own.
        return step == .complete
    }

    func take(_ piece: Span<UInt8>) {
        contentCount += piece.count
        for hash in contentHashes.values { unsafe piece.withUnsafeBytes { unsafe hash.update($0) } }
    }

    func waitForRoom() async -> Bool {
        hasDripped = headAt.map { store.transfer.clock.elapsed - $0 > Self.contentTime } ?? false
        return !store.transfer.isStopped && !hasDripped && contentCount <= Self.contentLimit
    }

    /// In milliseconds: what drips is not waited for.
    private static let contentTime: Int64 = 10_000
    /// In bytes: what an answer says of an upload is short.
    private static let contentLimit = 1 << 20

    /// What the answer says of what the upload has become (RFC 9530 §3.2), and not of its own content.
    /// Asked once, at the end.
    var digests: [ExpectedDigest] {
        // So much is a content of its own, whose digest it is.
        guard contentCount <= Self.contentLimit else { return [] }
        let told = facts?.answer.version.digests ?? []
        if hasDripped { return told }
        let own = contentHashes.mapValues { $0.finish() }
        return told.filter { told in own[told.algorithm].map { $0 != told.bytes } ?? false }
    }
}
