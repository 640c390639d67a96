import PackagePlugin

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Turns the files in `Certs` into a Swift source whenever one of them has changed, so that the
/// tool has them in itself.
@main
struct EmbedCatalogue: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.package.directoryURL.appending(path: "Certs")
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedProbes.swift")
        let families = names(in: folder.path).filter { !$0.contains(".") }
        let files = families.flatMap { family in
            names(in: folder.appending(path: family).path)
                .filter { $0.hasSuffix(".probe") }
                .map { folder.appending(path: family).appending(path: $0) }
        }
        return [
            .buildCommand(
                displayName: "Embedding the catalogue",
                executable: try context.tool(named: "embed-catalogue").url,
                arguments: [output.path] + files.map(\.path),
                inputFiles: files, outputFiles: [output])
        ]
    }

    private func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.sorted()
    }
}
