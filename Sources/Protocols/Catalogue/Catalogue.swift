package import Base

/// The probes that an audit can run: those that are part of the tool, and a user's own.
package struct Catalogue: Sendable {
    /// Family by family, in the order in which they are tried.
    package let entries: [ProbeDescription]

    private init(_ entries: some Sequence<ProbeDescription>) {
        self.entries = entries.sorted { Self.place($0) < Self.place($1) }
    }

    /// The probes that are part of the tool.
    package static func builtIn() -> Catalogue { Catalogue(builtInEntries.values) }

    /// The probes that are part of the tool with those of a folder, which replace their namesakes.
    ///
    /// A folder holds files whose names end with `.probe`, or folders of them; others are passed
    /// over.
    ///
    /// Errors: `catalogue-invalid`, `file-unreadable`.
    package static func load(folder: String) throws(Failure) -> Catalogue {
        var entries = builtInEntries
        for path in try probes(in: folder) {
            let bytes = try Files.read(path, byteLimit: byteLimit)
            let place = path.lastIndex(of: "/").map { path[...$0] } ?? ""
            let entry = try ProbeReader.read(bytes, path: path) { name throws(Failure) in
                try Files.read(
                    name.hasPrefix("/") ? name : place + name, byteLimit: byteLimit)
            }
            entries[entry.identifier] = entry
        }
        return Catalogue(entries.values)
    }

    /// The one of a name, such as `name-wrong-host`.
    package func entry(_ identifier: String) -> ProbeDescription? {
        entries.first { $0.identifier == identifier }
    }

    /// Those of a profile, and of the smaller ones within it.
    package func entries(in profile: AuditProfile) -> [ProbeDescription] {
        entries.filter { $0.profile <= profile }
    }

    private static func probes(in folder: String) throws(Failure) -> [String] {
        var paths: [String] = []
        for name in try Files.names(inFolder: folder) {
            if name.hasSuffix("/") {
                let inner = folder + "/" + name
                for file in try Files.names(inFolder: inner) where file.hasSuffix(".probe") {
                    paths.append(inner + file)
                }
            } else if name.hasSuffix(".probe") {
                paths.append(folder + "/" + name)
            }
        }
        guard !paths.isEmpty else {
            throw Failure(
                "catalogue-invalid", party: .tool, "no probes in \(folder)",
                hint: "a probe is a file whose name ends with .probe")
        }
        return paths
    }

    private static func place(_ entry: ProbeDescription) -> (Int, Int, String) {
        let family = ProbeFamily.allCases.firstIndex(of: entry.family) ?? 0
        return (family, entry.order, entry.identifier)
    }

    private static let builtInEntries: [String: ProbeDescription] = {
        var entries: [String: ProbeDescription] = [:]
        for (path, text) in embeddedProbes {
            do {
                let entry = try ProbeReader.read(Array(text.utf8), path: path)
                entries[entry.identifier] = entry
            } catch {
                preconditionFailure("the tool's own catalogue is broken: \(error)")
            }
        }
        return entries
    }()

    /// No description is that long; what is has been mistaken for one.
    private static let byteLimit = 256 << 10
}
