internal import Base
internal import COpenSSL

extension PrivateKey {
    /// Makes a key, good or bad.
    ///
    /// - Returns: `nil` if this OpenSSL makes none of the kind.
    static func make(_ kind: CertificateRecipe.KeyKind) -> PrivateKey? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let made: OpaquePointer? =
            switch kind {
            case .p256, .p256Explicit: unsafe openssl_generate_curve("P-256")
            case .p384: unsafe openssl_generate_curve("P-384")
            case .p192: unsafe openssl_generate_curve("P-192")
            case .p224: unsafe openssl_generate_curve("P-224")
            case .secp256k1: unsafe openssl_generate_curve("secp256k1")
            case .ed25519: unsafe openssl_generate_ed25519()
            case .rsa512: unsafe openssl_generate_rsa(512, 65_537)
            case .rsa1024: unsafe openssl_generate_rsa(1024, 65_537)
            case .rsa2048: unsafe openssl_generate_rsa(2048, 65_537)
            case .rsa4096: unsafe openssl_generate_rsa(4096, 65_537)
            case .rsa8192: unsafe openssl_generate_rsa(8192, 65_537)
            case .rsaE3: unsafe openssl_generate_rsa(2048, 3)
            case .dsa1024: unsafe openssl_generate_dsa(1024)
            // Made of another key.
            case .authorityPoint: nil
            }
        guard let made = unsafe made else { return nil }
        let key = unsafe PrivateKey(owning: made)
        if kind == .p256Explicit {
            let status = unsafe EVP_PKEY_set_utf8_string_param(
                made, OSSL_PKEY_PARAM_EC_ENCODING, OSSL_PKEY_EC_ENCODING_EXPLICIT)
            guard status == 1 else { return nil }
        }
        return key
    }

    /// Makes a key with the public point of this one, which it does not need the private half of.
    ///
    /// Errors: `probe-not-possible` for a key that has no point.
    func sharingPoint() throws(Failure) -> PrivateKey {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let made = unsafe openssl_generate_same_point(pointer) else {
            throw ProbedHost.impossible("the audit's CA has no key on a curve")
        }
        return unsafe PrivateKey(owning: made)
    }
}
