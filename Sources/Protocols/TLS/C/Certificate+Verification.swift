internal import COpenSSL

extension Certificate {
    /// Whether a client's chain, leaf first and in DER, leads to one of the authorities, for the
    /// purpose of a client (RFC 5280 §6).
    package static func verifies(
        clientChain: [[UInt8]], trusting authorities: [Certificate]
    ) -> Bool {
        let chain = clientChain.compactMap { Certificate(der: $0) }
        guard let leaf = chain.first, chain.count == clientChain.count else { return false }
        // Also by each alone: of two authorities of one name, the wrong one may be tried where a leaf
        // does not say which key has signed it.
        return verifies(leaf, chain, authorities)
            || authorities.count > 1 && authorities.contains { verifies(leaf, chain, [$0]) }
    }

    private static func verifies(
        _ leaf: Certificate, _ chain: [Certificate], _ authorities: [Certificate]
    ) -> Bool {
        guard let store = unsafe X509_STORE_new() else { return false }
        defer {
            unsafe X509_STORE_free(store)
            OpenSSLErrors.clear()
        }
        for authority in authorities { unsafe X509_STORE_add_cert(store, authority.pointer) }
        let others = unsafe openssl_new_chain()
        defer { unsafe openssl_free_chain(others) }
        for certificate in chain.dropFirst() {
            unsafe openssl_push_chain(others, certificate.pointer)
        }
        let session = unsafe X509_STORE_CTX_new()
        defer { unsafe X509_STORE_CTX_free(session) }
        guard unsafe X509_STORE_CTX_init(session, store, leaf.pointer, others) == 1 else {
            return false
        }
        unsafe X509_STORE_CTX_set_purpose(session, X509_PURPOSE_SSL_CLIENT)
        return unsafe X509_verify_cert(session) == 1
    }
}
