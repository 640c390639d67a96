internal import COpenSSL

/// What is wrong with certificates that were seen to pass, as far as that needs no trust.
package enum ChainFlaws {
    /// Flaws in OpenSSL's words, of the leaf but for weak signatures.
    ///
    /// - Parameters:
    ///   - chain: in DER, leaf first.
    ///   - seconds: when it was shown, since 1970-01-01 UTC.
    ///   - host: the name that was asked for, `nil` if none was.
    package static func of(_ chain: [[UInt8]], at seconds: Int64, host: String?) -> [String] {
        let certificates = chain.prefix(lengthLimit).compactMap { Certificate(der: $0) }
        guard let leaf = certificates.first else { return [] }
        var flaws: [String] = []
        if seconds > leaf.validity.notAfter { flaws.append("certificate has expired") }
        if seconds < leaf.validity.notBefore { flaws.append("certificate is not yet valid") }
        if let host, !leaf.isFor(host: host) { flaws.append("hostname mismatch") }
        if leaf.isSelfIssued { flaws.append("self-signed leaf") }
        if leaf.hasSmallKey { flaws.append("EE certificate key too weak") }
        // What a root says of itself is not looked at by anybody.
        if certificates.contains(where: { $0.hasWeakSignature && (!$0.isSelfIssued || $0 === leaf) }
        ) {
            flaws.append("CA signature digest algorithm too weak")
        }
        return flaws
    }

    private static let lengthLimit = 8
}

extension Certificate {
    /// Whether it names a host (RFC 9525 §6).
    fileprivate func isFor(host: String) -> Bool {
        unsafe X509_check_host(pointer, host, host.utf8.count, 0, nil) == 1
            || X509_check_ip_asc(pointer, host, 0) == 1
    }

    /// Whether its key is one of RSA or DSA with less than 2048 bits, or of a curve with less than 224
    /// (NIST SP 800-131A).
    fileprivate var hasSmallKey: Bool {
        guard let key = unsafe X509_get0_pubkey(pointer) else { return false }
        let bits = unsafe EVP_PKEY_get_bits(key)
        switch unsafe EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS, EVP_PKEY_DSA: return bits < 2048
        case EVP_PKEY_EC: return bits < 224
        default: return false
        }
    }

    /// Whether it is signed over a digest that collisions were made for.
    fileprivate var hasWeakSignature: Bool {
        var digest: Int32 = 0
        guard unsafe OBJ_find_sigid_algs(X509_get_signature_nid(pointer), &digest, nil) == 1 else {
            return false
        }
        return [NID_md5, NID_md4, NID_md2, NID_sha1].contains(digest)
    }
}
