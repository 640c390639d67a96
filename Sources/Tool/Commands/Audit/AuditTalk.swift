internal import Audit
internal import Base
internal import Glibc
internal import Runs

/// What an audit says to a person besides its report.
struct AuditTalk: Sendable {
    let table: AuditLiveTable
    private let environment: Environment
    private let isJSON: Bool
    private let progress: RunProgress

    init(_ environment: Environment, isJSON: Bool) {
        self.environment = environment
        self.isJSON = isJSON
        table = AuditLiveTable(environment)
        progress = RunProgress("auditing", environment)
    }

    func show(_ event: RunEvent) {
        do throws(Failure) {
            switch event {
            case .note(let text): try environment.note(text)
            case .hint(let text): try environment.hint(text)
            case .listening(let places): try environment.output.write(ready(places))
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
    func finish(_ outcome: AuditOutcome, _ configuration: AuditConfiguration) throws(Failure) {
        try progress.finish()
        try outcome.strays.tell(environment)
        switch configuration.way {
        case .command:
            if let trace = outcome.silence {
                try AuditSilence(host: outcome.awaitedHost).tell(trace, environment)
            }
        case .listen:
            try table.finish()
            guard outcome.report.results.isEmpty else { break }
            try AuditSilence.tell(
                hint: configuration.targets.isEmpty
                    ? "set the address above as the client's proxy"
                    : "set the address above as the client's proxy, and see whether --targets has"
                        + " its hosts", environment)
        case .serve:
            guard outcome.report.results.isEmpty else { break }
            try AuditSilence.tell(
                hint: "have the client connect to each of the ports above, twice", environment)
        }
    }

    /// Says where the connections are recorded that the report names; clients that come by
    /// themselves were told of it before.
    func tellCapture(_ outcome: AuditOutcome) throws(Failure) {
        try environment.diagnostics.write(
            "sallyport: recorded in \(TerminalText.sanitized(outcome.report.capturePath))\n")
    }
}
