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
        // Every client would refuse the sound server, as if it did not trust the authority.
        guard authority.certificate.pathLength != 0 else {
            throw Failure(
                "certificate-invalid", party: .tool,
                "the CA in \(authority.certificatePath) may not have CAs below itself",
                hint: "its basicConstraints say pathlen:0, as the proxy's CA does; an audit needs"
                    + " one without, or makes its own without --ca-file")
        }
        self.authority = authority
    }

    /// Opens the authority of a folder, and makes it if there is none.
    ///
    /// Errors: as ``CertificateAuthority/open(folder:label:scope:pathLength:)``.
    package static func open(folder: String) throws(Failure) -> AuditAuthority {
        try AuditAuthority(
            try CertificateAuthority.open(
                folder: folder, label: "Sallyport Audit CA", pathLength: nil))
    }
}
