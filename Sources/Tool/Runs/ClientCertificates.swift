package import Base
package import Origins
internal import TLS
internal import Views

/// The certificates that are shown to origins that ask, as they are named on the command line.
package struct ClientCertificates: Sendable {
    /// A file with a certificate, and the hosts that it is for.
    package struct File: Sendable, Equatable {
        package let host: HostPattern
        /// `CERTIFICATE`, or `CERTIFICATE:KEY`.
        package let paths: String

        package init(host: HostPattern, paths: String) {
            self.host = host
            self.paths = paths
        }

        /// The key's is `nil` where it is in the same file.
        fileprivate var places: (certificate: String, key: String?) {
            guard !Files.exists(paths), let colon = paths.lastIndex(of: ":") else {
                return (paths, nil)
            }
            return (String(paths[..<colon]), String(paths[paths.index(after: colon)...]))
        }
    }

    package var files: [File] = []
    /// A file whose lines decrypt the keys.
    package var passwordPath: String?

    package init() {}

    /// Errors: `file-unreadable`, `certificate-invalid`, `key-invalid`, `key-mismatch`,
    /// `key-exposed`.
    package func read() throws(Failure) -> [OriginIdentity] {
        var passwords: [String] = []
        if let passwordPath {
            passwords = try Files.read(passwordPath).split(separator: 0x0A)
                .map { ($0.last == 0x0D ? $0.dropLast() : $0).text }
        }
        return try files.map { file throws(Failure) in
            let (certificate, key) = file.places
            let bytes = try Files.read(certificate)
            let keyBytes = try key.map { path throws(Failure) in (try Files.read(path), path) }
            let identity = try ClientIdentity.read(
                bytes, name: certificate, key: keyBytes, passwords: passwords)
            guard Files.isPrivate(key ?? certificate) else {
                throw Failure(
                    "key-exposed", party: .tool,
                    "others on this machine may read the key in \(key ?? certificate)",
                    hint:
                        "let its owner alone read it: chmod 600 \(shellQuoted(key ?? certificate))")
            }
            return OriginIdentity(identity, for: file.host)
        }
    }
}
