internal import COpenSSL

extension Certificate {
    /// SHA-256 of its public key with the key's algorithm (SubjectPublicKeyInfo), as keys are pinned
    /// (RFC 7469 §2.4).
    package var publicKeyDigest: [UInt8] {
        let size = unsafe Int(i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), nil))
        guard size > 0 else { return [] }
        let key = unsafe [UInt8](unsafeUninitializedCapacity: size) { space, count in
            var target = space.baseAddress
            count = unsafe Int(i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), &target))
        }
        return TLS.Digests.sha256(key)
    }
}
