internal import Base
internal import Contents
package import Terminal
package import Traffic
internal import Views

/// The log of a running proxy: a line an exchange, and one for a connection that came to nothing.
package struct LiveLog: Sendable {
    private let palette: Palette
    /// The terminal's width, `nil` where nothing is cut.
    private let columns: Int?

    /// A log for where `stream` goes; coloured and cut on a terminal only.
    package init(for stream: OutputStream, _ palette: Palette) {
        self.palette = palette
        columns = stream.isTerminal ? stream.columns : nil
    }

    /// The line of an exchange that has ended, without a line end; secrets in the URL are masked.
    package func line(for exchange: ExchangeRecord) -> String {
        let flow = FlowSummary(ExchangeSummary(exchange), client: "", withSecrets: false)
        let duration = flow.durationMicroseconds.map(Quantity.text(microseconds:)) ?? "-"
        var tail = " \(Quantity.text(byteCount: flow.responseBytes)) \(duration)"
        if let error = flow.trouble { tail += " " + TerminalText.sanitized(error) }
        let time = flow.startedAt.timeOfDay
        let status = flow.status.map(String.init) ?? "---"
        let method = TerminalText.sanitized(flow.method.text)
        let head = "\(time) \(status) \(method) "
        let url = fitted(TerminalText.sanitized(flow.url.text), beside: head + tail)
        return palette.paint(time, .faint) + " "
            + palette.paint(status, statusStyle(flow.status)) + " \(method) \(url)"
            + palette.paint(tail, flow.trouble == nil ? .faint : .red)
    }

    /// The line of a connection that did not end in order, `nil` if it did or goes on: its
    /// exchanges have their own.
    package func line(for connection: ConnectionRecord) -> String? {
        switch connection.outcome {
        case .open, .completed: return nil
        default: break
        }
        let time = connection.openedAt.timeOfDay
        let origin = ConnectionSummary(connection).origin
        let place = TerminalText.sanitized(origin.isEmpty ? connection.client : origin)
        let head = "\(time) --- \(connection.outcome.rawValue) \(place) "
        let cause = fitted(TerminalText.sanitized(connection.cause), beside: head)
        let outcome = palette.paint(
            connection.outcome.rawValue, outcomeStyle(connection.outcome))
        let line = "\(palette.paint(time, .faint)) --- \(outcome) \(place)"
        return cause.isEmpty ? line : "\(line) \(cause)"
    }

    private func fitted(_ text: String, beside rest: String) -> String {
        guard let columns else { return text }
        return TerminalText.truncated(
            text, columns: max(Self.leastWidth, columns - TerminalText.width(rest)))
    }

    private static let leastWidth = 20
}
