package import Base

/// What a task's owner is told.
package struct TransferEvent: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// How far it is: told again and again, and not kept.
        case progress
        case completed
        case failed(Failure)
        /// Its origin wants a login: of these schemes, for this host.
        case authentication(schemes: [String], host: String)
    }

    /// Counted within its task, from 1; 0 for progress.
    package let number: Int64
    package let kind: Kind
    /// The task as it stood then.
    package let task: TransferTask

    package init(number: Int64, _ kind: Kind, _ task: TransferTask) {
        self.number = number
        self.kind = kind
        self.task = task
    }

    /// Whether it is told again until it is acknowledged.
    package var isKept: Bool { kind != .progress }
}
