internal import COpenSSL

extension PrivateKey {
    package var isRSA: Bool { unsafe EVP_PKEY_is_a(pointer, "RSA") == 1 }

    /// Signs with SHA-256, as `rsa_pkcs1_sha256` or ECDSA (RFC 8446 §4.2.3).
    ///
    /// - Returns: `nil` if a key of its kind signs in another way.
    package func signature(of bytes: [UInt8]) -> [UInt8]? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var size = 0
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, pointer) == 1,
            unsafe EVP_DigestSign(context, nil, &size, bytes, bytes.count) == 1
        else { return nil }
        var made = [UInt8](repeating: 0, count: size)
        guard unsafe EVP_DigestSign(context, &made, &size, bytes, bytes.count) == 1 else {
            return nil
        }
        return Array(made.prefix(size))
    }
}
