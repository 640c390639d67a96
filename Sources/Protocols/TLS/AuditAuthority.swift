package import Base

/// The CA whose certificates an audit shows to clients that have been told to trust it.
///
/// It is another one than the proxy's, since it issues flawed certificates and authorities below
/// itself: whoever trusts it for an audit need not trust it for anything else.
package final class AuditAuthority: Sendable {
    private let authority: CertificateAuthority

    package var certificate: Certificate { authority.certificate }
    /// Where the certificate lies, for clients to trust it.
    package var certificatePath: String { authority.certificatePath }
    var key: PrivateKey { authority.key }

    /// - Parameter authority: one that may issue authorities below itself.
    ///
    /// Errors: `certificate-invalid`.
    package init(_ authority: CertificateAuthority) throws(Failure) {
        // Clients would refuse chains for their length, even the sound server's, and not for what
        // is wrong with them.
        if let length = authority.certificate.pathLength, length < 2 {
            throw Failure(
                "certificate-invalid", party: .tool,
                "the CA in \(authority.certificatePath) may have "
                    + (length == 0 ? "no CA" : "one CA only") + " below itself",
                hint: "its basicConstraints say pathlen:\(length), as the proxy's CA says 0; an"
                    + " audit needs one without, or makes its own without --ca-file")
        }
        self.authority = authority
    }

    /// Opens the authority of a folder, and makes it if there is none. One of an earlier version,
    /// which began when it was made, gets a certificate that begins earlier.
    ///
    /// Errors: `file-unwritable`, and as ``CertificateAuthority/open(folder:label:scope:pathLength:)``.
    package static func open(folder: String) throws(Failure) -> AuditAuthority {
        let opened = try CertificateAuthority.open(
            folder: folder, label: "Sallyport Audit CA", pathLength: nil, age: age)
        let validity = opened.certificate.validity
        guard validity.notAfter - validity.notBefore < Int64(age) * 86_400 else {
            return try AuditAuthority(opened)
        }
        try Files.replace(opened.certificatePath, try opened.backdated(age: age).pem)
        return try AuditAuthority(
            try CertificateAuthority.open(
                folder: folder, label: "Sallyport Audit CA", pathLength: nil))
    }

    /// In days: before all that it signs, whatever a probe says of its time. A client that judges as
    /// of the day when a leaf was valid must find nothing wrong with the CA on that day.
    package static let age = 7_300
}
