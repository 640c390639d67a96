package import Base

/// What a task does.
package enum TransferState: Sendable, Equatable {
    /// Nothing, until it is resumed.
    case suspended
    case waiting(TransferWait)
    case running
    /// All has come; what is on the disk is read and compared.
    case verifying
    case completed
    case failed(Failure)
    case cancelled

    /// Whether nothing more happens but the acknowledgement.
    package var isFinal: Bool {
        switch self {
        case .completed, .failed, .cancelled: true
        case .suspended, .waiting, .running, .verifying: false
        }
    }

    /// A stable word.
    package var name: String {
        switch self {
        case .suspended: "suspended"
        case .waiting: "waiting"
        case .running: "running"
        case .verifying: "verifying"
        case .completed: "completed"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}

/// Why a task that was resumed does not run.
package struct TransferWait: Sendable, Equatable {
    /// The raw values are a contract.
    package enum Reason: String, Sendable {
        /// Others are first.
        case queue
        /// Something failed that may not fail again.
        case retry
        /// There is no network.
        case network
        /// The network is one that the task must not use.
        case cellular
        /// It is discretionary, and this is no good time.
        case discretionary
        /// It was enqueued by a program that was launched for its transfers too often.
        case launchDelay = "launch-delay"
        /// The disk is full, or fails.
        case storage
        /// Its file cannot be written while the device is locked.
        case locked
        /// Its origin wants a login.
        case authentication
        /// All has come, and a file is in its way.
        case fileExists = "file-exists"
        /// It was let go on in another network.
        case otherNetwork = "other-network"

        /// Whether it goes on only when its owner does something.
        package var needsOwner: Bool {
            self == .authentication || self == .fileExists || self == .otherNetwork
        }
    }

    package let reason: Reason
    /// When it is tried again; `nil` if that takes an event.
    package let until: Timestamp?
    /// What failed.
    package let failure: Failure?

    package init(_ reason: Reason, until: Timestamp? = nil, _ failure: Failure? = nil) {
        self.reason = reason
        self.until = until
        self.failure = failure
    }

    /// `former` where they differ by no more than two readings of a clock do, so that one wait is
    /// told once.
    func steadied(by former: TransferWait?) -> TransferWait {
        guard let former, let until, let before = former.until, former.reason == reason,
            former.failure == failure,
            abs(until.microseconds - before.microseconds) <= Self.clockTolerance
        else { return self }
        return former
    }

    /// In microseconds.
    private static let clockTolerance: Int64 = 5000
}
