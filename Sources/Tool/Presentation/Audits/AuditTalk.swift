internal import Audit
package import Base
internal import Glibc
package import Runs
package import Terminal

/// What an audit says to a person besides its report.
package struct AuditTalk: Sendable {
    package let table: AuditLiveTable
    private let console: Console
    private let isJSON: Bool
    private let progress: RunProgress

    package init(_ console: Console, isJSON: Bool) {
        self.console = console
        self.isJSON = isJSON
        table = AuditLiveTable(console)
        progress = RunProgress("auditing", on: console)
    }

    package func show(_ event: RunEvent) {
        do throws(Failure) {
            switch event {
            case .note(let text): try console.note(text)
            case .hint(let text): try console.hint(text)
            case .listening(let places): try console.output.write(ready(places))
            case .progress(let done, let total): progress.advance(to: done, of: total)
            case .traffic, .miss, .lagged: break
            }
        } catch {
            // Nobody listens; the report tells all of it in the end.
        }
    }

    /// Where the servers are, and whom to trust.
    private func ready(_ places: AuditPlaces) -> [UInt8] {
        if isJSON { return places.json(processID: getpid()).line + [UInt8(ascii: "\n")] }
        var lines = places.places.map { "\($0.address)  \($0.name)" }
        lines.append("CA certificate: \(TerminalText.sanitized(places.authority))")
        lines.append("capture: \(TerminalText.sanitized(places.capture))")
        lines.append("the report follows when it is interrupted")
        return lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }

    /// Says what the report has no row for.
    package func finish(_ outcome: AuditOutcome, _ configuration: AuditConfiguration)
        throws(Failure)
    {
        try progress.finish()
        try outcome.strays.tell(console)
        switch configuration.way {
        case .command:
            if let trace = outcome.silence {
                try AuditSilence(host: outcome.awaitedHost).tell(trace, console)
            }
        case .listen:
            try table.finish()
            guard outcome.report.results.isEmpty else { break }
            try AuditSilence.tell(
                hint: configuration.targets.isEmpty
                    ? "set the address above as the client's proxy"
                    : "set the address above as the client's proxy, and see whether --targets has"
                        + " its hosts", console)
        case .serve:
            guard outcome.report.results.isEmpty else { break }
            try AuditSilence.tell(
                hint: "have the client connect to each of the ports above, twice", console)
        }
    }

    /// Says where the connections are recorded that the report names; clients that come by
    /// themselves were told of it before.
    package func tellCapture(_ outcome: AuditOutcome) throws(Failure) {
        try console.diagnostics.write(
            "sallyport: recorded in \(TerminalText.sanitized(outcome.report.capturePath))\n")
    }
}
