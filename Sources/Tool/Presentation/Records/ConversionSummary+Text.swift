package import Base
internal import Formats
package import Terminal
internal import Views

extension ConversionSummary {
    /// Writes for a person to the diagnostics, and for a program to the output unless that holds
    /// the converted data.
    package func write(
        asJSON isJSON: Bool, to console: Console, outputIsFree: Bool
    ) throws(Failure) {
        guard isJSON else {
            var text = counts.isEmpty ? "" : "sallyport: read \(countText)\n"
            for line in losses.lines {
                text += "sallyport: not kept, \(TerminalText.sanitized(line))\n"
            }
            return try console.diagnostics.write(text)
        }
        let stream = outputIsFree ? console.output : console.diagnostics
        try stream.write(json.line + [UInt8(ascii: "\n")])
    }

    private var countText: String {
        counts.map { "\($0.count) \($0.name)\($0.count == 1 ? "" : "s")" }.joined(separator: ", ")
    }
}

/// A progress bar that several closures advance.
package final class ConversionProgress {
    private var bar: ProgressBar

    package init(
        _ title: String, total: Int64, in unit: ProgressBar.Unit = .items,
        on console: Console
    ) {
        bar = ProgressBar(
            title, total: total, in: unit, on: console.diagnostics, clock: console.clock)
    }

    package func advance(to done: Int64, of total: Int64? = nil) throws(Failure) {
        try bar.advance(to: done, of: total)
    }

    package func finish() throws(Failure) { try bar.finish() }
}
