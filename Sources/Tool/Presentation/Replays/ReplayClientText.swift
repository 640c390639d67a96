package import Base
internal import Redaction
internal import Replay
package import Terminal
package import Views

/// The report in words.
package enum ReplayClientText {
    package static func write(
        _ report: ReplayClientReport, to console: Console
    ) throws(Failure) {
        var lines = LineWriter(console.output)
        for difference in report.differences {
            try lines.write(TerminalText.sanitized(difference.line))
        }
        let rest = report.differenceCount - report.differences.count
        if rest > 0 { try lines.write("and \(rest) more") }
        for line in summary(report) { try lines.write(line) }
        try lines.flush()
    }

    private static func summary(_ report: ReplayClientReport) -> [String] {
        var lines = [
            "\(Quantity.text(report.answeredCount + report.failedCount, "request")) sent,"
                + " \(report.answeredCount) answered, \(report.sameCount) as recorded"
        ]
        if report.replacedCount + report.keptCount > 0 {
            let kept = report.keptCount > 0 ? ", \(report.keptCount) kept for want of one" : ""
            lines.append(
                "\(Quantity.text(report.replacedCount, "value")) replaced by live ones" + kept)
        }
        if report.messagesUnsent > 0 {
            lines.append(
                "\(Quantity.text(report.messagesUnsent, "message")) not sent: what they were to come behind"
                    + " did not come, or the connection broke off")
        }
        if report.withheldCount > 0 {
            lines.append(
                "\(Quantity.text(report.withheldCount, "request")) withheld: name the host with --to or"
                    + " --allow to send what may change something")
        }
        for why in ReplayPlan.Obstacle.allCases {
            guard let count = report.leftOut[why] else { continue }
            lines.append("\(Quantity.text(count, "exchange")) left out: \(words(why))")
        }
        if report.unsentCount > 0 {
            let reason =
                switch report.stopReason {
                case .failures: "after too many failures in a row"
                case .capture: "because the capture could not be written"
                case .signal, nil: "by a signal"
                }
            lines.append(
                "\(Quantity.text(report.unsentCount, "request")) not sent: stopped \(reason)")
        }
        return lines
    }

    private static func words(_ obstacle: ReplayPlan.Obstacle) -> String {
        switch obstacle {
        case .tunnel: "they opened tunnels"
        case .malformed: "their requests are malformed"
        case .content: "their contents were not recorded whole"
        }
    }
}

extension ReplayClientReport.Difference {
    /// `exchange 3: GET http://example.com/ was 200 and is 403`.
    package var line: String {
        let start = "exchange \(exchange): \(method) \(URLRedaction.redact(url))"
        let was = recordedStatus > 0 ? "was \(Self.words(recordedStatus, recordedCall)) and " : ""
        let words = outcomeWords(start, was)
        guard let messages else { return words }
        var remarks = [words]
        if case .answered = outcome, messages.heard < messages.recorded {
            remarks.append("\(messages.heard) of \(messages.recorded) messages came")
        }
        if messages.sent < messages.total {
            remarks.append("\(messages.sent) of \(messages.total) messages were sent")
        }
        return remarks.joined(separator: "; ")
    }

    private func outcomeWords(_ start: String, _ was: String) -> String {
        switch outcome {
        case .answered(let status, let call): "\(start) \(was)is \(Self.words(status, call))"
        case .conversed where recordedStatus > 0 && recordedStatus != 101: "\(start) \(was)is 101"
        case .conversed:
            "\(start) was answered with \(messages?.recorded ?? 0) messages and is with"
                + " \(messages?.heard ?? 0)"
        case .failed(_, let detail): "\(start) \(was)has no answer: \(detail)"
        case .withheld, .unsent: start
        }
    }

    private static func words(_ status: Int, _ call: Int?) -> String {
        call.map { "\(status) with gRPC status \($0)" } ?? "\(status)"
    }
}

extension SubstitutionPlan {
    /// The same in lines; the values themselves, which are secrets, are not shown.
    package var lines: [String] {
        values.flatMap { value -> [String] in
            guard let source = value.sources.first else { return [] }
            let title =
                "exchange \(source.exchange) \(source.place) (\(value.length) bytes)"
            return [title] + value.uses.map { "    -> exchange \($0.exchange) \($0.name)" }
        }
    }
}
