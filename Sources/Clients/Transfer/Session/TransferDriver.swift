package import Base

/// Does the tasks of one kind.
package protocol TransferDriver: AnyObject, Sendable {
    /// Makes one attempt at a task, which may take many requests, and as long as it takes.
    func run(_ transfer: RunningTransfer) async -> AttemptOutcome
    /// Takes back at the origin what a task has left there that was cancelled.
    func cleanUp(_ transfer: RunningTransfer) async
}

extension TransferDriver {
    package func cleanUp(_ transfer: RunningTransfer) async {}
}

/// What came of an attempt.
package enum AttemptOutcome: Sendable, Equatable {
    /// The journal says that it is completed.
    case completed
    /// It cannot be done.
    case failed(Failure)
    /// It may go on later; the service decides when, and how often.
    case retry(Failure, RetryAfter? = nil)
    /// What is there is of no use, and is gone: begin anew.
    case again
    /// The disk did not do its part.
    case disk(DiskFailure)
    case authentication(schemes: [String], host: String)
    /// Somebody wanted it to stop.
    case stopped
}
