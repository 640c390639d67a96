internal import Base
internal import COpenSSL

extension CertificateAuthority {
    /// Makes an authority of its own kind: ECDSA on P-256, valid for five years.
    ///
    /// - Parameters:
    ///   - label: what the common name begins with.
    ///   - scope: the domains that it may issue for, with those below them, and no IP address; all
    ///     names if empty.
    ///   - pathLength: how many authorities may stand below it: none for one that issues leaves
    ///     only, `nil` for any number.
    ///   - age: how many days ago it began.
    ///
    /// Errors: `scope-invalid`, `certificate-invalid`.
    static func make(
        label: String, scope: [String], pathLength: Int? = 0, age: Int = 2
    ) throws(Failure) -> (certificate: Certificate, key: PrivateKey) {
        let domains = try AuthorityScope(scope).domains
        let key = PrivateKey.p256()
        guard let made = unsafe X509_new() else { preconditionFailure("out of memory") }
        let certificate = unsafe Certificate(owning: made)
        unsafe X509_set_version(made, 2)
        unsafe setRandomSerial(made)
        let name = unsafe X509_get_subject_name(made)
        let commonName = [UInt8](commonName(label, domains).utf8)
        unsafe X509_NAME_add_entry_by_NID(
            name, NID_organizationName, MBSTRING_UTF8, [UInt8]("Sallyport".utf8), -1, -1, 0)
        unsafe X509_NAME_add_entry_by_NID(
            name, NID_commonName, MBSTRING_UTF8, commonName, Int32(commonName.count), -1, 0)
        unsafe X509_set_issuer_name(made, name)
        let day = 86_400
        unsafe X509_gmtime_adj(X509_getm_notBefore(made), -age * day)
        unsafe X509_gmtime_adj(X509_getm_notAfter(made), 1826 * day)
        unsafe X509_set_pubkey(made, key.pointer)
        let limit = pathLength.map { ",pathlen:\($0)" } ?? ""
        try add(NID_basic_constraints, "critical,CA:TRUE\(limit)", to: certificate)
        try add(NID_key_usage, "critical,keyCertSign,cRLSign", to: certificate)
        try add(NID_subject_key_identifier, "hash", to: certificate)
        if !domains.isEmpty { try Self.limit(certificate, to: domains) }
        let size = unsafe X509_sign(made, key.pointer, EVP_sha256())
        precondition(size > 0, "OpenSSL cannot sign the authority")
        return (certificate, key)
    }

    /// Returns the certificate with an earlier beginning, and the same name, serial number and key:
    /// who trusts either takes what the key has signed.
    ///
    /// - Parameter age: how many days ago it began.
    /// Errors: `certificate-invalid`.
    func backdated(age: Int) throws(Failure) -> Certificate {
        guard let copy = unsafe X509_dup(certificate.pointer) else {
            preconditionFailure("out of memory")
        }
        let changed = unsafe Certificate(owning: copy)
        unsafe X509_gmtime_adj(X509_getm_notBefore(copy), -age * 86_400)
        OpenSSLErrors.clear()
        guard unsafe X509_sign(copy, key.pointer, EVP_sha256()) > 0 else {
            throw Failure(
                "certificate-invalid", party: .tool,
                "cannot sign the CA in \(certificatePath) anew: \(OpenSSLErrors.take())")
        }
        return changed
    }

    /// Says that the authority is good for servers in these domains only (RFC 5280 §4.2.1.10).
    ///
    /// A form of name that no constraint speaks of is not limited: so addresses are excluded, and
    /// the usage keeps it from vouching for mail and code, whose names are of other forms. A client
    /// need not keep the constraints of a CA that it trusts (RFC 5280 §6.2): OpenSSL does, Java does
    /// not.
    private static func limit(
        _ certificate: Certificate, to domains: [String]
    ) throws(Failure) {
        let permitted = domains.map { "permitted;DNS:\($0)" }
        let excluded = ["excluded;IP:0.0.0.0/0.0.0.0", "excluded;IP:::/::"]
        let constraints = (["critical"] + permitted + excluded).joined(separator: ",")
        try add(NID_name_constraints, constraints, to: certificate)
        try add(NID_ext_key_usage, "serverAuth", to: certificate)
    }

    /// A name of its own, which keeps a client that trusts two installations from mixing them up,
    /// and tells a person what it is good for.
    private static func commonName(_ label: String, _ domains: [String]) -> String {
        let tail = " " + Digests.randomBytes(4).hex
        guard let first = domains.first else { return label + tail }
        let purposes = [
            " for " + domains.joined(separator: ", "),
            " for \(first) and \(domains.count - 1) more",
            " with a scope",
        ]
        let names = purposes.map { label + $0 + tail }
        return names.first { $0.utf8.count <= commonNameLimit } ?? label + tail
    }

    /// In characters (RFC 5280 appendix A.1); OpenSSL refuses a longer one.
    private static let commonNameLimit = 64

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
