internal import Base

/// Values that are credentials by their published form, whatever they are called.
package enum TokenForm {
    /// A JSON Web Token, or a secret key of a provider.
    package static func matches(_ value: [UInt8]) -> Bool {
        if let prefix = PublishedPrefix(of: value) { return !prefix.isPublishable }
        return isJWT(value)
    }

    /// Three parts in Base64url, of which the first begins as a JSON object does (RFC 7519 §3).
    package static func isJWT(_ value: [UInt8]) -> Bool {
        guard value.starts(with: [0x65, 0x79, 0x4A]), value.count <= 16_384 else { return false }
        let parts = value.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count >= 8, parts[1].count >= 4 else { return false }
        return parts.allSatisfy { $0.allSatisfy(isBase64URL) }
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == 0x2D || byte == 0x5F
    }
}
