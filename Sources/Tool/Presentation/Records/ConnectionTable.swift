package import Base
package import Terminal
package import Traffic
internal import Views

/// Connections in a list, and one of them with all that is known.
package enum ConnectionTable {
    package static let columns: [Listing<ConnectionRecord>.Column] = [
        .init("id", isRight: true) { TableWriter.Cell(number: $0.id, .faint) },
        .init("time", title: "time (UTC)", rank: 3) { TableWriter.Cell($0.openedAt.timeOfDay) },
        .init("client", rank: 6) { TableWriter.Cell($0.client) },
        .init("origin", isFlexible: true) { TableWriter.Cell($0.origin.isEmpty ? "-" : $0.origin) },
        .init("tls", rank: 2) {
            TableWriter.Cell($0.clientTLS.map { $0.version ?? "none" } ?? "-")
        },
        .init("protocol", rank: 1) {
            TableWriter.Cell($0.protocolName.isEmpty ? "-" : $0.protocolName)
        },
        .init("exchanges", isRight: true, rank: 7) { TableWriter.Cell(number: $0.exchangeCount) },
        .init("messages", isRight: true, rank: 8) { TableWriter.Cell(number: $0.messageCount) },
        .init("bytes", isRight: true, rank: 5) {
            let bytes = $0.clientBytes.received.addingSaturated($0.clientBytes.sent)
            return TableWriter.Cell(Quantity.text(byteCount: bytes))
        },
        .init("outcome") { TableWriter.Cell($0.outcome.rawValue, outcomeStyle($0.outcome)) },
        .init("alert", rank: 4) { record in
            TableWriter.Cell(record.alert.map { "\($0.name) (\(sender(of: $0)))" } ?? "")
        },
        .init("process", rank: 4) { TableWriter.Cell($0.processName ?? "") },
    ]

    /// All that is known of a connection, a line each.
    package static func write(
        _ record: ConnectionRecord, to console: Console
    ) throws(Failure) {
        var lines = LineWriter(console.output)
        let palette = console.palette
        let outcome = palette.paint(record.outcome.rawValue, outcomeStyle(record.outcome))
        try lines.write(palette.paint("== connection \(record.id): ", .bold) + outcome)
        for (name, value) in ConnectionFacts(record).entries {
            let padding = String(repeating: " ", count: max(1, 12 - name.utf8.count))
            try lines.write(palette.paint(name, .faint) + padding + TerminalText.sanitized(value))
        }
        try lines.flush()
    }
}

/// The peer of the client's leg is the client.
private func sender(of alert: AlertRecord) -> String {
    switch alert.sender {
    case .peer: "client"
    case .tool: "tool"
    }
}

func outcomeStyle(_ outcome: ConnectionRecord.Outcome) -> Palette.Style? {
    switch outcome {
    case .open, .completed: nil
    case .passedThrough, .timedOut, .cut, .lost: .yellow
    case .clientRefused, .clientHandshakeFailed, .originUnreachable, .originUntrusted,
        .originHandshakeFailed, .refused, .broken:
        .red
    }
}
