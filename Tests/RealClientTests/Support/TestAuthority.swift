import Foundation

/// A CA that the origins of a test are signed by, made with the `openssl` command.
struct TestAuthority: Sendable {
    let certificatePath: String
    /// Of the origin: its certificate for `localhost`, `127.0.0.1` and the names given, and its key.
    let leafPath: String
    let leafKeyPath: String

    init(in folder: Folder, names: [String] = []) async throws {
        certificatePath = folder.path("origin-ca.pem")
        leafPath = folder.path("origin.pem")
        leafKeyPath = folder.path("origin.key")
        let key = folder.path("origin-ca.key")
        let request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        let common = request + ["-nodes", "-days", "2"]
        try await Program.run(
            .openssl,
            common + [
                "-subj", "/CN=Origin Test CA", "-keyout", key, "-out", certificatePath,
                "-addext", "keyUsage=critical,keyCertSign",
            ], in: folder)
        try await Program.run(
            .openssl,
            common + [
                "-CA", certificatePath, "-CAkey", key, "-subj", "/CN=localhost",
                "-keyout", leafKeyPath, "-out", leafPath,
                "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1"
                    + names.map { ",DNS:\($0)" }.joined(),
                "-addext", "basicConstraints=critical,CA:FALSE",
            ], in: folder)
    }
}
