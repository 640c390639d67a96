package import Base

/// The authority that signs the certificates that clients are shown.
///
/// It is made at first use, belongs to one installation, and never leaves its folder unless its
/// certificate (not the key) is exported.
package final class CertificateAuthority: Sendable {
    package let certificate: Certificate
    let key: PrivateKey
    /// Where the certificate lies, for a person to trust it.
    package let certificatePath: String
    package let keyPath: String

    private init(
        certificate: Certificate, key: PrivateKey, certificatePath: String, keyPath: String
    ) {
        self.certificate = certificate
        self.key = key
        self.certificatePath = certificatePath
        self.keyPath = keyPath
    }

    /// Opens the authority of a folder, and makes it if there is none: `ca.pem` and `ca.key`, which
    /// only the owner can read. Neither is ever overwritten.
    ///
    /// - Parameters:
    ///   - scope: the domains that a new one may vouch for, with those below them; all names if
    ///     empty. One that is there keeps what it was made for, so that a scope needs a folder of
    ///     its own.
    ///   - pathLength: how many authorities may stand below a new one; `nil` for any number.
    ///   - age: how many days ago a new one began.
    ///
    /// Errors: `file-unreadable`, `file-unwritable`, `certificate-invalid`, `key-invalid`,
    /// `key-mismatch`, `scope-invalid`.
    package static func open(
        folder: String, label: String = "Sallyport CA", scope: [String] = [],
        pathLength: Int? = 0, age: Int = 2
    ) throws(Failure) -> CertificateAuthority {
        // A slash at the end would make a folder beside it one inside it.
        var folder = Substring(folder)
        while folder.count > 1, folder.last == "/" { folder.removeLast() }
        let certificatePath = "\(folder)/ca.pem"
        let keyPath = "\(folder)/ca.key"
        if !Files.exists(certificatePath) && !Files.exists(keyPath) {
            try create(
                in: String(folder), label: label, scope: scope, pathLength: pathLength, age: age)
        }
        guard Files.isPrivate(keyPath) else {
            throw Failure(
                "key-exposed", party: .tool,
                "others on this machine may read the key in \(keyPath)",
                hint: "if nobody did: chmod 600; else move the folder away, and trust the new CA")
        }
        return try load(certificatePath: certificatePath, keyPath: keyPath, password: nil)
    }

    /// Opens an authority that the user brings along.
    ///
    /// Errors: `file-unreadable`, `certificate-invalid`, `key-invalid`, `key-mismatch`.
    package static func load(
        certificatePath: String, keyPath: String, password: String?
    ) throws(Failure) -> CertificateAuthority {
        let certificate = try Certificate(
            pem: try Files.read(certificatePath), name: certificatePath)
        let key = try PrivateKey.read(
            pem: try Files.read(keyPath), password: password, name: keyPath)
        guard key.belongs(to: certificate) else {
            throw Failure(
                "key-mismatch", party: .tool,
                "the key in \(keyPath) is not the key of the certificate in \(certificatePath)")
        }
        guard certificate.isAuthority else {
            throw Failure(
                "certificate-invalid", party: .tool,
                "the certificate in \(certificatePath) may not issue others",
                hint: "a CA certificate has the extension basicConstraints with CA:TRUE")
        }
        guard !certificate.isExpired else {
            throw Failure(
                "certificate-invalid", party: .tool,
                "the CA in \(certificatePath) ended on \(Timestamp(microseconds: certificate.validity.notAfter * 1_000_000).rfc3339)",
                hint: "move its folder away; a new CA is made at the next start, to be trusted anew"
            )
        }
        return CertificateAuthority(
            certificate: certificate, key: key, certificatePath: certificatePath, keyPath: keyPath)
    }

    /// Writes both files into a folder of their own and moves that into place, so that there is
    /// never half an authority, and of two that start at once one wins.
    private static func create(
        in folder: String, label: String, scope: [String], pathLength: Int?, age: Int
    ) throws(Failure) {
        let made = try make(label: label, scope: scope, pathLength: pathLength, age: age)
        let parent = folder.split(separator: "/").dropLast().joined(separator: "/")
        try Files.makeFolder(folder.hasPrefix("/") ? "/\(parent)" : parent.isEmpty ? "." : parent)
        let temporary = "\(folder).\(Digests.randomBytes(6).hex)"
        try Files.makeFolder(temporary)
        try Files.create("\(temporary)/ca.key", made.key.pem)
        try Files.create("\(temporary)/ca.pem", made.certificate.pem, readableByOthers: true)
        if !Files.move(temporary, to: folder) {
            Files.remove("\(temporary)/ca.key")
            Files.remove("\(temporary)/ca.pem")
            Files.remove(temporary)
            // Unless another process was faster, something else is in the way.
            guard Files.exists("\(folder)/ca.pem") else {
                throw Failure(
                    "file-unwritable", party: .tool,
                    "cannot make a CA in \(folder): it cannot be put there",
                    hint: "the folder must be missing or empty")
            }
        }
    }
}
