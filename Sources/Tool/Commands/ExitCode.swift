/// What the process says when it ends; a contract with scripts.
package enum ExitCode: Int32, CaseIterable, Sendable {
    /// Ran and found nothing.
    case clean = 0
    /// Found something, or a verdict failed.
    case findings = 1
    /// The command line makes no sense.
    case usage = 2
    /// What had to be seen was not seen, so that nothing can be said.
    case inconclusive = 3
    case couldNotRun = 4

    /// For the manual.
    var meaning: String {
        switch self {
        case .clean: "It ran and found nothing."
        case .findings: "It found something, or a verdict failed."
        case .usage: "The command line makes no sense."
        case .inconclusive: "What had to be seen was not seen, so that nothing can be said."
        case .couldNotRun: "It could not run, or could not finish."
        }
    }
}
