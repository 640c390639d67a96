/// What the process says when it ends; a contract with scripts.
package enum ExitCode: Int32, Sendable {
    /// Ran and found nothing.
    case clean = 0
    /// Found something, or a verdict failed.
    case findings = 1
    /// The command line makes no sense.
    case usage = 2
    /// What had to be seen was not seen, so that nothing can be said.
    case inconclusive = 3
    case couldNotRun = 4
}
