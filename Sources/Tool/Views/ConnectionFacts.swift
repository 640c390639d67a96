internal import Base
package import Traffic

/// What is known of one connection, for a person: a name and a value each.
package struct ConnectionFacts {
    package typealias Entry = (name: String, value: String)

    private let record: ConnectionRecord
    private let summary: ConnectionSummary

    package init(_ record: ConnectionRecord) {
        self.record = record
        summary = ConnectionSummary(record)
    }

    /// What is not known is left out.
    package var entries: [Entry] {
        (ends + course + tls + notes).filter { !$0.value.isEmpty }
    }

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
            ("arguments", summary.processArguments.map(shellQuoted).joined(separator: " ")),
            ("listener", "\(record.listener), \(record.mode.rawValue)"),
            ("policy", record.policyVersion == 0 ? "" : String(record.policyVersion)),
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
}
