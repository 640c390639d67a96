internal import Base
internal import CPlatform
internal import Glibc

/// Lays files over the system's, in a mount namespace of our own: whom to trust, and where names are
/// resolved. They are gone with the namespace.
enum NamespaceMounts {
    /// - Parameters:
    ///   - bundle: certificates in PEM, the system's and ours.
    ///   - certificates: a folder whose files are added to those of `/etc/ssl/certs`.
    ///   - names: files that say where names are resolved, and over what they are laid; an empty path
    ///     for nothing.
    /// - Returns: what could not be done; the programs concerned refuse the CA, or ask a resolver
    ///   that is led to us all the same.
    static func set(
        bundle: String, certificates: String, names: [(file: String, place: String)]
    ) -> [ConfinementLimit] {
        do throws(ConfinementError) {
            // What is mounted here must not show outside; what is mounted outside may show here.
            try mount("none", "/", flags: platform_mount_slave)
        } catch {
            return [.filesNotLaid(error.text)]
        }
        var limits: [ConfinementLimit] = []
        func attempt(_ work: () throws(ConfinementError) -> Void) {
            do throws(ConfinementError) {
                try work()
            } catch {
                limits.append(.filesNotLaid(error.text))
            }
        }
        attempt { () throws(ConfinementError) in
            try layFolder(certificates, over: "/etc/ssl/certs")
        }
        var done: Set<String> = []
        for place in bundlePlaces {
            guard let target = resolved(place), done.insert(target).inserted else { continue }
            attempt { () throws(ConfinementError) in
                try mount(bundle, target, flags: platform_mount_bind)
            }
        }
        for (file, place) in names where !file.isEmpty {
            guard let target = resolved(place) else { continue }
            attempt { () throws(ConfinementError) in
                try mount(file, target, flags: platform_mount_bind)
            }
        }
        return limits
    }

    /// Shows the files of two folders as one.
    private static func layFolder(
        _ folder: String, over place: String
    ) throws(ConfinementError) {
        guard let target = resolved(place) else { return }
        let folders = [folder, target].map(escaped).joined(separator: ":")
        try mount(
            "overlay", target, type: "overlay", flags: platform_mount_read_only,
            options: "lowerdir=\(folders)")
    }

    /// Colons and commas separate, unless a backslash is before them.
    private static func escaped(_ path: String) -> String {
        path.reduce(into: "") { text, character in
            if ":,\\".contains(character) { text.append("\\") }
            text.append(character)
        }
    }

    private static func mount(
        _ source: String, _ target: String, type: String = "none", flags: UInt,
        options: String? = nil
    ) throws(ConfinementError) {
        guard unsafe platform_mount(source, target, type, flags, options) == 0 else {
            throw ConfinementError("mount over \(target)")
        }
    }

    /// The path without symbolic links; `nil` if nothing is there.
    private static func resolved(_ path: String) -> String? {
        guard let text = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    /// Where distributions have the certificates that they trust, in one file.
    private static let bundlePlaces = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs/ca-bundle.crt",
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/pki/tls/cert.pem", "/etc/ssl/cert.pem",
        "/etc/ssl/ca-bundle.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/var/lib/ca-certificates/ca-bundle.pem",
    ]
}
