package import Base
internal import Synchronization

/// The keys of an audit's certificates.
///
/// Those on curves are made anew for each certificate, in microseconds. RSA and DSA keys take up to
/// minutes, so one of each kind is made when it is first wanted, and kept in a file that only its
/// owner can read.
package final class KeyCache: Sendable {
    private let folder: String
    private let kept = Mutex<[CertificateRecipe.KeyKind: PrivateKey]>([:])

    /// - Parameter folder: made when there is something to be put into it.
    package init(folder: String) { self.folder = folder }

    /// A key of a kind.
    ///
    /// Errors: `probe-not-possible` for a kind that OpenSSL lacks here, `file-unreadable`,
    /// `file-unwritable`, `key-invalid`, `key-exposed`.
    package func key(_ kind: CertificateRecipe.KeyKind) throws(Failure) -> PrivateKey {
        guard kind.takesLong else { return try Self.make(kind) }
        if let key = kept.withLock({ $0[kind] }) { return key }
        // Without the lock: who wants another kind has not to wait for seconds.
        let key = try open(kind)
        return kept.withLock { kept in
            let first = kept[kind] ?? key
            kept[kind] = first
            return first
        }
    }

    /// Makes those of some kinds that are kept, so that nobody has to wait for them in a handshake.
    ///
    /// - Parameter beforeSlow: called before one is made that takes seconds.
    /// Errors: those of ``key(_:)`` but `probe-not-possible`.
    package func prepare(
        _ kinds: Set<CertificateRecipe.KeyKind>, beforeSlow: () throws(Failure) -> Void
    ) throws(Failure) {
        for kind in kinds where kind.takesLong {
            if kind == .rsa8192, !Files.exists("\(folder)/\(kind.rawValue).pem") {
                try beforeSlow()
            }
            do throws(Failure) {
                _ = try key(kind)
            } catch {
                guard error.code == "probe-not-possible" else { throw error }
            }
        }
    }

    private func open(_ kind: CertificateRecipe.KeyKind) throws(Failure) -> PrivateKey {
        let path = "\(folder)/\(kind.rawValue).pem"
        guard Files.exists(path) else {
            let key = try Self.make(kind)
            try keep(key, path)
            return key
        }
        guard Files.isPrivate(path) else {
            throw Failure(
                "key-exposed", party: .tool, "others on this machine may read the key in \(path)",
                hint: "remove the file; a new key is made when it is needed")
        }
        return try PrivateKey.read(pem: try Files.read(path), password: nil, name: path)
    }

    /// Puts a whole file in place, so that no other process reads half of one.
    private func keep(_ key: PrivateKey, _ path: String) throws(Failure) {
        try Files.makeFolder(folder)
        let temporary = "\(path).\(Digests.randomBytes(6).hex)"
        try Files.create(temporary, key.pem)
        guard Files.move(temporary, to: path) else {
            Files.remove(temporary)
            throw Failure("file-unwritable", party: .tool, "cannot put a key in place: \(path)")
        }
    }

    private static func make(_ kind: CertificateRecipe.KeyKind) throws(Failure) -> PrivateKey {
        guard let key = PrivateKey.make(kind) else {
            throw ProbedHost.impossible("OpenSSL makes no \(kind.rawValue) key here")
        }
        return key
    }
}
