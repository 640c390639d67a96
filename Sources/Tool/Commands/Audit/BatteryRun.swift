internal import Audit
internal import Base
internal import CommandSyntax
internal import Findings
internal import Launching
internal import Presentation
internal import Runs
internal import Terminal

/// `audit --battery`: the run, and its report for people and for machines.
enum BatteryRun {
    static func run(
        _ kind: BatteryKind, _ options: AuditOptions, _ environment: Environment
    ) async throws -> ExitCode {
        let configuration = try options.battery(kind)
        try options.files.check(besides: nil)
        let events = RunEvents()
        let progress = RunProgress("trying", on: environment.console)
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
            try BatteryText.write(report, to: environment.console)
        }
        return report.verdict.exitCode
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
