internal import Base
package import Contents
package import HTTPModel

/// The version of a resource that a download has a beginning of, by all that its origin said of it.
package struct SavedVersion: Sendable, Equatable {
    /// Where it was found, behind all redirects.
    package let url: String
    /// Of Content-Location, the path (RFC 9110 §8.7): which of several variants was answered with; `nil`
    /// where it is not told.
    package var contentLocation: String?
    /// As it came. What is no entity tag, or several, is a weak one here: it can tell of a change, and
    /// proves nothing.
    package var entityTag: String?
    package var lastModified: String?
    package var date: String?
    /// Of the whole, in bytes, with its coding.
    package var length: Int64?
    /// In lower case, without white space; empty for none. Ranges count coded bytes (RFC 9110
    /// §14.1.2).
    package var contentEncoding = ""
    /// The media type alone, in lower case; empty for none.
    package var contentType = ""
    /// Of the whole: Repr-Digest, and Digest of old.
    package var digests: [ExpectedDigest] = []

    package init(url: String) {
        self.url = url
    }

    /// What a head of status 200 or 206 says of the whole.
    package init(url: String, _ head: ResponseHead, trailers: Fields = .none) {
        self.init(url: url)
        let fields = head.fields
        entityTag = Self.tag(fields.all(named: "etag"))
        let dates = fields.all(named: "last-modified")
        lastModified = dates.count == 1 ? dates.first.flatMap(Self.text) : nil
        let answered = fields.all(named: "date")
        date = answered.count == 1 ? answered.first.flatMap(Self.text) : nil
        contentType = ParameterizedValue(fields.first(.contentType) ?? []).text
        contentLocation = Self.place(fields.all(named: "content-location"))
        let codings = fields.all(.contentEncoding).joined(separator: [0x2C]).filter { $0 != 0x20 }
            .map(\.asciiLowercased).split(separator: 0x2C).map { $0.text }
        contentEncoding = codings.filter { $0 != "identity" }.joined(separator: ",")
        length = Self.length(head)
        guard head.status != 203 else {
            // Somebody between has changed the content, and not what is said of it (RFC 9110 §15.3.4).
            entityTag = nil
            lastModified = nil
            return
        }
        note(ClaimedDigest.all(RecordedHead(head.raw), trailers: trailers.raw))
    }

    /// Adds what is claimed of the whole.
    ///
    /// - Parameter ofWholeContent: whether Content-Digest is of the whole too.
    package mutating func note(_ claims: [ClaimedDigest], ofWholeContent: Bool = false) {
        for claim in claims
        where claim.field.isOfWhole || ofWholeContent && claim.field == .content {
            guard case .hash(let algorithm) = claim.algorithm else { continue }
            let digest = ExpectedDigest(algorithm, claim.bytes)
            if !digests.contains(digest), digests.count < Self.digestLimit {
                digests.append(digest)
            }
        }
    }

    private static func tag(_ values: [ArraySlice<UInt8>]) -> String? {
        guard let first = values.first else { return nil }
        if values.count == 1, let tag = EntityTag(first) { return tag.text }
        let known = values.joined(separator: [0x2C]).prefix(tagLimit)
        return EntityTag(Array(known).hex, isWeak: true).text
    }

    private static func length(_ head: ResponseHead) -> Int64? {
        if head.status == 206 {
            guard let value = head.fields.first(named: "content-range") else { return nil }
            do throws(ContentRangeViolation) {
                guard case .part(_, let total?) = try ContentRange(value) else { return nil }
                return Int64(exactly: total)
            } catch {
                return nil
            }
        }
        guard !head.fields.contains(.transferEncoding) else { return nil }
        return head.fields.first(.contentLength).flatMap { decimal($0) }.flatMap {
            Int64(exactly: $0)
        }
    }

    private static func place(_ values: [ArraySlice<UInt8>]) -> String? {
        guard values.count == 1, let path = values[0].split(separator: UInt8(ascii: "?")).first,
            path.count <= placeLimit, path.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return path.text
    }

    /// What is no plain text names no moment.
    private static func text(_ value: ArraySlice<UInt8>) -> String? {
        value.count <= 64 && value.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? value.text : nil
    }

    /// In bytes, of what is kept of a Content-Location.
    private static let placeLimit = 1024
    /// In bytes, of what is no tag.
    private static let tagLimit = 64
    /// Beyond it, an origin says too much of one thing.
    private static let digestLimit = 8
}

extension SavedVersion {
    /// The tag that ranges may be asked for by (RFC 9110 §13.1.5); `nil` for none, or a weak one.
    var strongTag: EntityTag? {
        guard let tag = entityTag.flatMap({ EntityTag(Array($0.utf8)[...]) }), !tag.isWeak else {
            return nil
        }
        return tag
    }

    /// The date that ranges may be asked for by: where there is no tag, and a whole minute lay
    /// between the change and the answer, so that no second change can have had the same (RFC 9110
    /// §8.8.2.2, §13.1.5).
    var strongDate: String? {
        guard entityTag == nil, let lastModified, let date else { return nil }
        let zero = HTTPDate(seconds: 0)
        guard let changed = HTTPDate(Array(lastModified.utf8)[...], now: zero),
            let answered = HTTPDate(Array(date.utf8)[...], now: zero),
            answered.seconds - changed.seconds >= 60
        else { return nil }
        return lastModified
    }

    /// Whether the whole is told by a digest that nobody can forge.
    var hasSecureDigest: Bool {
        digests.contains { $0.algorithm == .sha256 || $0.algorithm == .sha512 }
    }

    /// Whether both tell a length, and not the same: then one of them is wrong, if they are of one version.
    func contradicts(_ other: SavedVersion) -> Bool {
        guard let length, let later = other.length else { return false }
        return length != later
    }

    /// Whether a whole of so many bytes is a copy that was cut, as caches keep them: of the same version, and
    /// less than has come of it. Its digest may be its own.
    func isCut(_ other: SavedVersion, _ total: Int64, has offset: Int64) -> Bool {
        total < offset && (compare(other) == .same || undigested.compare(other) == .same)
    }

    /// Whether nothing but digests, or lengths, tells of a change: what came may be a part, or a copy
    /// that was cut, with digests of its own.
    func differsInDigestsAlone(_ other: SavedVersion) -> Bool {
        switch undigested.compare(other) {
        case .same, .unproven: true
        case .differs: false
        }
    }

    private var undigested: SavedVersion {
        var version = self
        version.digests = []
        version.length = nil
        return version
    }

    /// With the digests of what was dropped, where both have one strong tag: the same version has the same.
    func heir(to dropped: SavedVersion?) -> SavedVersion {
        guard digests.isEmpty, let dropped, let tag = dropped.strongTag, tag == strongTag,
            isSameResource(as: dropped), contentEncoding == dropped.contentEncoding
        else { return self }
        var heir = self
        heir.digests = dropped.digests
        return heir
    }

    /// Whether tags and dates of both are of one resource (RFC 9110 §8.8): they have one path, since the
    /// query of a signed URL changes, and are no two variants of it. A part has the Content-Location that
    /// the whole would have, also none (RFC 9110 §15.3.7).
    private func isSameResource(as other: SavedVersion) -> Bool {
        let isOfOneType =
            contentType.isEmpty || other.contentType.isEmpty || contentType == other.contentType
        return isOfOneType && contentLocation == other.contentLocation
            && url.prefix { $0 != "?" } == other.url.prefix { $0 != "?" }
    }

    /// The media type, for words.
    var shownType: String { contentType.isEmpty ? "none" : contentType }

    /// What a later answer says of being of this version.
    func compare(_ other: SavedVersion) -> Sameness {
        guard contentEncoding == other.contentEncoding else {
            return .differs("its coding changed")
        }
        var isProven = false
        for digest in digests {
            for later in other.digests where later.algorithm == digest.algorithm {
                guard later == digest else { return .differs("its digest changed") }
                isProven = isProven || digest.algorithm == .sha256 || digest.algorithm == .sha512
            }
        }
        if let tag = entityTag, let later = other.entityTag {
            guard tag == later else { return .differs("its entity tag changed") }
            // A tag that stays while the date does not is of an origin that tells changes badly.
            let isDated =
                lastModified == nil || (other.lastModified ?? lastModified) == lastModified
            let isTold = strongTag != nil && isSameResource(as: other) && isDated
            return isTold || isProven ? .same : .unproven
        }
        if isProven { return .same }
        if let date = strongDate, other.entityTag == nil, other.lastModified == date,
            isSameResource(as: other)
        {
            return .same
        }
        if let before = lastModified, let later = other.lastModified, before != later {
            return .differs("its date changed")
        }
        if let length, let later = other.length, length != later {
            return .differs("its length changed")
        }
        return .unproven
    }

    enum Sameness: Equatable {
        case same
        /// With what has changed.
        case differs(String)
        /// Nothing tells.
        case unproven
    }
}
