package import Base
internal import Launching
package import Traffic

/// What another tool recorded, as a capture that goes with the value.
package final class ForeignCapture {
    package let source: any TrafficStore
    /// What came of the import.
    package let report: ImportRun.Report
    private let folder: CommandFolder

    /// - Parameters:
    ///   - variables: those of the environment, which name the folder for temporary files.
    ///   - check: ends the reading by an error.
    ///   - progress: told how many bytes were read.
    ///
    /// Errors: those of ``ImportRun/read(_:into:check:progress:)``.
    package init(
        _ run: ImportRun, _ file: InputFile, variables: [String: String],
        check: @escaping () throws -> Void, progress: @escaping (_ done: Int64) throws -> Void
    ) async throws {
        folder = try CommandFolder(in: variables["TMPDIR"] ?? "/tmp")
        let path = folder.path + "/imported.sallyport"
        report = try await run.read(file, into: path, check: check, progress: progress)
        source = try CaptureOpening.open(path)
    }

    deinit {
        folder.remove()
    }
}
