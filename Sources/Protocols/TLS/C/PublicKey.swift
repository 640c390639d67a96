package import Base
internal import COpenSSL

/// A public key that tokens are verified with.
///
/// `@unchecked Sendable`: OpenSSL counts references atomically, and nothing here changes one.
@safe
package final class PublicKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// That of a private key.
    package init(of key: PrivateKey) {
        unsafe EVP_PKEY_up_ref(key.pointer)
        unsafe pointer = key.pointer
    }

    /// Reads a key in PEM.
    ///
    /// Errors: `key-invalid`.
    package init(pem: [UInt8], name: String) throws(Failure) {
        OpenSSLErrors.clear()
        guard let source = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
            throw Failure("key-invalid", party: .tool, "cannot read \(name)")
        }
        defer { unsafe BIO_free(source) }
        guard let key = unsafe PEM_read_bio_PUBKEY(source, nil, nil, nil) else {
            throw Failure(
                "key-invalid", party: .tool,
                "cannot read the public key in \(name): \(OpenSSLErrors.take())")
        }
        unsafe pointer = key
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    package var pem: [UInt8] {
        guard let target = unsafe BIO_new(BIO_s_mem()) else { return [] }
        defer { unsafe BIO_free(target) }
        unsafe PEM_write_bio_PUBKEY(target, pointer)
        return unsafe bytes(ofMemory: target)
    }

    /// Whether it is an ECDSA key on P-256, as `ES256` takes it (RFC 7518 §3.4).
    package var isP256: Bool {
        defer { OpenSSLErrors.clear() }
        var group = [CChar](repeating: 0, count: 80)
        var size = 0
        return unsafe EVP_PKEY_is_a(pointer, "EC") == 1
            && EVP_PKEY_get_group_name(pointer, &group, group.count, &size) == 1
            && group.prefix(size).map { UInt8(bitPattern: $0) }.elementsEqual("prime256v1".utf8)
    }

    /// Whether `signature`, two numbers of 32 bytes, is of these bytes by this key.
    package func verifies(es256 signature: [UInt8], of bytes: [UInt8]) -> Bool {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard isP256, let coded = ECDSASignature.coded(signature) else { return false }
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        defer { unsafe EVP_MD_CTX_free(context) }
        return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1
            && EVP_DigestVerify(context, coded, coded.count, bytes, bytes.count) == 1
    }
}

extension PrivateKey {
    /// Signs as `ES256` does (RFC 7518 §3.4): two numbers of 32 bytes.
    ///
    /// - Returns: `nil` if it is no ECDSA key on P-256.
    package func es256(of bytes: [UInt8]) -> [UInt8]? {
        guard PublicKey(of: self).isP256, let coded = signature(of: bytes) else { return nil }
        return ECDSASignature.numbers(coded)
    }
}

/// The two forms of an ECDSA signature on P-256: in DER, and bare.
private enum ECDSASignature {
    private static let size = 32

    static func coded(_ numbers: [UInt8]) -> [UInt8]? {
        guard numbers.count == 2 * size, let made = unsafe ECDSA_SIG_new() else { return nil }
        defer { unsafe ECDSA_SIG_free(made) }
        let first = unsafe BN_bin2bn(Array(numbers.prefix(size)), Int32(size), nil)
        let second = unsafe BN_bin2bn(Array(numbers.suffix(size)), Int32(size), nil)
        guard unsafe ECDSA_SIG_set0(made, first, second) == 1 else { return nil }
        var coded: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_ECDSA_SIG(made, &coded)
        guard count > 0, let bytes = unsafe coded else { return nil }
        defer { unsafe CRYPTO_free(bytes, nil, 0) }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    static func numbers(_ coded: [UInt8]) -> [UInt8]? {
        let read = unsafe coded.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &cursor, bytes.count)
        }
        guard let read = unsafe read else { return nil }
        defer { unsafe ECDSA_SIG_free(read) }
        var numbers = [UInt8](repeating: 0, count: 2 * size)
        let status = unsafe numbers.withUnsafeMutableBufferPointer { space in
            guard let start = space.baseAddress else { return false }
            let count = Int32(size)
            return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(read), start, count) == count
                && BN_bn2binpad(ECDSA_SIG_get0_s(read), start + size, count) == count
        }
        return status ? numbers : nil
    }
}
