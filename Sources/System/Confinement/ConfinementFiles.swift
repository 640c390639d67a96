internal import Base
internal import Glibc

/// The files that are laid over the system's, beside the bundle.
struct ConfinementFiles: Sendable {
    /// A folder whose files are added to those of `/etc/ssl/certs`.
    let certificates: String
    let resolver: String
    /// What the command is to see of the system's names; `nil` for the system's own file.
    private(set) var hosts: String?
    private(set) var sources: String?
    private var made: [String] = []

    /// Errors: `file-unwritable`.
    init(_ configuration: ConfinementConfiguration) throws(Failure) {
        certificates = "\(configuration.folder)/confined-certificates"
        resolver = "\(configuration.folder)/confined-resolv.conf"
        do throws(Failure) {
            try makeFolder(certificates)
            for (name, bytes) in configuration.certificates.sorted(by: { $0.key < $1.key }) {
                var folder = certificates
                for part in name.split(separator: "/").dropLast() {
                    folder += "/\(part)"
                    try makeFolder(folder)
                }
                try Files.create("\(certificates)/\(name)", bytes, readableByOthers: true)
                made.append("\(certificates)/\(name)")
            }
            try Files.create(resolver, Array(Self.resolverText().utf8), readableByOthers: true)
            made.append(resolver)
            hosts = try write("confined-hosts", of: "/etc/hosts", in: configuration.folder) {
                HostTable.confined(
                    $0, ownName: Confinement.ownHostName, leads: configuration.leadsName)
            }
            sources = try write(
                "confined-nsswitch.conf", of: "/etc/nsswitch.conf", in: configuration.folder,
                HostTable.confinedSources)
            // It takes the place of a file that everybody may read, and holds no secret.
            _ = unsafe chmod(configuration.bundle, 0o644)
        } catch {
            remove()
            throw error
        }
    }

    /// Writes what a file of the system is to look like.
    ///
    /// - Returns: `nil` if it is to look as it does, or cannot be read by us nor, most likely, by the
    ///   command.
    private mutating func write(
        _ name: String, of place: String, in folder: String, _ change: ([UInt8]) -> [UInt8]?
    ) throws(Failure) -> String? {
        let bytes: [UInt8]
        do throws(Failure) {
            bytes = try Files.read(place)
        } catch {
            return nil
        }
        guard let changed = change(bytes) else { return nil }
        let path = "\(folder)/\(name)"
        try Files.create(path, changed, readableByOthers: true)
        made.append(path)
        return path
    }

    /// A folder that the command's other users may look into: it shows where the system's was.
    private mutating func makeFolder(_ path: String) throws(Failure) {
        made.append(path)
        try Files.makeFolder(path)
        _ = unsafe chmod(path, 0o755)
    }

    /// Removes them; a folder after what is in it.
    func remove() {
        for path in made.reversed() { Files.remove(path) }
    }

    /// The system's own, with another server: what it says of search lists and options holds.
    private static func resolverText() -> String {
        var lines = [
            "nameserver \(NamespaceSockets.resolver.map(String.init).joined(separator: "."))"
        ]
        do throws(Failure) {
            let bytes = try Files.read("/etc/resolv.conf")
            lines += String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
                .filter { line in ["search", "domain", "options"].contains { line.hasPrefix($0) } }
        } catch {
            // There is none, and nothing to lay ours over.
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
