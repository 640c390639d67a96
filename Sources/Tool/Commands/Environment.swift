package import Base
package import Traffic

/// What a command touches of the world; all of it can be replaced, so that the tool runs in tests.
package struct Environment: Sendable {
    /// The environment variables.
    package var variables: [String: String]
    /// Where results go.
    package var output: OutputStream
    /// Where talk goes: errors, hints, notes, progress.
    package var diagnostics: OutputStream
    package var clock: @Sendable () -> MonotonicTime
    /// Makes bytes that nobody can foresee.
    package var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// Reads a file whole; `-` is the standard input. Errors: `file-unreadable`, also for a file
    /// over the limit of 16 MB.
    package var readFile: @Sendable (_ path: String) throws(Failure) -> [UInt8]
    /// Opens a capture for reading. Errors: `capture-unreadable`.
    package var openCapture: @Sendable (_ path: String) throws(Failure) -> any TrafficStore
    /// Undoes the content codings that a `Content-Encoding` names. Errors: `unknown-coding`.
    package var decodeContent: @Sendable (_ codings: String) throws(Failure) -> ContentStream
    /// Finds the certificate authority, and makes it if there is none. Errors: `ca-unusable`.
    package var openAuthority: @Sendable (AuthorityConfiguration) throws(Failure) -> AuthorityRecord
    /// Reads and writes files that may be long.
    package var fileStreams = FileStreams.ofSystem

    package init(
        variables: [String: String], output: OutputStream, diagnostics: OutputStream,
        clock: @escaping @Sendable () -> MonotonicTime,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        readFile: @escaping @Sendable (String) throws(Failure) -> [UInt8],
        openCapture: @escaping @Sendable (String) throws(Failure) -> any TrafficStore,
        decodeContent: @escaping @Sendable (String) throws(Failure) -> ContentStream,
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
        self.decodeContent = decodeContent
        self.openAuthority = openAuthority
    }

    var palette: Palette { Palette(for: output, variables: variables) }

    /// Tells something beside the result.
    func note(_ text: String) throws(Failure) {
        try diagnostics.write("sallyport: note: \(TerminalText.sanitized(text))\n")
    }

    /// Tells what can be done about what was told.
    func hint(_ text: String) throws(Failure) {
        try diagnostics.write("sallyport: hint: \(TerminalText.sanitized(text))\n")
    }

    /// Writes text that a peer sent, so that it cannot act on the terminal.
    func writeText(_ bytes: [UInt8]) throws(Failure) {
        var lines = LineWriter(output)
        var rest = bytes[...]
        if rest.last == UInt8(ascii: "\n") { rest.removeLast() }
        for line in rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            let columns = content.text.split(separator: "\t", omittingEmptySubsequences: false)
            try lines.write(
                columns.map { TerminalText.sanitized(String($0)) }.joined(separator: "\t"))
        }
        try lines.flush()
    }
}

/// A content coding being undone, a piece at a time.
package struct ContentStream {
    /// Calls `visit` with what the next bytes decode to, in pieces, until it returns false; returns
    /// whether more is wanted and there may be more. Errors: `content-malformed`, those of `visit`.
    package let push: ([UInt8], _ visit: ([UInt8]) throws -> Bool) throws -> Bool
    /// Returns the rest. Errors: `content-malformed` if the end is missing, `content-too-large` if
    /// there is more than anybody wants of so few bytes.
    package let finish: () throws(Failure) -> [UInt8]

    package init(
        push: @escaping ([UInt8], _ visit: ([UInt8]) throws -> Bool) throws -> Bool,
        finish: @escaping () throws(Failure) -> [UInt8]
    ) {
        self.push = push
        self.finish = finish
    }

    /// Content without a coding.
    package static var identity: ContentStream {
        ContentStream { bytes, visit in
            try visit(bytes)
        } finish: { () throws(Failure) in
            []
        }
    }
}

/// Which certificate authority is meant; by default, the one in the state folder.
package struct AuthorityConfiguration: Sendable, Equatable {
    package var certificatePath: String?
    package var keyPath: String?
    /// A file whose first line decrypts the key.
    package var passwordPath: String?
    /// The domains that it may vouch for, with those below them; all names if empty.
    package var scope: [String] = []

    package init() {}
}

/// What is known of the certificate authority; the key itself is not.
package struct AuthorityRecord: Sendable {
    package let certificatePath: String
    package let keyPath: String
    package let subject: String
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    package let sha256: [UInt8]
    /// The certificate in DER.
    package let certificate: [UInt8]
    /// The domains that it was made for; empty if it is not known to be limited.
    package let scope: [String]

    package init(
        certificatePath: String, keyPath: String, subject: String, notBefore: Timestamp,
        notAfter: Timestamp, sha256: [UInt8], certificate: [UInt8], scope: [String]
    ) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.sha256 = sha256
        self.certificate = certificate
        self.scope = scope
    }
}
