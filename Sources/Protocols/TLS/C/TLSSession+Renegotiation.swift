internal import COpenSSL

extension TLSSession {
    /// Asks the client for another handshake on the same connection (RFC 5246 §7.4.1.1), in which
    /// it is shown another chain; for a probe's server, up to TLS 1.2.
    ///
    /// - Returns: whether the library agreed; `handshake()` then goes on.
    package func renegotiate(showing chain: PresentedChain) -> Bool {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard let leaf = chain.certificates.first else { return false }
        unsafe openssl_allow_renegotiation(pointer)
        guard unsafe SSL_use_certificate(pointer, leaf.pointer) == 1,
            unsafe SSL_use_PrivateKey(pointer, chain.key.pointer) == 1
        else { return false }
        unsafe openssl_clear_chain(pointer)
        for certificate in chain.certificates.dropFirst() {
            unsafe openssl_add_session_chain_certificate(pointer, certificate.pointer)
        }
        return unsafe SSL_renegotiate(pointer) == 1
    }
}
