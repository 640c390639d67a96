internal import Base
internal import COpenSSL

extension PrivateKey {
    /// What this key and another's public one have in common (ECDH, RFC 6090 §4): the start of a key,
    /// and none itself. Whoever has one of the private keys can make it.
    ///
    /// - Returns: `nil` if the two are not on one curve.
    package func agreement(with other: PublicKey) -> [UInt8]? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let context = unsafe EVP_PKEY_CTX_new(pointer, nil) else {
            preconditionFailure("out of memory")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var size = 0
        guard unsafe EVP_PKEY_derive_init(context) == 1,
            unsafe EVP_PKEY_derive_set_peer(context, other.pointer) == 1,
            unsafe EVP_PKEY_derive(context, nil, &size) == 1
        else { return nil }
        var secret = [UInt8](repeating: 0, count: size)
        guard unsafe EVP_PKEY_derive(context, &secret, &size) == 1 else { return nil }
        return Array(secret.prefix(size))
    }
}

extension Digests {
    /// A key of 32 bytes from a password (PBKDF2 with HMAC-SHA-256, RFC 8018 §5.2).
    package static func key(password: [UInt8], salt: [UInt8], rounds: Int) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: 32)
        let secret = password.map { CChar(bitPattern: $0) }
        let status = unsafe PKCS5_PBKDF2_HMAC(
            secret, Int32(clamping: secret.count), salt, Int32(clamping: salt.count),
            Int32(clamping: rounds), EVP_sha256(), Int32(key.count), &key)
        precondition(status == 1, "OpenSSL lacks a digest that the product needs")
        return key
    }
}
