internal import Audit
package import Base
package import TLS
package import Views

/// Where the tool keeps what lasts: `$XDG_STATE_HOME/sallyport`, or `~/.local/state/sallyport`
/// (XDG Base Directory Specification).
enum StateFolder {
    /// Errors: `no-state-folder`.
    static func path(_ variables: [String: String]) throws(Failure) -> String {
        if let folder = variables["XDG_STATE_HOME"], folder.hasPrefix("/") {
            return folder + "/sallyport"
        }
        guard let home = variables["HOME"], home.hasPrefix("/") else {
            throw Failure(
                "no-state-folder", party: .tool, "there is no folder to keep the CA in",
                hint: "set HOME or XDG_STATE_HOME, or bring a CA along: --ca-file and --ca-key")
        }
        return home + "/.local/state/sallyport"
    }
}

extension AuthorityConfiguration {
    /// Opens the authority: the one that is named, the one of a scope, or the installation's own.
    ///
    /// Errors: `ca-unusable`, and those of `CertificateAuthority`.
    package func open(_ variables: [String: String]) throws(Failure) -> CertificateAuthority {
        switch (certificatePath, keyPath) {
        case (nil, nil):
            return try CertificateAuthority.open(
                folder: try StateFolder.path(variables) + "/" + (try folderName()), scope: scope)
        case _ where !scope.isEmpty:
            throw Failure(
                "ca-unusable", party: .tool, "a CA that you bring along has its own scope",
                hint: "give --ca-scope, or --ca-file and --ca-key")
        case (let certificate?, let key?):
            return try CertificateAuthority.load(
                certificatePath: certificate, keyPath: key, password: try password())
        default:
            throw Failure(
                "ca-unusable", party: .tool, "a CA needs both its certificate and its key",
                hint: "give --ca-file and --ca-key together")
        }
    }

    /// Opens the authority of audits, the user's own or that of the installation, and their keys.
    /// The keys are not in its folder, which can only be made whole.
    ///
    /// Errors: as ``open(_:)``, and `certificate-invalid` for one that an audit cannot use.
    func openForAudit(
        _ variables: [String: String]
    ) throws(Failure) -> (authority: AuditAuthority, keys: KeyCache) {
        let own = self == AuthorityConfiguration() ? nil : try open(variables)
        let folder = try StateFolder.path(variables) + "/audit"
        // Where they were once; a folder with them alone has no room for a CA.
        _ = Files.move(folder + "/keys", to: folder + "-keys")
        let keys = KeyCache(folder: folder + "-keys")
        guard let own else { return (try AuditAuthority.open(folder: folder), keys) }
        return (try AuditAuthority(own), keys)
    }

    /// `ca`, or for a scope `ca-` and what its domains give, however they were written.
    private func folderName() throws(Failure) -> String {
        let domains = try AuthorityScope(scope).domains
        guard !domains.isEmpty else { return "ca" }
        let digest = Digests.sha256([UInt8](domains.joined(separator: ",").utf8))
        return "ca-" + digest.prefix(6).hex
    }

    private func password() throws(Failure) -> String? {
        guard let passwordPath else { return nil }
        let line = try Files.read(passwordPath, byteLimit: 4096).prefix { $0 != 0x0A && $0 != 0x0D }
        return line.text
    }
}

extension AuthorityRecord {
    /// - Parameter scope: the domains that it was made for.
    package init(_ authority: CertificateAuthority, scope: [String]) {
        let validity = authority.certificate.validity
        self.init(
            certificatePath: authority.certificatePath, keyPath: authority.keyPath,
            subject: authority.certificate.subject,
            notBefore: Timestamp(microseconds: validity.notBefore * 1_000_000),
            notAfter: Timestamp(microseconds: validity.notAfter * 1_000_000),
            sha256: authority.certificate.fingerprint, certificate: authority.certificate.der,
            scope: scope)
    }
}
