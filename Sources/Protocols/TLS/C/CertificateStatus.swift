internal import Base
internal import COpenSSL

/// What issuers say of the revocation of their certificates, and sign.
enum CertificateStatus {
    /// An answer about one certificate (RFC 6960) in DER, as a server staples it.
    ///
    /// Errors: `recipe-invalid` for a certificate that its issuer cannot speak of.
    static func answer(
        _ staple: ChainIssuer.Staple, for certificate: Certificate, issuer: CertificateIssuer
    ) throws(Failure) -> [UInt8] {
        OpenSSLErrors.clear()
        let basic = unsafe OCSP_BASICRESP_new()
        let identifier = unsafe OCSP_cert_to_id(
            nil, certificate.pointer, issuer.certificate.pointer)
        defer {
            unsafe OCSP_BASICRESP_free(basic)
            unsafe OCSP_CERTID_free(identifier)
        }
        let hour = 3600
        let isStale = staple == .stale
        let begin = unsafe X509_gmtime_adj(nil, (isStale ? -72 : -1) * hour)
        let end = unsafe X509_gmtime_adj(nil, (isStale ? -24 : 72) * hour)
        let revoked = unsafe X509_gmtime_adj(nil, -30 * hour)
        defer {
            unsafe ASN1_TIME_free(begin)
            unsafe ASN1_TIME_free(end)
            unsafe ASN1_TIME_free(revoked)
        }
        let isRevoked = staple == .revoked
        unsafe OCSP_basic_add1_status(
            basic, identifier, isRevoked ? V_OCSP_CERTSTATUS_REVOKED : V_OCSP_CERTSTATUS_GOOD,
            isRevoked ? OCSP_REVOKED_STATUS_KEYCOMPROMISE : 0, isRevoked ? revoked : nil, begin,
            end)
        let status = unsafe OCSP_basic_sign(
            basic, issuer.certificate.pointer, issuer.key.pointer, EVP_sha256(), nil,
            UInt(OCSP_NOCERTS))
        guard status == 1,
            let response = unsafe OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
        else {
            throw Failure(
                "recipe-invalid", party: .tool,
                "cannot make an answer about revocation: \(OpenSSLErrors.take())")
        }
        defer { unsafe OCSP_RESPONSE_free(response) }
        var start: UnsafeMutablePointer<UInt8>?
        let size = unsafe i2d_OCSP_RESPONSE(response, &start)
        defer { unsafe CRYPTO_free(start, "", 0) }
        return unsafe Array(UnsafeBufferPointer(start: start, count: max(0, Int(size))))
    }

    /// A list of revoked certificates (RFC 5280 §5) in DER, with one on it.
    ///
    /// Errors: `recipe-invalid`.
    static func list(
        _ certificate: Certificate, issuer: CertificateIssuer
    ) throws(Failure) -> [UInt8] {
        OpenSSLErrors.clear()
        var start: UnsafeMutablePointer<UInt8>?
        let size = unsafe openssl_revocation_list(
            certificate.pointer, issuer.certificate.pointer, issuer.key.pointer, &start)
        guard size > 0 else {
            throw Failure(
                "recipe-invalid", party: .tool,
                "cannot make a list of what is revoked: \(OpenSSLErrors.take())")
        }
        defer { unsafe CRYPTO_free(start, "", 0) }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(size)))
    }
}
