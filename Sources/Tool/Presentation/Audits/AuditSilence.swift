internal import Base
internal import Launching
internal import Runs
internal import Terminal

/// Says why an audit has seen nothing, and what to try: the report has no row that could.
struct AuditSilence {
    /// The host that the command was to come to; `nil` for any.
    let host: String?

    /// Tells how the command ended that came to no server.
    func tell(_ trace: AuditLauncher.Trace, _ console: Console) throws(Failure) {
        let place = host.map { "to \($0)" } ?? "to a host that is audited"
        let ending = trace.timedOut ? "was ended after its time" : trace.ending.text
        try console.note("the command \(ending), and began no TLS \(place)")
        if let lines = Self.lastLines(of: trace.output) {
            try console.note("it said last: \(lines)")
        }
        try Self.tell(hint: hint(trace), console)
    }

    static func tell(hint: String, _ console: Console) throws(Failure) {
        try console.diagnostics.write("sallyport: hint: \(hint)\n")
    }

    private func hint(_ trace: AuditLauncher.Trace) -> String {
        if trace.timedOut { return "give it more time with --timeout, or see what it waits for" }
        guard host == nil else {
            return "see whether the command connects to what {url} or {host} stand for"
        }
        return "put {url} or {host} where the command takes its server's address; use --listen if"
            + " another program makes the connections"
    }

    /// The last two lines of a program's output that are not empty, cut where they are long.
    static func lastLines(of output: [UInt8]) -> String? {
        let lines = output.split { $0 == 0x0A || $0 == 0x0D }
            .filter { line in line.contains { $0 > 0x20 } }
            .suffix(2)
            .map { String(decoding: $0.prefix(lineLimit), as: UTF8.self) }
        return lines.isEmpty ? nil : lines.joined(separator: " / ")
    }

    /// In bytes: enough for a message.
    private static let lineLimit = 240
}
