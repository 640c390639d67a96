package import Base
internal import COpenSSL
internal import Glibc

/// An X.509 certificate.
///
/// `@unchecked Sendable`: OpenSSL counts references atomically, and nothing here changes one.
@safe
package final class Certificate: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Owns `pointer`.
    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe X509_free(pointer)
    }

    /// Reads the first certificate of PEM text.
    ///
    /// Errors: `certificate-invalid`.
    package convenience init(pem: [UInt8], name: String) throws(Failure) {
        let all = try Certificate.all(inPEM: pem, name: name)
        guard let first = all.first else {
            throw Failure("certificate-invalid", party: .tool, "no certificate in \(name)")
        }
        self.init(sharing: first)
    }

    /// Reads a certificate in DER; `nil` if it is none, or something follows it.
    package convenience init?(der: [UInt8]) {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let made = unsafe der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return unsafe d2i_X509(nil, &cursor, bytes.count)
        }
        guard let made = unsafe made else { return nil }
        unsafe self.init(owning: made)
        if self.der.count != der.count { return nil }
    }

    private init(sharing other: Certificate) {
        unsafe X509_up_ref(other.pointer)
        unsafe pointer = other.pointer
    }

    /// Reads the certificates of a file that a user wants to be trusted: one without any would let
    /// every origin be refused later, for a reason that says nothing of the file.
    ///
    /// Errors: `certificate-invalid`.
    package static func authorities(
        inPEM pem: [UInt8], name: String
    ) throws(Failure) -> [Certificate] {
        let found = try all(inPEM: pem, name: name)
        guard !found.isEmpty else {
            throw Failure("certificate-invalid", party: .client, "no certificate in \(name)")
        }
        return found
    }

    /// Reads every certificate of PEM text; other blocks are passed over.
    ///
    /// Errors: `certificate-invalid`.
    package static func all(inPEM pem: [UInt8], name: String) throws(Failure) -> [Certificate] {
        OpenSSLErrors.clear()
        guard let source = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
            throw Failure("certificate-invalid", party: .tool, "cannot read \(name)")
        }
        defer { unsafe BIO_free(source) }
        var found: [Certificate] = []
        while let certificate = unsafe PEM_read_bio_X509(source, nil, nil, nil) {
            found.append(unsafe Certificate(owning: certificate))
        }
        let atEnd = openssl_error_reason(ERR_peek_last_error()) == PEM_R_NO_START_LINE
        OpenSSLErrors.clear()
        guard atEnd else {
            throw Failure("certificate-invalid", party: .tool, "a certificate in \(name) is broken")
        }
        return found
    }

    package var der: [UInt8] {
        let size = unsafe Int(i2d_X509(pointer, nil))
        guard size > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { space, count in
            var target = space.baseAddress
            count = unsafe Int(i2d_X509(pointer, &target))
        }
    }

    package var pem: [UInt8] {
        guard let target = unsafe BIO_new(BIO_s_mem()) else { return [] }
        defer { unsafe BIO_free(target) }
        unsafe PEM_write_bio_X509(target, pointer)
        return unsafe bytes(ofMemory: target)
    }

    /// SHA-256 of the DER.
    package var fingerprint: [UInt8] { TLS.Digests.sha256(der) }

    /// The subject on one line, such as `CN=example.com,O=Example`.
    package var subject: String { unsafe text(of: X509_get_subject_name(pointer)) }
    package var issuer: String { unsafe text(of: X509_get_issuer_name(pointer)) }

    /// The file name under which OpenSSL looks for it in a folder of trusted certificates, such as
    /// `4a6481c9.0` (openssl-rehash(1)).
    package var folderName: String {
        let digits = String(unsafe X509_subject_name_hash(pointer), radix: 16)
        return String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits + ".0"
    }

    /// When it begins and ends, in seconds since 1970-01-01 UTC.
    package var validity: (notBefore: Int64, notAfter: Int64) {
        unsafe (
            seconds(of: X509_get0_notBefore(pointer)), seconds(of: X509_get0_notAfter(pointer))
        )
    }

    private func seconds(of time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return unsafe CalendarTime.secondsSinceEpoch(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
    }

    /// Whether its time is over.
    package var isExpired: Bool { unsafe X509_cmp_current_time(X509_get0_notAfter(pointer)) < 0 }

    /// Whether it may issue others (RFC 5280 §4.2.1.9).
    package var isAuthority: Bool { unsafe X509_check_ca(pointer) == 1 }

    /// How many authorities may stand below it, as it says; `nil` for any number.
    var pathLength: Int? {
        let length = unsafe X509_get_pathlen(pointer)
        return length < 0 ? nil : Int(length)
    }

    /// Whether it names itself as its issuer, as a root does.
    package var isSelfIssued: Bool {
        unsafe X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0
    }

    private func text(of name: OpaquePointer?) -> String {
        guard let target = unsafe BIO_new(BIO_s_mem()) else { return "" }
        defer { unsafe BIO_free(target) }
        unsafe X509_NAME_print_ex(target, name, 0, openssl_name_flags)
        return unsafe bytes(ofMemory: target).text
    }
}

/// A copy of what a memory BIO holds.
func bytes(ofMemory memory: OpaquePointer) -> [UInt8] {
    var start: UnsafeMutablePointer<CChar>?
    let count = unsafe openssl_bio_memory(memory, &start)
    guard let start = unsafe start, count > 0 else { return [] }
    return unsafe UnsafeBufferPointer(start: start, count: count).map { UInt8(bitPattern: $0) }
}
