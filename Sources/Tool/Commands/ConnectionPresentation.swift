internal import Base
internal import Traffic
internal import Views

/// Writes one connection for a person: what is known of it, a line each.
struct ConnectionPresentation {
    private let record: ConnectionRecord
    private let summary: ConnectionSummary
    private let environment: Environment

    init(_ record: ConnectionRecord, _ environment: Environment) {
        self.record = record
        summary = ConnectionSummary(record)
        self.environment = environment
    }

    func write() throws(Failure) {
        var lines = LineWriter(environment.output)
        let palette = environment.palette
        let outcome = palette.paint(record.outcome.rawValue, outcomeStyle(record.outcome))
        try lines.write(palette.paint("== connection \(record.id): ", .bold) + outcome)
        for (name, value) in ends + course + tls + notes where !value.isEmpty {
            let padding = String(repeating: " ", count: max(1, 12 - name.utf8.count))
            try lines.write(palette.paint(name, .faint) + padding + TerminalText.sanitized(value))
        }
        try lines.flush()
    }

    private typealias Entry = (name: String, value: String)

    private var ends: [Entry] {
        let process = record.process.map { "\(summary.processName ?? "") (\($0.id))" }
        let executable = record.process?.executable ?? ""
        let address = record.originAddress.map { ", at \($0)" } ?? ""
        let reused = record.originReused ? ", on a connection that had served before" : ""
        return [
            ("client", record.client),
            (
                "process",
                [process ?? "", executable].filter { !$0.isEmpty }.joined(separator: ", ")
            ),
            ("arguments", summary.processArguments.map(quoted).joined(separator: " ")),
            ("listener", "\(record.listener), \(record.mode.rawValue)"),
            ("origin", summary.origin.isEmpty ? "" : summary.origin + address + reused),
        ]
    }

    private var course: [Entry] {
        let duration = record.closedAt.map { $0.microseconds(since: record.openedAt) }
        let closer = record.closedBy.map { ", closed by the \($0.rawValue)" } ?? ""
        let lasted = duration.map { ", open for \(Quantity.text(microseconds: $0))" } ?? ""
        return [
            ("opened", record.openedAt.rfc3339 + lasted + closer),
            ("cause", record.cause),
            ("protocol", record.protocolName),
            ("upgrade", record.upgrade ?? ""),
            ("exchanges", String(record.exchangeCount)),
            ("messages", String(record.messageCount)),
            ("client leg", bytes(record.clientBytes)),
            ("origin leg", bytes(record.originBytes)),
        ]
    }

    private var tls: [Entry] {
        [("client TLS", text(record.clientTLS)), ("origin TLS", text(record.originTLS))]
    }

    private var notes: [Entry] {
        record.notes.map { note in
            ("note", note.detail.isEmpty ? note.code : "\(note.code): \(note.detail)")
        }
    }

    private func bytes(_ count: ByteCount) -> String {
        "\(count.received) bytes received, \(count.sent) sent"
    }

    private func text(_ tls: TLSRecord?) -> String {
        guard let tls else { return "" }
        let facts: [String?] = [
            tls.version ?? "no version agreed", tls.cipher, tls.sni.map { "sni \($0)" },
            tls.alpn.map { "alpn \($0)" }, tls.ja4.map { "ja4 \($0)" },
            tls.resumed ? "resumed" : nil, tls.verifyError.map { "not verified: \($0)" },
        ]
        let alerts = tls.alerts.map { "\($0.fatal ? "fatal " : "")alert \($0.name)" }
        return (facts.compactMap { $0 } + alerts).joined(separator: ", ")
    }

    /// As a shell would read it.
    private func quoted(_ argument: String) -> String {
        let isPlain = argument.utf8.allSatisfy { byte in
            byte.isASCIILetter || byte.isASCIIDigit || plainSigns.contains(byte)
        }
        if isPlain, !argument.isEmpty { return argument }
        return "'"
            + argument.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }
}

private let plainSigns = Set("-_./:=@%+,*".utf8)
