internal import Base
internal import Formats

/// What a conversion did and could not keep.
struct ConversionSummary {
    /// `import` or `export`.
    let verb: String
    /// The file that was written, `nil` for the standard output.
    let subject: String?
    let losses: LossReport
    /// Of what was read, each with its singular.
    var counts: [(name: String, count: Int64)] = []

    /// Writes for a person to the diagnostics, and for a program to the output unless that holds
    /// the converted data.
    func write(
        asJSON isJSON: Bool, to environment: Environment, outputIsFree: Bool
    ) throws(Failure) {
        guard isJSON else {
            var text = counts.isEmpty ? "" : "sallyport: read \(countText)\n"
            for line in losses.lines {
                text += "sallyport: not kept, \(TerminalText.sanitized(line))\n"
            }
            return try environment.diagnostics.write(text)
        }
        let stream = outputIsFree ? environment.output : environment.diagnostics
        try stream.write(json.line + [UInt8(ascii: "\n")])
    }

    private var countText: String {
        counts.map { "\($0.count) \($0.name)\($0.count == 1 ? "" : "s")" }.joined(separator: ", ")
    }

    private var json: JSONText {
        var members = [
            JSONText.Member("schema", .string("sallyport.\(verb)/1")),
            JSONText.Member("file", .optional(subject)),
        ]
        members += counts.map { JSONText.Member("\($0.name)s", .integer($0.count)) }
        return .object(members + [JSONText.Member("losses", losses.json)])
    }
}

/// A progress bar that several closures advance.
final class ConversionProgress {
    private var bar: ProgressBar

    init(
        _ title: String, total: Int64, in unit: ProgressBar.Unit = .items,
        _ environment: Environment
    ) {
        bar = ProgressBar(
            title, total: total, in: unit, on: environment.diagnostics, clock: environment.clock)
    }

    func advance(to done: Int64) throws(Failure) { try bar.advance(to: done) }

    func finish() throws(Failure) { try bar.finish() }
}
