package import Base
internal import COpenSSL

/// Digests and message authentication, from OpenSSL.
package enum Digests {
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        unsafe digest(bytes, sha256Algorithm.pointer, size: 32)
    }

    package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        unsafe digest(bytes, sha1Algorithm.pointer, size: 20)
    }

    package static func md5(_ bytes: [UInt8]) -> [UInt8] {
        unsafe digest(bytes, md5Algorithm.pointer, size: 16)
    }

    /// HMAC with SHA-256 (RFC 2104).
    package static func hmacSHA256(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        var size: UInt32 = 32
        unsafe HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &result, &size)
        return result
    }

    /// HMAC with SHA-384 (RFC 2104).
    package static func hmacSHA384(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 48)
        var size: UInt32 = 48
        unsafe HMAC(EVP_sha384(), key, Int32(key.count), bytes, bytes.count, &result, &size)
        return result
    }

    /// Bytes that nobody can foresee.
    package static func randomBytes(_ count: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        let status = unsafe RAND_bytes(&result, Int32(count))
        precondition(status == 1, "the system has no randomness")
        return result
    }

    private static func digest(
        _ bytes: [UInt8], _ algorithm: OpaquePointer?, size: Int
    ) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: size) { space, count in
            let status = unsafe EVP_Digest(
                bytes, bytes.count, space.baseAddress, nil, algorithm, nil)
            precondition(status == 1, "OpenSSL lacks a digest that the product needs")
            count = size
        }
    }

    // Fetched once: an implicit fetch costs more than the digest of a short text.
    private static let sha256Algorithm = Algorithm("SHA256")
    private static let sha1Algorithm = Algorithm("SHA1")
    private static let md5Algorithm = Algorithm("MD5")

    /// `@unchecked Sendable`: a fetched algorithm is immutable and never freed.
    @safe
    private final class Algorithm: @unchecked Sendable {
        let pointer: OpaquePointer?
        init(_ name: String) { unsafe pointer = EVP_MD_fetch(nil, name, nil) }
    }
}

/// A digest that is fed in pieces, from OpenSSL.
@safe
package final class RunningHash: RunningDigest {
    private let context: OpaquePointer
    private let size: Int

    package init(_ algorithm: DigestAlgorithm) {
        guard let made = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        unsafe context = made
        size = algorithm.size
        let kind =
            switch algorithm {
            case .md5: unsafe EVP_md5()
            case .sha1: unsafe EVP_sha1()
            case .sha256: unsafe EVP_sha256()
            case .sha512: unsafe EVP_sha512()
            }
        let status = unsafe EVP_DigestInit_ex(context, kind, nil)
        precondition(status == 1, "OpenSSL lacks a digest that the product needs")
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    package func update(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    /// The digest of all that was fed; nothing may follow.
    package func finish() -> [UInt8] {
        var result = [UInt8](repeating: 0, count: size)
        unsafe EVP_DigestFinal_ex(context, &result, nil)
        return result
    }
}
