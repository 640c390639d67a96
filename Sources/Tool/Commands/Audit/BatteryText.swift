internal import Audit
internal import Base
internal import Findings
internal import Launching
internal import Runs

/// `audit --battery`: the run, and its report for people and for machines.
enum BatteryText {
    static func run(
        _ kind: BatteryKind, _ options: AuditOptions, _ environment: Environment
    ) async throws -> ExitCode {
        let configuration = try options.battery(kind)
        try options.files.check(besides: nil)
        let events = RunEvents()
        let progress = RunProgress("trying", environment)
        let report = try await withEvents(of: events) {
            let battery = try BatteryService(
                configuration, variables: environment.variables, events: events)
            try StopSignals().watch(onStop: battery.stop, onInsist: battery.insist, onTick: {})
            return try await battery.run()
        } show: { event in
            if case .progress(let done, let total) = event {
                progress.advance(to: done, of: total)
            }
        }
        try progress.finish()
        try options.files.write(besides: nil, environment) { format in
            switch format {
            case .sarif: report.sarif.line + [0x0A]
            case .junit: Array(report.junit.utf8)
            default: report.json.line + [0x0A]
            }
        }
        if options.isJSON {
            try environment.output.write(report.json.line + [0x0A])
        } else {
            try write(report, environment)
        }
        return report.verdict.exitCode
    }

    private static func write(_ report: BatteryReport, _ environment: Environment) throws(Failure) {
        let palette = environment.palette
        var table = TableWriter(
            [
                TableWriter.Column(title: "case"), TableWriter.Column(title: "outcome"),
                TableWriter.Column(title: "what went wrong", isFlexible: true),
            ], to: environment.output, palette: palette)
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
        try environment.output.write(lines.joined(separator: "\n") + "\n")
        let overdue = report.results.count { $0.runs > 0 && $0.exitStatus == nil }
        if overdue > 0 {
            try environment.hint(
                "\(overdue) ended after --timeout: a client that tries again by itself must be told"
                    + " not to, such as by 'wget -t 1'")
        }
        guard let control = report.results.first, control.outcome != .correct, overdue == 0 else {
            return
        }
        let task = report.kind == .resume ? "download {url} to {out}" : "upload {file} to {url}"
        try environment.hint("the command must \(task), and exit with 0 when that is done")
    }
}

extension AuditOptions {
    fileprivate func battery(_ kind: BatteryKind) throws(UsageFailure) -> BatteryConfiguration {
        var configuration = BatteryConfiguration(kind, command: command)
        if let idle = idleWithBattery {
            throw UsageFailure("\(idle) does nothing with --battery", hint: Self.line(kind))
        }
        guard !command.isEmpty else {
            throw UsageFailure("a battery needs a command behind --", hint: Self.line(kind))
        }
        if let missing = configuration.missing {
            throw UsageFailure(
                "the command of this battery needs \(missing)", hint: Self.line(kind))
        }
        configuration.timeout = audit.timeout
        configuration.clientName = audit.clientName
        configuration.source = audit.sources.first?.place
        configuration.toolVersion = CommandLineTool.version
        return configuration
    }

    /// An option that was given, and that a battery has no use for.
    private var idleWithBattery: String? {
        let plain = AuditConfiguration()
        let given: [(option: String, isGiven: Bool)] = [
            ("--listen", listens), ("--serve", served != nil), ("--list", lists),
            ("--warnings-fail", failsOnWarnings), ("--profile", audit.profile != plain.profile),
            ("--probe", !audit.probes.isEmpty), ("--catalogue", audit.catalogue != nil),
            ("--trust", audit.trust != plain.trust), ("--jobs", audit.jobs != plain.jobs),
            ("--host", audit.host != nil), ("--port", audit.port != nil),
            ("--origin", audit.origin != nil), ("--targets", !audit.targets.isEmpty),
            ("--no-namespaces", audit.isNeverConfined),
            ("--at", audit.proxy.listen != plain.proxy.listen),
            ("--capture", audit.proxy.capture != nil),
            ("--ca-file", audit.proxy.authority != plain.proxy.authority),
        ]
        return given.first(where: \.isGiven)?.option
    }

    private static func line(_ kind: BatteryKind) -> String {
        switch kind {
        case .resume: "sallyport audit --battery resume -- curl -C - -o {out} {url}"
        case .upload: "sallyport audit --battery upload -- curl -f -T {file} {url}"
        }
    }
}
