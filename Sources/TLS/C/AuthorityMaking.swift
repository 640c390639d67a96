internal import Base
internal import COpenSSL

extension CertificateAuthority {
    /// Makes an authority of its own kind: ECDSA on P-256, valid for five years, for issuing leaves
    /// only.
    ///
    /// - Parameters:
    ///   - label: what the common name begins with.
    ///   - scope: the DNS suffixes that it may issue for; all names if empty.
    static func make(
        label: String, scope: [String]
    ) throws(Failure) -> (certificate: Certificate, key: PrivateKey) {
        let key = PrivateKey.p256()
        guard let made = unsafe X509_new() else { preconditionFailure("out of memory") }
        let certificate = unsafe Certificate(owning: made)
        unsafe X509_set_version(made, 2)
        unsafe setRandomSerial(made)
        let name = unsafe X509_get_subject_name(made)
        // A name of its own keeps a client that trusts two installations from mixing them up.
        let commonName = [UInt8]("\(label) \(Digests.randomBytes(4).hex)".utf8)
        unsafe X509_NAME_add_entry_by_NID(
            name, NID_organizationName, MBSTRING_UTF8, [UInt8]("Sallyport".utf8), -1, -1, 0)
        unsafe X509_NAME_add_entry_by_NID(
            name, NID_commonName, MBSTRING_UTF8, commonName, Int32(commonName.count), -1, 0)
        unsafe X509_set_issuer_name(made, name)
        let day = 86_400
        unsafe X509_gmtime_adj(X509_getm_notBefore(made), -2 * day)
        unsafe X509_gmtime_adj(X509_getm_notAfter(made), 1826 * day)
        unsafe X509_set_pubkey(made, key.pointer)
        try add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", to: certificate)
        try add(NID_key_usage, "critical,keyCertSign,cRLSign", to: certificate)
        try add(NID_subject_key_identifier, "hash", to: certificate)
        if !scope.isEmpty {
            let permitted = scope.map { "permitted;DNS:\($0)" }.joined(separator: ",")
            try add(NID_name_constraints, "critical,\(permitted)", to: certificate)
        }
        let size = unsafe X509_sign(made, key.pointer, EVP_sha256())
        precondition(size > 0, "OpenSSL cannot sign the authority")
        return (certificate, key)
    }

    private static func add(
        _ identifier: Int32, _ value: String, to certificate: Certificate
    ) throws(Failure) {
        OpenSSLErrors.clear()
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, certificate.pointer, certificate.pointer, nil, nil, 0)
        guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, identifier, value) else {
            throw Failure(
                "certificate-invalid", party: .tool,
                "cannot make the CA's extension '\(value)': \(OpenSSLErrors.take())")
        }
        unsafe X509_add_ext(certificate.pointer, made, -1)
        unsafe X509_EXTENSION_free(made)
    }
}
