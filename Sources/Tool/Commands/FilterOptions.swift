internal import Base
internal import CommandSyntax
internal import Filters
internal import Findings
internal import Terminal
internal import Traffic
internal import Views

/// Which records a command is about, for every command that has `--filter`.
struct FilterOptions {
    var filter: Filter?
    /// How findings are looked for, if the filter asks for them.
    var inspection = InspectionOptions()

    /// Errors: `file-unreadable`, `profile-invalid`.
    func open(
        _ source: any TrafficSource, _ environment: Environment,
        checkpoint: @escaping () throws -> Void = {}
    ) throws(Failure) -> CaptureFilter {
        CaptureFilter(
            filter, in: source, configuration: try inspection.configuration(environment),
            checkpoint: checkpoint,
            progress: RunProgress("checking", on: environment.console).advance)
    }
}

/// The options of every command that filters.
func filterParameters(for subject: FilterField.Subject) -> [Parameter<FilterOptions>] {
    let filter = Parameter<FilterOptions>.option(
        "filter", \.filter, .filter(for: subject), "only the \(subject.words) that match")
    guard subject.names.contains(.finding) else { return [filter] }
    return [filter] + inspectionParameters.map { $0.lifted(to: \.inspection) }
}
