internal import COpenSSL

extension TLSSession {
    /// Why the peer's certificate does not verify, in OpenSSL's words where they are its; `nil` if
    /// it does. To be asked of a client's session whose handshake is done.
    package var verifyError: String? {
        guard isNameSet else { return "there is no name to verify the certificate for" }
        // The library has nothing to object to a certificate that there is not.
        guard let leaf = unsafe SSL_get0_peer_certificate(pointer) else {
            return "no certificate was presented"
        }
        let result = unsafe SSL_get_verify_result(pointer)
        guard result == X509_V_OK else {
            return unsafe String(cString: X509_verify_cert_error_string(result))
        }
        return unsafe usageError(of: leaf)
    }

    /// What the library lets pass: a key that may not do what it did in the handshake (RFC 8446
    /// §4.4.2.2, RFC 5246 §7.4.2), and a purpose that only servers of the nineties had.
    private func usageError(of leaf: OpaquePointer) -> String? {
        let purposes = unsafe X509_get_extended_key_usage(leaf)
        if purposes != UInt32.max, purposes & UInt32(XKU_SSL_SERVER) == 0 {
            return unsafe String(
                cString: X509_verify_cert_error_string(Int(X509_V_ERR_INVALID_PURPOSE)))
        }
        let usage = unsafe X509_get_key_usage(leaf)
        guard usage != UInt32.max else { return nil }
        // A handshake of TLS 1.2 that still goes on has none that is current.
        let cipher = unsafe SSL_get_current_cipher(pointer) ?? SSL_get_pending_cipher(pointer)
        let isSigning = unsafe cipher.map { unsafe SSL_CIPHER_get_kx_nid($0) } != NID_kx_rsa
        let needed = isSigning ? KU_DIGITAL_SIGNATURE : KU_KEY_ENCIPHERMENT
        guard usage & UInt32(needed) == 0 else { return nil }
        return isSigning
            ? "unsuitable key usage: the key may not sign"
            : "unsuitable key usage: the key may not encipher keys"
    }
}
