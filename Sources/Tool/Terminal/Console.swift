package import Base

/// What a command writes to, and how it looks there.
package struct Console: Sendable {
    /// Where results go.
    package let output: OutputStream
    /// Where talk goes: errors, hints, notes, progress.
    package let diagnostics: OutputStream
    /// The colours of `output`.
    package let palette: Palette
    /// What the pace of drawings is taken from.
    package let clock: @Sendable () -> MonotonicTime

    package init(
        output: OutputStream, diagnostics: OutputStream, palette: Palette,
        clock: @escaping @Sendable () -> MonotonicTime
    ) {
        self.output = output
        self.diagnostics = diagnostics
        self.palette = palette
        self.clock = clock
    }

    /// Tells something beside the result.
    package func note(_ text: String) throws(Failure) {
        try diagnostics.write("sallyport: note: \(TerminalText.sanitized(text))\n")
    }

    /// Tells what can be done about what was told.
    package func hint(_ text: String) throws(Failure) {
        try diagnostics.write("sallyport: hint: \(TerminalText.sanitized(text))\n")
    }

    /// Writes text that a peer sent, so that it cannot act on the terminal.
    package func writeText(_ bytes: [UInt8]) throws(Failure) {
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
