internal import Audit
internal import CommandSyntax
internal import Origins
internal import Runs

/// The options of `sallyport audit`.
struct AuditOptions {
    var audit = AuditConfiguration()
    var lists = false
    var listens = false
    var served: PortRange?
    var battery: BatteryKind?
    var isJSON = false
    var files = ReportFiles()
    var failsOnWarnings = false
    var command: [String] = []

    /// The audit that is asked for.
    ///
    /// Errors: not exactly one way.
    var configuration: AuditConfiguration {
        get throws(UsageFailure) {
            var configuration = audit
            configuration.toolVersion = CommandLineTool.version
            switch (listens, served, command.isEmpty) {
            case (true, nil, true): configuration.way = .listen
            case (false, let range?, true): configuration.way = .serve(range)
            case (false, nil, false): configuration.way = .command(command)
            case (true, _, false):
                throw UsageFailure(
                    "--listen waits for clients that come by themselves, and starts no command",
                    hint: "leave --listen out, or the command")
            default:
                throw UsageFailure(
                    "exactly one of a command behind --, --listen, --serve and --list is needed",
                    hint: "sallyport audit -- curl -s {url}")
            }
            return configuration
        }
    }
}
