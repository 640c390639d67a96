package import Base
internal import COpenSSL

/// A private key.
///
/// `@unchecked Sendable`: OpenSSL counts references atomically, and nothing here changes one.
@safe
package final class PrivateKey: @unchecked Sendable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    /// Makes an ECDSA key on P-256.
    package static func p256() -> PrivateKey {
        guard let key = unsafe openssl_generate_p256(nil) else {
            preconditionFailure("OpenSSL cannot make a P-256 key")
        }
        return unsafe PrivateKey(owning: key)
    }

    /// Reads a key in PEM, decrypting it if `password` is given.
    ///
    /// Errors: `key-invalid`.
    package static func read(
        pem: [UInt8], password: String?, name: String,
        hint: String = "an encrypted key needs its password in a file: --ca-password-file FILE"
    ) throws(Failure) -> PrivateKey {
        OpenSSLErrors.clear()
        guard let source = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
            throw Failure("key-invalid", party: .tool, "cannot read \(name)")
        }
        defer { unsafe BIO_free(source) }
        // With no callback OpenSSL takes the last argument as the password; without one it would
        // ask the terminal, which a tool in CI must never do.
        var secret = Array((password ?? "").utf8CString)
        let key = unsafe secret.withUnsafeMutableBytes {
            unsafe PEM_read_bio_PrivateKey(source, nil, nil, $0.baseAddress)
        }
        guard let key = unsafe key else {
            let reason = OpenSSLErrors.take()
            throw Failure(
                "key-invalid", party: .tool, "cannot read the private key in \(name): \(reason)",
                hint: hint)
        }
        return unsafe PrivateKey(owning: key)
    }

    /// The key in PEM (PKCS #8), not encrypted.
    package var pem: [UInt8] {
        guard let target = unsafe BIO_new(BIO_s_mem()) else { return [] }
        defer { unsafe BIO_free(target) }
        unsafe PEM_write_bio_PrivateKey(target, pointer, nil, nil, 0, nil, nil)
        return unsafe bytes(ofMemory: target)
    }

    /// Whether it is the key of a certificate.
    package func belongs(to certificate: Certificate) -> Bool {
        defer { OpenSSLErrors.clear() }
        return unsafe X509_check_private_key(certificate.pointer, pointer) == 1
    }
}
