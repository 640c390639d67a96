internal import Base
internal import CommandSyntax
internal import Runs
internal import TLS
internal import Terminal
internal import Views

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

extension Environment {
    /// The environment of this process.
    package static func ofProcess() -> Environment {
        let variables = processVariables()
        var environment = Environment(
            variables: variables,
            output: .descriptor(STDOUT_FILENO, variables),
            diagnostics: .descriptor(STDERR_FILENO, variables),
            clock: { .now() },
            randomBytes: { Digests.randomBytes($0) },
            readFile: { path throws(Failure) in
                try Files.read(path == "-" ? "/dev/stdin" : path)
            },
            openCapture: { path throws(Failure) in try CaptureOpening.open(path) },
            openAuthority: { configuration throws(Failure) in
                AuthorityRecord(
                    try configuration.open(variables),
                    scope: try AuthorityScope(configuration.scope).domains)
            })
        environment.configurationFiles = { [environment] in
            try environment.configurationFilesOfProcess()
        }
        environment.projectPolicy = { [environment] in
            // Who names the file of options, or none, wants nothing of the project.
            guard environment.variables["SALLYPORT_CONFIG"] == nil else { return nil }
            return try environment.ownFile("sallyport.policy").map { ("sallyport.policy", $0) }
        }
        return environment
    }

    /// A file of the current folder, which may be one that everybody writes to; `nil` for one that
    /// is not there, or somebody else's.
    private func ownFile(_ path: String) throws -> [UInt8]? {
        guard Files.exists(path) else { return nil }
        let bytes = try Files.readOwn(path, byteLimit: Self.configurationLimit)
        if bytes == nil { try note("\(path) is no file of yours alone and is not read") }
        return bytes
    }

    /// `sallyport.conf` in the current folder, and the user's own; the one that SALLYPORT_CONFIG
    /// names, if it is set, is the only one.
    private func configurationFilesOfProcess() throws -> [ConfigurationFile] {
        if let path = variables["SALLYPORT_CONFIG"] {
            return path.isEmpty ? [] : [try configuration(path)]
        }
        var files: [ConfigurationFile] = []
        let project = "sallyport.conf"
        if let bytes = try ownFile(project) {
            files.append(try ConfigurationFile(bytes, path: project, isOfProject: true))
        }
        let home = variables["HOME"].map { $0 + "/.config" }
        if let folder = variables["XDG_CONFIG_HOME"].flatMap({ $0.isEmpty ? nil : $0 }) ?? home,
            case let path = folder + "/sallyport/config", Files.exists(path)
        {
            files.append(try configuration(path))
        }
        return files
    }

    private func configuration(_ path: String) throws(Failure) -> ConfigurationFile {
        try ConfigurationFile(
            try Files.read(path, byteLimit: Self.configurationLimit), path: path,
            isOfProject: false)
    }

    /// In bytes.
    private static let configurationLimit = 1 << 20

    private static func processVariables() -> [String: String] {
        var variables: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let parts = unsafe String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            unsafe entry += 1
        }
        return variables
    }
}
