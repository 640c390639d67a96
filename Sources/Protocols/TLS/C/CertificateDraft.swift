internal import Base
internal import COpenSSL

/// A certificate that has its name and its key, and is signed when its issuer is known.
///
/// All of a chain are begun before one is finished, so that two can issue each other.
final class CertificateDraft {
    let recipe: CertificateRecipe
    let key: PrivateKey
    /// As far as it has been made.
    private let certificate: Certificate
    private let isCopy: Bool
    private let authority: CertificateIssuer
    /// What knows the digest, if the process's own algorithms do not; for as long as it is signed.
    private let library: AlgorithmLibrary?

    var identity: CertificateIssuer {
        CertificateIssuer(certificate: certificate, key: key, isCopy: isCopy)
    }

    /// Errors: `probe-not-possible`, `recipe-invalid`.
    init(
        _ recipe: CertificateRecipe, host: ProbedHost, key: PrivateKey,
        authority: CertificateIssuer
    ) throws(Failure) {
        self.recipe = recipe
        self.key = key
        self.authority = authority
        isCopy = false
        library = recipe.digest == .md4 ? try .withRetired() : nil
        guard let made = unsafe X509_new_ex(library?.pointer, nil) else {
            preconditionFailure("out of memory")
        }
        certificate = unsafe Certificate(owning: made)
        unsafe X509_set_pubkey(made, key.pointer)
        if recipe.subject == .ofAuthority {
            unsafe X509_set_subject_name(made, X509_get_subject_name(authority.certificate.pointer))
            return
        }
        let name = unsafe X509_get_subject_name(made)
        for entry in try Self.subject(of: recipe, host) {
            unsafe try Self.add(entry.attribute, entry.value, to: name, recipe)
        }
    }

    /// Copies a certificate field by field, but for its key.
    init(
        _ recipe: CertificateRecipe, copying other: Certificate, key: PrivateKey,
        authority: CertificateIssuer
    ) throws(Failure) {
        self.recipe = recipe
        self.key = key
        self.authority = authority
        isCopy = true
        library = nil
        guard let made = unsafe X509_dup(other.pointer) else {
            throw ProbedHost.impossible("a certificate of the origin cannot be copied")
        }
        certificate = unsafe Certificate(owning: made)
        unsafe X509_set_pubkey(made, key.pointer)
    }

    // MARK: Names

    private static func subject(
        of recipe: CertificateRecipe, _ host: ProbedHost
    ) throws(Failure) -> [(attribute: String, value: [UInt8])] {
        guard case .entries(let entries) = recipe.subject else {
            let name = try standardName(recipe, host)
            return [("O", Array("Sallyport Audit".utf8)), ("CN", name)]
        }
        var result: [(attribute: String, value: [UInt8])] = []
        for entry in entries {
            result.append((entry.attribute, try entry.value.resolved(for: host)))
        }
        return result
    }

    /// A leaf's common name is the first of its DNS names, as CAs have it (CABF BR 7.1.4.3).
    private static func standardName(
        _ recipe: CertificateRecipe, _ host: ProbedHost
    ) throws(Failure) -> [UInt8] {
        guard recipe.role == .leaf else {
            return Array("Sallyport \(recipe.name) \(Digests.randomBytes(4).hex)".utf8)
        }
        let names = try AlternativeNamesWriter.entries(of: recipe, host)
        let first = names.first { $0.kind == .dns }?.value ?? []
        let isPlain = first.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard !first.isEmpty, isPlain, first.count <= 64 else {
            return Array("Sallyport Audit".utf8)
        }
        return first
    }

    private static func add(
        _ attribute: String, _ value: [UInt8], to name: OpaquePointer?,
        _ recipe: CertificateRecipe
    ) throws(Failure) {
        OpenSSLErrors.clear()
        let status = unsafe X509_NAME_add_entry_by_txt(
            name, attribute, MBSTRING_UTF8, value, Int32(value.count), -1, 0)
        guard status == 1 else {
            // A common name has 64 characters at the most (RFC 5280 appendix A.1).
            if attribute == "CN", value.count > 64 {
                throw ProbedHost.impossible("the name is too long for a common name")
            }
            throw invalid(recipe, "the subject's \(attribute): \(OpenSSLErrors.take())")
        }
    }

    private static func invalid(_ recipe: CertificateRecipe, _ what: String) -> Failure {
        Failure("recipe-invalid", party: .tool, "cannot make '\(recipe.name)': \(what)")
    }

    // MARK: Finishing

    /// Fills in what is missing, signs it, and damages it if the recipe says so.
    ///
    /// Errors: `probe-not-possible`, `recipe-invalid`.
    func finish(issuer: CertificateIssuer, host: ProbedHost) throws(Failure) -> Certificate {
        if !isCopy { try fill(issuer, host) }
        OpenSSLErrors.clear()
        let digest = recipe.digest
        let size = unsafe X509_sign(
            certificate.pointer, issuer.key.pointer, issuer.key.isEd25519 ? nil : digest.pointer)
        guard size > 0 else {
            throw Self.invalid(
                recipe,
                "its issuer's key cannot sign with \(digest.rawValue): "
                    + OpenSSLErrors.take())
        }
        switch recipe.damage {
        case .signature: unsafe openssl_flip_signature(certificate.pointer)
        case .algorithm: changeAlgorithm(issuer.key)
        case .forged: try forge(issuer.key)
        case nil: break
        }
        // Read anew, since OpenSSL remembers of an unfinished one what it was like.
        let der = certificate.der
        guard let clean = Certificate(der: der) else {
            throw Self.invalid(recipe, "what came out cannot be read")
        }
        return clean
    }

    private func fill(_ issuer: CertificateIssuer, _ host: ProbedHost) throws(Failure) {
        let pointer = unsafe certificate.pointer
        unsafe X509_set_version(pointer, recipe.version - 1)
        switch recipe.serial {
        case .random: unsafe setRandomSerial(pointer)
        case .zero: unsafe ASN1_INTEGER_set(X509_get_serialNumber(pointer), 0)
        case .authority:
            unsafe X509_set_serialNumber(
                pointer, X509_get_serialNumber(authority.certificate.pointer))
        }
        unsafe X509_set_issuer_name(pointer, X509_get_subject_name(issuer.certificate.pointer))
        if let entries = recipe.issuerName { try setIssuerName(entries, host) }
        unsafe Self.set(X509_getm_notBefore(pointer), recipe.notBefore ?? .days(-2))
        let lifetime = recipe.role == .leaf ? LeafIssuer.lifetime - 2 : 1500
        unsafe Self.set(X509_getm_notAfter(pointer), recipe.notAfter ?? .days(lifetime))
        guard recipe.version == 3 else { return }
        try ExtensionWriter(certificate, recipe, issuer, host).write()
    }

    private func setIssuerName(
        _ entries: [CertificateRecipe.SubjectEntry], _ host: ProbedHost
    ) throws(Failure) {
        let name = unsafe X509_NAME_new()
        defer { unsafe X509_NAME_free(name) }
        for entry in entries {
            let value = try entry.value.resolved(for: host)
            try unsafe Self.add(entry.attribute, value, to: name, recipe)
        }
        unsafe X509_set_issuer_name(certificate.pointer, name)
    }

    private static func set(
        _ time: UnsafeMutablePointer<ASN1_TIME>?, _ moment: CertificateRecipe.Moment
    ) {
        switch moment {
        case .days(let days): unsafe X509_time_adj_ex(time, Int32(clamping: days), 0, nil)
        case .utcTime(let text): unsafe set(time, text, V_ASN1_UTCTIME)
        case .generalizedTime(let text): unsafe set(time, text, V_ASN1_GENERALIZEDTIME)
        }
    }

    private static func set(
        _ time: UnsafeMutablePointer<ASN1_TIME>?, _ text: String, _ type: Int32
    ) {
        unsafe ASN1_STRING_set(time, text, -1)
        unsafe time?.pointee.type = type
    }

    private func forge(_ key: PrivateKey) throws(Failure) {
        let status = unsafe openssl_forge_signature(certificate.pointer, key.pointer)
        guard status == 1, recipe.digest == .sha256 else {
            throw Self.invalid(
                recipe, "a signature can be forged with SHA-256 and an issuer's key of rsa-e3 only")
        }
    }

    private func changeAlgorithm(_ key: PrivateKey) {
        let other = key.isRSA ? NID_sha384WithRSAEncryption : NID_ecdsa_with_SHA384
        unsafe openssl_change_signature_algorithm(certificate.pointer, other)
    }
}

extension CertificateRecipe.SignatureDigest {
    fileprivate var pointer: OpaquePointer? {
        switch self {
        case .md4: unsafe EVP_md4()
        case .md5: unsafe EVP_md5()
        case .sha1: unsafe EVP_sha1()
        case .sha256: unsafe EVP_sha256()
        case .sha384: unsafe EVP_sha384()
        case .sha512: unsafe EVP_sha512()
        }
    }
}

extension PrivateKey {
    /// Ed25519 has its digest built in.
    fileprivate var isEd25519: Bool { unsafe EVP_PKEY_get_base_id(pointer) == EVP_PKEY_ED25519 }
}
