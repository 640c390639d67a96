internal import Base
internal import COpenSSL

/// Adds the extensions of a recipe to a certificate, sound ones where it does not say otherwise.
struct ExtensionWriter {
    private let certificate: Certificate
    private let recipe: CertificateRecipe
    private let issuer: CertificateIssuer
    private let host: ProbedHost

    init(
        _ certificate: Certificate, _ recipe: CertificateRecipe, _ issuer: CertificateIssuer,
        _ host: ProbedHost
    ) {
        self.certificate = certificate
        self.recipe = recipe
        self.issuer = issuer
        self.host = host
    }

    /// Errors: `probe-not-possible`, `recipe-invalid`.
    func write() throws(Failure) {
        let isLeaf = recipe.role == .leaf
        let encipherment = recipe.key.isRSA ? ",keyEncipherment" : ""
        try add(
            NID_basic_constraints, recipe.basicConstraints,
            standard: "critical,CA:" + (isLeaf ? "FALSE" : "TRUE"))
        try add(
            NID_key_usage, recipe.keyUsage,
            standard: "critical,"
                + (isLeaf ? "digitalSignature\(encipherment)" : "keyCertSign,cRLSign"))
        try add(
            NID_ext_key_usage, recipe.extendedKeyUsage, standard: isLeaf ? "serverAuth" : nil)
        try add(NID_name_constraints, recipe.nameConstraints, standard: nil)
        try add(NID_policy_constraints, recipe.policyConstraints, standard: nil)
        try add(NID_tlsfeature, recipe.tlsFeature, standard: nil)
        try add(NID_crl_distribution_points, recipe.listAddresses, standard: nil)
        try add(NID_info_access, recipe.statusAddresses, standard: nil)
        try addKeyIdentifiers()
        if let names = try AlternativeNamesWriter.der(of: recipe, host) {
            // RFC 5280 §4.2.1.6: critical where the subject is empty.
            let isNameless =
                unsafe X509_NAME_entry_count(X509_get_subject_name(certificate.pointer)) == 0
            try add("2.5.29.17", names, isCritical: isNameless)
        }
        for extra in recipe.extraExtensions {
            try add(extra.identifier, extra.der, isCritical: extra.isCritical)
        }
    }

    private func addKeyIdentifiers() throws(Failure) {
        let own = identifier(of: certificate)
        try add("2.5.29.14", AlternativeNamesWriter.element(0x04, own), isCritical: false)
        let named: [UInt8]? =
            switch recipe.authorityKeyIdentifier {
            case .absent: nil
            // A copy bears the identifier of the key that it was made for.
            case .issuer: issuer.isCopy ? nil : identifier(of: issuer.certificate)
            case .other: Digests.randomBytes(20)
            }
        guard let named else { return }
        let content = AlternativeNamesWriter.element(0x80, named)
        try add(
            "2.5.29.35", AlternativeNamesWriter.element(0x30, content), isCritical: false)
    }

    /// The SHA-1 of a certificate's key, as is usual (RFC 5280 §4.2.1.2).
    private func identifier(of certificate: Certificate) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 20) { space, count in
            var size: UInt32 = 20
            let status = unsafe X509_pubkey_digest(
                certificate.pointer, EVP_sha1(), space.baseAddress, &size)
            precondition(status == 1, "a certificate without a key")
            count = Int(size)
        }
    }

    // MARK: One extension

    private func add(
        _ identifier: Int32, _ value: CertificateRecipe.ExtensionValue, standard: String?
    ) throws(Failure) {
        let text: String? =
            switch value {
            case .standard: standard
            case .absent: nil
            case .text(let text): try text.resolved(for: host).text
            }
        guard let text else { return }
        OpenSSLErrors.clear()
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(
            &context, issuer.certificate.pointer, certificate.pointer, nil, nil, 0)
        guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, identifier, text) else {
            throw invalid("the extension '\(text)': \(OpenSSLErrors.take())")
        }
        defer { unsafe X509_EXTENSION_free(made) }
        unsafe X509_add_ext(certificate.pointer, made, -1)
    }

    private func add(_ identifier: String, _ der: [UInt8], isCritical: Bool) throws(Failure) {
        OpenSSLErrors.clear()
        let object = unsafe OBJ_txt2obj(identifier, 1)
        let content = unsafe ASN1_OCTET_STRING_new()
        defer {
            unsafe ASN1_OBJECT_free(object)
            unsafe ASN1_OCTET_STRING_free(content)
        }
        unsafe ASN1_OCTET_STRING_set(content, der, Int32(der.count))
        let made = unsafe X509_EXTENSION_create_by_OBJ(nil, object, isCritical ? 1 : 0, content)
        guard unsafe object != nil, let made = unsafe made else {
            throw invalid("an extension '\(identifier)': \(OpenSSLErrors.take())")
        }
        defer { unsafe X509_EXTENSION_free(made) }
        unsafe X509_add_ext(certificate.pointer, made, -1)
    }

    private func invalid(_ what: String) -> Failure {
        Failure("recipe-invalid", party: .tool, "cannot make '\(recipe.name)': \(what)")
    }
}
