package import Base
internal import HTTPModel
internal import Traffic

/// A digest that a message names (RFC 9530; RFC 3230 and RFC 1864 before it).
package struct ClaimedDigest: Sendable, Equatable {
    package let field: Field
    package let algorithm: DigestAlgorithm
    package let bytes: [UInt8]

    package enum Field: String, Sendable, CaseIterable {
        /// Of the whole representation, on a part of it too.
        case representation = "repr-digest"
        /// Of this message's content alone.
        case content = "content-digest"
        /// As Repr-Digest (RFC 3230 §4.1).
        case legacy = "digest"
        /// As Content-Digest.
        case contentMD5 = "content-md5"

        var isOfWhole: Bool { self == .representation || self == .legacy }
    }

    /// Those of a head and of its trailers; what cannot be read, or has an algorithm that is not
    /// known, is left out.
    static func all(_ head: RecordedHead, trailers: [UInt8]) -> [ClaimedDigest] {
        let sections = trailers.isEmpty ? [head] : [head, RecordedHead([0x0A] + trailers)]
        var claims: [ClaimedDigest] = []
        for section in sections {
            for field in Field.allCases {
                for value in section.values(named: Array(field.rawValue.utf8)) {
                    claims += read(field, value)
                }
            }
        }
        return Array(claims.prefix(limit))
    }

    private static func read(_ field: Field, _ value: ArraySlice<UInt8>) -> [ClaimedDigest] {
        if field == .contentMD5 { return claim(field, .md5, value).map { [$0] } ?? [] }
        return value.split(separator: UInt8(ascii: ",")).prefix(limit).compactMap { element in
            guard let equals = element.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = element[..<equals].trimmingWhitespace.map(\.asciiLowercased).text
            guard let algorithm = DigestAlgorithm(rawValue: name) else { return nil }
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
        _ field: Field, _ algorithm: DigestAlgorithm, _ text: ArraySlice<UInt8>
    ) -> ClaimedDigest? {
        guard text.count <= 128, let bytes = Base64.decode(text), bytes.count == algorithm.size
        else { return nil }
        return ClaimedDigest(field: field, algorithm: algorithm, bytes: bytes)
    }

    private static let colon = UInt8(ascii: ":")
    /// More than there are fields and algorithms.
    private static let limit = 16
}

/// Whether bytes have the digest that was claimed for them; the raw values are a contract.
package struct DigestCheck: Sendable, Equatable {
    package let field: ClaimedDigest.Field
    package let algorithm: DigestAlgorithm
    package let outcome: Outcome

    package enum Outcome: String, Sendable {
        case match
        case mismatch
        /// Not all of the bytes are there.
        case unchecked
    }
}
