package import Audit
package import Base
package import Terminal

/// The report of `audit --battery` for a person.
package enum BatteryText {
    package static func write(_ report: BatteryReport, to console: Console) throws(Failure) {
        let palette = console.palette
        var table = TableWriter(
            [
                TableWriter.Column(title: "case"), TableWriter.Column(title: "outcome"),
                TableWriter.Column(title: "what went wrong", isFlexible: true),
            ], to: console.output, palette: palette)
        for result in report.results {
            let style: Palette.Style =
                switch result.outcome {
                case .correct: .green
                case .detected: .yellow
                case .silent: .red
                case .inconclusive: .bold
                case .notMet: .faint
                }
            try table.append(
                [
                    TableWriter.Cell(result.tried.id),
                    TableWriter.Cell(result.outcome.rawValue, style),
                    TableWriter.Cell(result.tried.title),
                ],
                note: [.silent, .inconclusive, .notMet].contains(result.outcome)
                    || result.tried.isControl
                        && result.outcome != .correct
                    ? TableWriter.Cell(result.evidence, .faint) : nil)
        }
        try table.finish()
        var lines: [String] = []
        if !report.diagnosis.isEmpty { lines += ["", palette.paint("diagnosis", .bold)] }
        for diagnosis in report.diagnosis {
            let mistake = diagnosis.mistake
            lines += [
                "  \(TerminalText.sanitized(report.client)) \(mistake.title)",
                "    \(mistake.sentence)", "    fix    \(mistake.fix(in: report.kind))",
                "    shown  by \(diagnosis.cases.joined(separator: ", "))",
            ]
        }
        let counts = BatteryOutcome.allCases.map { "\(report.count($0)) \($0.rawValue)" }
        lines += ["", "\(report.verdict.rawValue): \(counts.joined(separator: ", "))"]
        if report.isInterrupted {
            let all = report.kind.cases.count { !$0.isControl }
            let missing = report.untried.count { !$0.isControl }
            lines.append("interrupted: \(missing) of \(all) cases not run")
        }
        try console.output.write(lines.joined(separator: "\n") + "\n")
        let overdue = report.results.count { $0.runs > 0 && $0.exitStatus == nil }
        if overdue > 0 {
            try console.hint(
                "\(overdue) ended after --timeout: a client that tries again by itself must be told"
                    + " not to, such as by 'wget -t 1'")
        }
        guard let control = report.results.first, control.outcome != .correct, overdue == 0 else {
            return
        }
        let task = report.kind == .resume ? "download {url} to {out}" : "upload {file} to {url}"
        try console.hint("the command must \(task), and exit with 0 when that is done")
    }
}
