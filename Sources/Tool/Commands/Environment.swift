package import Base
package import CommandSyntax
package import Runs
package import Terminal
package import Traffic
package import Views

/// What a command touches of the world; all of it can be replaced, so that the tool runs in tests.
package struct Environment: Sendable {
    /// The environment variables.
    package var variables: [String: String]
    /// Where results go.
    package var output: OutputStream
    /// Where talk goes: errors, hints, notes, progress.
    package var diagnostics: OutputStream
    package var clock: @Sendable () -> MonotonicTime
    /// The time of day.
    package var now: @Sendable () -> Timestamp = { .now() }
    /// Makes bytes that nobody can foresee.
    package var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// Reads a file whole; `-` is the standard input. Errors: `file-unreadable`, also for a file
    /// over the limit of 16 MB.
    package var readFile: @Sendable (_ path: String) throws(Failure) -> [UInt8]
    /// Opens a capture for reading. Errors: `capture-unreadable`.
    package var openCapture: @Sendable (_ path: String) throws(Failure) -> any TrafficStore
    /// Finds the certificate authority, and makes it if there is none. Errors: `ca-unusable`.
    package var openAuthority: @Sendable (AuthorityConfiguration) throws(Failure) -> AuthorityRecord
    /// Reads the files that hold options, the one that counts more first. Errors: those of
    /// reading them, and `configuration-invalid`.
    package var configurationFiles: @Sendable () throws -> [ConfigurationFile] = { [] }
    /// Reads the policy on findings that the project has, `nil` for none. Errors: those of reading
    /// it.
    package var projectPolicy: @Sendable () throws -> (path: String, bytes: [UInt8])? = { nil }
    /// Reads and writes files that may be long.
    package var fileStreams = FileStreams.ofSystem

    package init(
        variables: [String: String], output: OutputStream, diagnostics: OutputStream,
        clock: @escaping @Sendable () -> MonotonicTime,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        readFile: @escaping @Sendable (String) throws(Failure) -> [UInt8],
        openCapture: @escaping @Sendable (String) throws(Failure) -> any TrafficStore,
        openAuthority:
            @escaping @Sendable (AuthorityConfiguration) throws(Failure) -> AuthorityRecord
    ) {
        self.variables = variables
        self.output = output
        self.diagnostics = diagnostics
        self.clock = clock
        self.randomBytes = randomBytes
        self.readFile = readFile
        self.openCapture = openCapture
        self.openAuthority = openAuthority
    }

    /// What results and talk are written to.
    package var console: Console {
        Console(
            output: output, diagnostics: diagnostics,
            palette: Palette(for: output, variables: variables), clock: clock)
    }

    /// Tells something beside the result.
    func note(_ text: String) throws(Failure) { try console.note(text) }

    /// Tells what can be done about what was told.
    func hint(_ text: String) throws(Failure) { try console.hint(text) }
}
