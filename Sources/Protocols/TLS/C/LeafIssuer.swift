internal import Base
internal import COpenSSL

/// Certificates for names, signed by an authority; all of them have one key, which is not the
/// authority's.
@safe
final class LeafIssuer {
    private let authority: Certificate
    private let authorityKey: PrivateKey
    let leafKey: PrivateKey
    private let fixedExtensions: [FixedExtension]

    /// In days, counted from two days back, for clocks that are behind.
    static let lifetime = 45

    init(authority: Certificate, authorityKey: PrivateKey) {
        self.authority = authority
        self.authorityKey = authorityKey
        leafKey = .p256()
        fixedExtensions = Self.makeFixedExtensions(authority)
    }

    private static func makeFixedExtensions(_ authority: Certificate) -> [FixedExtension] {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, authority.pointer, nil, nil, nil, 0)
        let values: [(identifier: Int32, value: String)] = [
            (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth"),
            (NID_authority_key_identifier, "keyid"),
        ]
        // An authority without a key identifier cannot lend one; its leaves go without.
        return values.compactMap { entry in
            guard
                let made = unsafe X509V3_EXT_conf_nid(nil, &context, entry.identifier, entry.value)
            else { return nil }
            return unsafe FixedExtension(owning: made)
        }
    }

    /// An extension that all leaves share.
    @safe
    private final class FixedExtension {
        private let pointer: OpaquePointer

        init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

        deinit { unsafe X509_EXTENSION_free(pointer) }

        func add(to certificate: OpaquePointer) {
            unsafe X509_add_ext(certificate, pointer, -1)
        }
    }

    /// Makes a certificate for a DNS name, or for an IP address as the system writes it.
    ///
    /// - Parameter address: another IP address that it is for; `nil` for none.
    func issue(_ name: String, and address: String? = nil) -> Certificate {
        OpenSSLErrors.clear()
        guard let made = unsafe X509_new() else { preconditionFailure("out of memory") }
        let certificate = unsafe Certificate(owning: made)
        unsafe X509_set_version(made, 2)
        unsafe setRandomSerial(made)
        unsafe X509_set_issuer_name(made, X509_get_subject_name(authority.pointer))
        let day = 86_400
        unsafe X509_gmtime_adj(X509_getm_notBefore(made), -2 * day)
        unsafe X509_gmtime_adj(X509_getm_notAfter(made), (Self.lifetime - 2) * day)
        let hasSubject = name.utf8.count <= 64
        if hasSubject {
            let subject = unsafe X509_get_subject_name(made)
            let bytes = [UInt8](name.utf8)
            unsafe X509_NAME_add_entry_by_NID(
                subject, NID_commonName, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0)
        }
        unsafe X509_set_pubkey(made, leafKey.pointer)
        for fixed in fixedExtensions { unsafe fixed.add(to: made) }
        // RFC 5280 §4.2.1.6: critical where the subject is empty.
        let others = address.map { $0 == name ? [] : [$0] } ?? []
        unsafe addAlternativeNames([name] + others, to: made, critical: !hasSubject)
        let size = unsafe X509_sign(made, authorityKey.pointer, EVP_sha256())
        precondition(size > 0, "OpenSSL cannot sign a leaf")
        return certificate
    }

    private func addAlternativeNames(
        _ all: [String], to certificate: OpaquePointer, critical: Bool
    ) {
        guard let names = unsafe openssl_new_general_names() else {
            preconditionFailure("out of memory")
        }
        defer { unsafe openssl_free_general_names(names) }
        for name in all {
            let bytes = [UInt8](name.utf8)
            if let address = unsafe a2i_IPADDRESS(name) {
                unsafe openssl_push_address(names, address)
            } else {
                OpenSSLErrors.clear()
                unsafe openssl_push_dns_name(names, bytes, Int32(bytes.count))
            }
        }
        unsafe X509_add1_ext_i2d(
            certificate, NID_subject_alt_name, UnsafeMutableRawPointer(names), critical ? 1 : 0,
            UInt(X509V3_ADD_APPEND))
    }
}

/// Gives a certificate a serial of 16 random bytes that is positive (RFC 5280 §4.1.2.2).
func setRandomSerial(_ certificate: OpaquePointer) {
    var bytes = TLS.Digests.randomBytes(16)
    bytes[0] = bytes[0] & 0x7F | 0x40
    guard let number = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil) else { return }
    defer { unsafe BN_free(number) }
    unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate))
}
