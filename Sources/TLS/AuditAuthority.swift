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
    package init(_ authority: CertificateAuthority) { self.authority = authority }

    /// Opens the authority of a folder, and makes it if there is none.
    ///
    /// Errors: as ``CertificateAuthority/open(folder:label:scope:pathLength:)``.
    package static func open(folder: String) throws(Failure) -> AuditAuthority {
        AuditAuthority(
            try CertificateAuthority.open(
                folder: folder, label: "Sallyport Audit CA", pathLength: nil))
    }
}
