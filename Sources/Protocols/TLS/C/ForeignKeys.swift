internal import Base
internal import COpenSSL
internal import Synchronization

/// Keys of strangers, one for each kind that a certificate was seen with: an RSA key takes long to
/// make.
enum ForeignKeys {
    private static let known = Mutex<[String: PrivateKey]>([:])
    private static let knownLimit = 32

    /// A key of the same kind and size as a certificate's, and not that.
    ///
    /// Errors: `probe-not-possible`.
    static func key(like certificate: Certificate) throws(Failure) -> PrivateKey {
        OpenSSLErrors.clear()
        guard let theirs = unsafe X509_get0_pubkey(certificate.pointer) else {
            OpenSSLErrors.clear()
            throw Failure("probe-not-possible", party: .tool, "the certificate's key is unknown")
        }
        let kind = unsafe name(of: theirs)
        if let key = known.withLock({ $0[kind] }) { return key }
        guard let made = unsafe openssl_generate_like(theirs) else {
            throw Failure(
                "probe-not-possible", party: .tool,
                "no key can be made like the certificate's: \(OpenSSLErrors.take())")
        }
        let key = unsafe PrivateKey(owning: made)
        known.withLock { keys in
            if keys.count >= knownLimit { keys.removeAll() }
            keys[kind] = key
        }
        return key
    }

    private static func name(of key: OpaquePointer) -> String {
        var group = [CChar](repeating: 0, count: 80)
        var size = 0
        unsafe EVP_PKEY_get_group_name(key, &group, group.count, &size)
        OpenSSLErrors.clear()
        let type = unsafe EVP_PKEY_get0_type_name(key).map { unsafe String(cString: $0) } ?? ""
        let curve = group.prefix(size).map { UInt8(bitPattern: $0) }.text
        return unsafe "\(type) \(EVP_PKEY_get_bits(key)) \(curve)"
    }
}
