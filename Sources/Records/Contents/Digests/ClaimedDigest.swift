package import Base
internal import HTTPModel

/// A digest that a message names (RFC 9530; RFC 3230 and RFC 1864 before it; S3's checksums).
package struct ClaimedDigest: Sendable, Equatable {
    package let field: Field
    package let algorithm: ClaimedAlgorithm
    package let bytes: [UInt8]

    package enum Field: String, Sendable, CaseIterable {
        /// Of the whole representation, on a part of it too.
        case representation = "repr-digest"
        /// Of this message's content alone, with its framing.
        case content = "content-digest"
        /// As Repr-Digest (RFC 3230 §4.1).
        case legacy = "digest"
        /// Of this message's content; S3 and its like take it of what they store.
        case contentMD5 = "content-md5"
        /// Of what S3 is to store of this message's content; the algorithm is part of the name.
        case amazonChecksum = "x-amz-checksum"

        package var isOfWhole: Bool { self == .representation || self == .legacy }
    }

    /// Those of a head and of its trailers; what cannot be read, or has an algorithm that is not
    /// known, is left out.
    ///
    /// - Parameter ofObject: whether the content is, or is a part of, what S3 is to store.
    package static func all(
        _ head: RecordedHead, trailers: [UInt8], ofObject: Bool = false
    ) -> [ClaimedDigest] {
        let sections = trailers.isEmpty ? [head] : [head, RecordedHead(trailers: trailers)]
        var claims: [ClaimedDigest] = []
        for section in sections {
            if ofObject { claims += checksums(section) }
            for field in Field.allCases where field != .amazonChecksum {
                claims += read(field, section.values(named: Array(field.rawValue.utf8)))
            }
        }
        return Array(claims.prefix(limit))
    }

    private static func checksums(_ section: RecordedHead) -> [ClaimedDigest] {
        amazonNames.compactMap { name, algorithm in
            section.values(named: Array("\(Field.amazonChecksum.rawValue)-\(name)".utf8)).first
                .flatMap { claim(.amazonChecksum, algorithm, $0) }
        }
    }

    /// Those of a field's lines, which together are one list (RFC 9110 §5.3).
    package static func read(_ field: Field, _ lines: [ArraySlice<UInt8>]) -> [ClaimedDigest] {
        var claims: [ClaimedDigest] = []
        for line in lines where claims.count < limit { claims += read(field, line) }
        return Array(claims.prefix(limit))
    }

    private static func read(_ field: Field, _ value: ArraySlice<UInt8>) -> [ClaimedDigest] {
        if field == .contentMD5 { return claim(field, .hash(.md5), value).map { [$0] } ?? [] }
        return value.split(separator: UInt8(ascii: ",")).compactMap { element in
            guard let equals = element.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = element[..<equals].trimmingWhitespace.map(\.asciiLowercased).text
            guard let algorithm = ClaimedAlgorithm(name) else { return nil }
            var digest = element[(equals + 1)...].trimmingWhitespace
            if field != .legacy {
                // A byte sequence stands between colons (RFC 8941 §3.3.5); parameters may follow.
                guard digest.popFirst() == colon, let end = digest.firstIndex(of: colon) else {
                    return nil
                }
                digest = digest[..<end]
            }
            return claim(field, algorithm, digest)
        }
    }

    private static func claim(
        _ field: Field, _ algorithm: ClaimedAlgorithm, _ text: ArraySlice<UInt8>
    ) -> ClaimedDigest? {
        guard text.count <= 128, let bytes = Base64.decode(text), bytes.count == algorithm.size
        else { return nil }
        return ClaimedDigest(field: field, algorithm: algorithm, bytes: bytes)
    }

    private static let amazonNames: [(String, ClaimedAlgorithm)] =
        CyclicChecksum.allCases.map { ($0.rawValue, .checksum($0)) }
        + [
            ("md5", .hash(.md5)), ("sha1", .hash(.sha1)), ("sha256", .hash(.sha256)),
            ("sha512", .hash(.sha512)),
        ]
    private static let colon = UInt8(ascii: ":")
    /// More than there are fields and algorithms.
    private static let limit = 16
}

/// By what a message names its bytes.
package enum ClaimedAlgorithm: Sendable, Hashable {
    case hash(DigestAlgorithm)
    case checksum(CyclicChecksum)

    /// - Parameter name: as RFC 9530 §7.2 has it, in lower case.
    init?(_ name: String) {
        if let hash = DigestAlgorithm(rawValue: name) {
            self = .hash(hash)
        } else if name == CyclicChecksum.crc32c.rawValue {
            self = .checksum(.crc32c)
        } else {
            return nil
        }
    }

    package var name: String {
        switch self {
        case .hash(let algorithm): algorithm.rawValue
        case .checksum(let algorithm): algorithm.rawValue
        }
    }

    /// In bytes.
    package var size: Int {
        switch self {
        case .hash(let algorithm): algorithm.size
        case .checksum(let algorithm): algorithm.size
        }
    }
}
