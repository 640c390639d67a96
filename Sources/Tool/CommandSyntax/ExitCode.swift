/// What the process says when it ends; a contract with scripts.
package enum ExitCode: Equatable, CaseIterable, Sendable {
    /// Ran and found nothing.
    case clean
    /// Found something, or a verdict failed.
    case findings
    /// The command line makes no sense.
    case usage
    /// What had to be seen was not seen, so that nothing can be said.
    case inconclusive
    case couldNotRun
    /// The command's that was run, where that is asked for.
    case ofCommand(Int32)

    /// Those that mean something by themselves.
    package static let allCases = [clean, findings, usage, inconclusive, couldNotRun]

    package var rawValue: Int32 {
        switch self {
        case .clean: 0
        case .findings: 1
        case .usage: 2
        case .inconclusive: 3
        case .couldNotRun: 4
        case .ofCommand(let status): status
        }
    }

    /// For the manual.
    var meaning: String {
        switch self {
        case .clean: "It ran and found nothing."
        case .findings: "It found something, or a verdict failed."
        case .usage: "The command line makes no sense."
        case .inconclusive: "What had to be seen was not seen, so that nothing can be said."
        case .couldNotRun: "It could not run, or could not finish."
        case .ofCommand: "What the command that was run ended with."
        }
    }
}
