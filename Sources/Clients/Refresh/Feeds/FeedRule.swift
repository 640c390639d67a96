internal import Base
internal import HTTPCodecs
package import HTTPModel
internal import Origins
internal import TLS

/// What the answer to a conditional request means for a feed: a function of both.
package enum FeedRule {
    package enum Outcome: Sendable, Equatable {
        /// Items that were not known, in the feed's order.
        case new([FeedEntry])
        /// 304, or the same items.
        case unchanged
        /// 410: it is not asked for again.
        case gone
        case redirected(String)
        /// The code and what happened; the server may have said when to come back.
        case failed(String, String)
    }

    /// An answer as it came.
    package struct Answer: Sendable {
        package var status: Int
        package var fields: Fields
        /// Without its coding; `nil` if it cannot be undone or is too long.
        package var content: [UInt8]?

        package init(status: Int, fields: Fields, content: [UInt8]?) {
            self.status = status
            self.fields = fields
            self.content = content
        }
    }

    /// Judges an answer, and brings the state up to date. What cannot be read leaves it as it was,
    /// so that the next request asks for the same.
    ///
    /// - Parameter now: in milliseconds since 1970.
    /// - Returns: the outcome, and whether a cursor has more to fetch now.
    package static func judge(
        _ answer: Answer, _ state: inout FeedState, at now: Int64
    ) -> (outcome: Outcome, hasMore: Bool) {
        if let wait = retryAfter(answer.fields, at: now) {
            state.notBefore = max(state.notBefore, now + wait)
        }
        switch answer.status {
        case 200: return read(answer, &state, at: now)
        case 304:
            guard state.entityTag != nil || state.lastModified != nil else {
                return (.failed("feed-status", "304 to a request without a condition"), false)
            }
            keepValidators(answer.fields, &state)
            state.currentAt = now
            return (.unchanged, false)
        case 301, 302, 303, 307, 308:
            let location = answer.fields.first(named: "location")
            return location.map { (.redirected($0.text), false) }
                ?? (.failed("feed-status", "\(answer.status) without Location"), false)
        case 410:
            state.isGone = true
            return (.gone, false)
        default: return (.failed("feed-status", "status \(answer.status)"), false)
        }
    }

    private static func read(
        _ answer: Answer, _ state: inout FeedState, at now: Int64
    ) -> (Outcome, hasMore: Bool) {
        guard let content = answer.content else {
            return (
                .failed("feed-unreadable", "the content is too long, or its coding broken"), false
            )
        }
        guard let document = FeedReader.read(content) else {
            return (.failed("feed-malformed", "no feed, or one that ends in its middle"), false)
        }
        let before = (state.entityTag, state.lastModified)
        let isKnown = Set(state.known)
        let digests = document.entries.map { (entry: $0, digest: digest($0.id)) }
        let new = digests.filter { !isKnown.contains($0.digest) }
        // What a file has told may be any number.
        state.duplicateCount = sum(state.duplicateCount, document.duplicateCount)
        keepValidators(answer.fields, &state)
        if new.isEmpty, document.duplicateCount == 0, !isKnown.isEmpty,
            before.0 != nil || before.1 != nil,
            (state.entityTag, state.lastModified) != before
        {
            state.flapCount = sum(state.flapCount, 1)
        }
        // Those that are in the document are the last to be forgotten.
        let shown = Set(digests.map(\.digest))
        state.known = state.known.filter { !shown.contains($0) } + digests.map(\.digest)
        state.known.removeFirst(max(0, state.known.count - FeedState.knownLimit))
        var hasMore = false
        if document.format == .cursor {
            let next = document.next.flatMap { canSend($0, to: state.url) ? $0 : nil }
            hasMore = document.hasMore && next != nil && next != state.cursor
            state.cursor = next ?? state.cursor
        }
        state.currentAt = now
        return (new.isEmpty ? .unchanged : .new(new.map(\.entry)), hasMore)
    }

    private static func sum(_ count: Int, _ more: Int) -> Int {
        Int(clamping: Int64(count).addingSaturated(Int64(more)))
    }

    /// Whether a cursor may be kept: with one that makes no request its feed would never be asked again.
    private static func canSend(_ cursor: String, to url: String) -> Bool {
        guard cursor.utf8.count <= FeedState.markLimit else { return false }
        do throws(Failure) {
            return try OriginLocation(url).after(cursor) != nil
        } catch {
            return false
        }
    }

    /// Items were not taken after all: they are new the next time, when the whole is asked for again.
    static func forget(_ entries: some Sequence<FeedEntry>, _ state: inout FeedState) {
        let digests = Set(entries.map { digest($0.id) })
        guard !digests.isEmpty else { return }
        state.known.removeAll { digests.contains($0) }
        state.entityTag = nil
        state.lastModified = nil
    }

    /// Half of a SHA-256: enough to tell items apart, whatever their identifiers are made of.
    private static func digest(_ id: String) -> String {
        Array(Digests.sha256([UInt8](id.utf8)).prefix(16)).hex
    }

    /// Keeps a strong or weak tag, else a date (RFC 9110 §13.1.2 and §13.1.3), as long as they can
    /// be sent back.
    private static func keepValidators(_ fields: Fields, _ state: inout FeedState) {
        if let tag = fields.first(named: "etag") {
            let isShort = tag.count <= FeedState.markLimit
            state.entityTag = isShort ? EntityTag(tag).map(\.text) : nil
        }
        if let date = fields.first(named: "last-modified") {
            let read = HTTPDate(date, now: HTTPDate(seconds: 0))
            state.lastModified = read.map { _ in date.text }
        }
    }

    /// Seconds or a date, in milliseconds from now (RFC 9110 §10.2.3): up to a day, as a server that
    /// says a year has made a mistake.
    package static func retryAfter(_ fields: Fields, at now: Int64) -> Int64? {
        guard let value = fields.first(named: "retry-after") else { return nil }
        let seconds: Int64
        if value.allSatisfy(\.isASCIIDigit), !value.isEmpty {
            seconds = Int64(value.text) ?? .max
        } else {
            let clock = HTTPDate(seconds: now / 1000)
            guard let date = HTTPDate(value, now: clock) else { return nil }
            seconds = date.seconds - clock.seconds
        }
        return min(max(0, seconds), pauseLimit / 1000) * 1000
    }

    /// In milliseconds.
    static let pauseLimit: Int64 = 86_400_000
}
