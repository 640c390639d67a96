internal import Base
internal import Contents
package import HTTPModel
internal import Traffic

/// What tells one version of a resource from another.
package struct VersionIdentity: Sendable, Equatable {
    /// As it came, also where it is no entity tag; `nil` if none did.
    package private(set) var entityTagText: String?
    package private(set) var entityTag: EntityTag?
    /// As it came.
    package private(set) var lastModified: String?
    /// In lower case; empty if there is none. Ranges count coded bytes (RFC 9110 §14.1.2).
    package private(set) var contentEncoding = ""
    private(set) var digests: [ClaimedDigest] = []

    init() {}

    init(_ head: RecordedHead, digests: [ClaimedDigest]) {
        let tag = head.values(named: "etag").first
        entityTagText = tag.map { $0.prefix(Self.textLimit).text }
        entityTag = tag.flatMap { EntityTag($0) }
        lastModified = head.values(named: "last-modified").first
            .map { $0.prefix(Self.textLimit).text }
        let codings = head.values(named: "content-encoding")
            .joined(separator: Array(",".utf8)).prefix(Self.textLimit).filter { $0 != 0x20 }
            .map(\.asciiLowercased).split(separator: UInt8(ascii: ",")).map(\.text)
        // The one codes nothing, and the other only a message.
        contentEncoding = codings.filter { $0 != "identity" && $0 != "aws-chunked" }
            .joined(separator: ",")
        self.digests = digests.filter(\.field.isOfWhole)
    }

    /// What this says of `other`, which came later.
    func compare(_ other: VersionIdentity) -> VersionComparison {
        if contentEncoding != other.contentEncoding { return .changed("Content-Encoding") }
        let digest = compareDigests(other)
        if digest == false { return .changed("digest") }
        if let tag = entityTag, let later = other.entityTag {
            if tag.stronglyEquals(later) { return .same(.strongTag) }
            guard tag.weaklyEquals(later) else { return .changed("ETag") }
            return .same(digest == true ? .digest : .weakTag)
        }
        if digest == true { return .same(.digest) }
        if let text = entityTagText, let later = other.entityTagText {
            return text == later ? .same(.weakTag) : .changed("ETag")
        }
        if let date = lastModified, let later = other.lastModified {
            return date == later ? .same(.lastModified) : .changed("Last-Modified")
        }
        return .same(.none)
    }

    /// Takes what a later part of the same version tells in addition.
    mutating func complete(from other: VersionIdentity) {
        if entityTagText == nil {
            entityTagText = other.entityTagText
            entityTag = other.entityTag
        }
        lastModified = lastModified ?? other.lastModified
        if contentEncoding.isEmpty { contentEncoding = other.contentEncoding }
        for digest in other.digests where !digests.contains(digest) {
            if digests.count < Self.digestLimit { digests.append(digest) }
        }
    }

    /// `nil` if no algorithm is named by both.
    private func compareDigests(_ other: VersionIdentity) -> Bool? {
        var areSame: Bool?
        for digest in digests {
            for later in other.digests where later.algorithm == digest.algorithm {
                guard later.bytes == digest.bytes else { return false }
                areSame = true
            }
        }
        return areSame
    }

    /// In bytes; what is longer names no version that anybody would read.
    private static let textLimit = 256
    private static let digestLimit = 8
}

enum VersionComparison: Equatable {
    case changed(String)
    case same(Sameness)
}

/// Why parts are held to be of one version, from the surest on; the raw values are a contract.
package enum Sameness: String, Sendable, CaseIterable, Comparable {
    case strongTag = "strong-etag"
    case digest
    /// Which proves no equality of bytes (RFC 9110 §8.8.1).
    case weakTag = "weak-etag"
    case lastModified = "last-modified"
    case none

    package static func < (left: Sameness, right: Sameness) -> Bool {
        left.rank < right.rank
    }

    /// Whether parts may be put together on its word alone (RFC 9110 §15.3.7.3).
    var isProof: Bool { self <= .digest }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
