package import Base
internal import Redaction
internal import Runs
package import Terminal
package import Transfer

extension TransferTask {
    /// Whether it goes on only when its owner does something.
    package var needsOwner: Bool { state == .suspended || wait?.reason.needsOwner ?? false }

    /// Where a completed transfer is, or the file that it is of.
    package var place: String? {
        kind == .upload ? path.map(URLRedaction.redact) ?? file : path ?? file
    }

    /// How far it is: `12m of 80m`.
    var progressText: String {
        let count = Quantity.text(byteCount: committed)
        guard let total, total != committed else { return count }
        return "\(count) of \(Quantity.text(byteCount: total))"
    }

    /// The state, with why it waits.
    package var stateText: String { wait.map { "waiting: \($0.reason.rawValue)" } ?? state.name }

    /// Why it waits for something that has failed; `nil` for all else.
    package var waitingText: String? {
        guard let wait, let failure = shownFailure else { return nil }
        return TerminalText.sanitized("it waits (\(wait.reason.rawValue)): \(failure.detail)")
    }

    /// When it is tried again: `10:21:03 UTC`.
    package var retryText: String? {
        wait?.until.map { "\($0.rfc3339.dropFirst(11).prefix(8)) UTC" }
    }

    /// How fast it is, and what is left: `3.2m/s 12s left`.
    package var paceText: String? {
        guard state == .running, let rate else { return nil }
        let left = secondsLeft.map { " \(leftText($0)) left" } ?? ""
        return "\(Quantity.text(byteCount: rate))/s\(left)"
    }

    /// How it stands, in a line for a person.
    package var endingText: String {
        let failure =
            shownFailure.map { failure in
                ": \(failure.detail)" + (failure.hint.map { " (\($0))" } ?? "")
            } ?? ""
        let text =
            switch state {
            case .completed: "\(place ?? identifier): \(Quantity.text(byteCount: committed))"
            case .suspended, .waiting, .running, .verifying, .failed, .cancelled:
                "\(identifier) \(stateText)\(failure)"
            }
        return TerminalText.sanitized(text)
    }
}

/// Tasks of transfers for people, and for programs.
package enum TransferTaskText {
    /// Writes a list of transfers.
    package static func write(
        _ tasks: [TransferTask], isJSON: Bool, to console: Console
    ) throws(Failure) {
        var lines = LineWriter(console.output)
        var table = Listing(columns, names: nil, to: console)
        for task in tasks {
            if isJSON {
                try lines.write(task.shownRow)
            } else {
                try table.append(
                    task, note: task.shownFailure.map { TableWriter.Cell($0.detail, .yellow) })
            }
        }
        try lines.flush()
        try table.finish()
    }

    /// Writes all that is known of a transfer, a line each.
    package static func write(_ task: TransferTask, to console: Console) throws(Failure) {
        var lines = LineWriter(console.output)
        let palette = console.palette
        let state = palette.paint(task.stateText, style(of: task.state))
        try lines.write(palette.paint("== transfer \(task.identifier): ", .bold) + state)
        let left = task.secondsLeft.map { leftText($0) }
        let entries: [(String, String?)] = [
            ("url", task.shownURL), ("file", task.kind == .upload ? task.file : task.place),
            ("became", task.kind == .upload ? task.path.map(URLRedaction.redact) : nil),
            ("session", task.session),
            ("created", task.createdAt.rfc3339), ("bytes", task.progressText),
            ("sent", task.state.isFinal ? nil : task.sent.map { Quantity.text(byteCount: $0) }),
            ("rate", task.rate.map { Quantity.text(byteCount: $0) + "/s" }), ("left", left),
            ("retry", task.wait?.until.map(\.rfc3339)),
            (
                "by way of",
                task.hops.isEmpty ? nil : task.hops.map(URLRedaction.redact).joined(separator: " ")
            ),
            ("began anew", task.restarts.isEmpty ? nil : task.restarts.joined(separator: ", ")),
            ("requests", String(task.requestCount)), ("sha256", task.digest?.hex),
            ("error", task.shownFailure?.detail), ("hint", task.shownFailure?.hint),
        ]
        for case (let name, let value?) in entries {
            let padding = String(repeating: " ", count: max(1, 12 - name.utf8.count))
            try lines.write(palette.paint(name, .faint) + padding + TerminalText.sanitized(value))
        }
        try lines.flush()
    }

    private static let columns: [Listing<TransferTask>.Column] = [
        .init("id") { TableWriter.Cell(String($0.identifier.prefix(8)), .faint) },
        .init("state") { TableWriter.Cell($0.stateText, style(of: $0.state)) },
        .init("bytes", isRight: true) { TableWriter.Cell($0.progressText) },
        .init("rate", isRight: true, rank: 2) { task in
            TableWriter.Cell(task.rate.map { Quantity.text(byteCount: $0) + "/s" } ?? "")
        },
        .init("left", isRight: true, rank: 1) { task in
            TableWriter.Cell(task.secondsLeft.map { leftText($0) } ?? "")
        },
        .init("file", rank: 3) { TableWriter.Cell($0.file.map { Files.name(of: $0) } ?? "") },
        .init("url", isFlexible: true) { TableWriter.Cell($0.shownURL) },
    ]
}

private func leftText(_ seconds: Int64) -> String {
    Quantity.text(microseconds: min(seconds, 360_000) * 1_000_000)
}

private func style(of state: TransferState) -> Palette.Style? {
    switch state {
    case .completed: .green
    case .failed: .red
    case .cancelled, .suspended: .faint
    case .waiting, .running, .verifying: nil
    }
}
