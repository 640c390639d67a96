package import Base
package import Formats
internal import PacketFormats
package import Traffic

/// A capture, written in the format of another tool.
package struct ExportRun {
    package enum Format: String, CaseIterable, Sendable {
        case har
        case pcapng
        case mitmproxy
        case bodies

        /// Whether it is not for a terminal.
        package var isBinary: Bool { self == .pcapng || self == .mitmproxy }

        /// `nil` for one that writes a folder.
        fileprivate var exporter: (any CaptureExporter)? {
            switch self {
            case .har: HARExporter()
            case .pcapng: PacketExporter()
            case .mitmproxy: MitmproxyExporter()
            case .bodies: nil
            }
        }
    }

    package let format: Format
    /// The new file or, of a format that writes one, folder; `nil` for `output`.
    package let path: String?
    package let files: FileStreams

    package init(_ format: Format, to path: String?, files: FileStreams = .ofSystem) {
        self.format = format
        self.path = path
        self.files = files
    }

    /// Writes what the options want; a file that is not whole in the end goes.
    ///
    /// - Parameter output: takes the bytes if no file is named.
    ///
    /// Errors: `file-unwritable`, those of the source and of `output`.
    package func write(
        _ source: any TrafficSource, _ options: ExportOptions,
        to output: @escaping ([UInt8]) throws -> Void
    ) throws -> LossReport {
        guard let exporter = format.exporter else { return try writeFolder(source, options) }
        guard let path else { return try exporter.export(source, options, to: output) }
        let file = try files.create(path)
        do {
            let report = try exporter.export(source, options) { try file.write($0) }
            try file.finish()
            return report
        } catch {
            file.discard()
            throw error
        }
    }

    private func writeFolder(
        _ source: any TrafficSource, _ options: ExportOptions
    ) throws -> LossReport {
        guard let folder = path else {
            throw Failure("file-unwritable", party: .tool, "bodies are written to a folder")
        }
        guard !Files.exists(folder) else {
            throw Failure(
                "file-unwritable", party: .tool, "cannot make the folder \(folder): it is there",
                hint: "name another one, or remove this one first")
        }
        try Files.makeFolder(folder)
        var names: [String] = []
        do {
            return try BodyFolderExporter().export(source, options) { name in
                names.append(name)
                return try files.create("\(folder)/\(name)")
            }
        } catch {
            // What the names stand for is ours: the folder was made for it.
            for name in names { Files.remove("\(folder)/\(name)") }
            Files.remove(folder)
            throw error
        }
    }
}
