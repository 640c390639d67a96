/// What a scheduler wants done, and what it found; in the order in which it is to happen.
package enum RefreshDecision: Sendable, Equatable {
    /// Apps are woken together from now until then, in milliseconds since 1970.
    case window(WakeCause, until: Int64)
    case wake(Wake)
    /// A wake is over, by its completion or without one. There is exactly one for each wake.
    case finished(WakeToken, String, RefreshResult, nextAfter: Int64)
    /// Taken behind the completion, of what may then be seen in the switcher.
    case snapshot(String)
    /// The app did what it must not; the token is that of its wake.
    case violation(WakeViolation, WakeToken, String)
    /// The app was stopped, as its time was over or it took too much.
    case terminated(String)
    /// An opportunity passes.
    case held(String, HoldReason)
    /// A push that would wake the app waits until it may.
    case deferred(String, HoldReason)
    /// The app is not woken for a push, nor later.
    case dropped(String, HoldReason)
    /// The user sees a push. It comes behind the wake for it.
    case banner(String)
    /// A push for an app that is in use.
    case delivered(String)
    /// An app that is in use hears of transfers that have ended.
    case transfersEnded(String)
    /// What so many wakes put into the side buffer goes to where it belongs.
    case merge(String, count: Int)
    /// The user is in front of the app: it is to be brought up to date with them waiting.
    case foreground(String)
    /// The user is asked whether the app may use the local network.
    case ask(String)
}

/// Names one wake; an app gives it back when it is done.
package struct WakeToken: Sendable, Hashable {
    /// Counted from 1.
    package let number: UInt64
}

/// One wake of one app.
package struct Wake: Sendable, Equatable {
    package enum Mode: String, Sendable {
        /// It was not running.
        case launched
        case resumed
    }

    package let token: WakeToken
    package let app: String
    package let mode: Mode
    package let cause: WakeCause
    /// Whether it joined others.
    package let isCoalesced: Bool
    /// Whether its own files are closed, so that what it fetches goes to the side buffer.
    package let usesSideBuffer: Bool
    /// When its time is over, in milliseconds since 1970.
    package let deadline: Int64
}

/// Why an app is woken.
package enum WakeCause: String, Sendable, CaseIterable {
    /// It is likely used soon: a guess, where the others happen anyway.
    case predicted
    case screen
    case radio
    case charging
    case push
    /// Transfers that it left to a daemon have ended.
    case transfer
}

/// What came of a fetch.
package enum RefreshResult: String, Sendable, CaseIterable {
    case newData = "new-data"
    case noData = "no-data"
    case failed
}

/// What an app tells with its completion.
package struct WakeReport: Sendable, Equatable {
    package var result: RefreshResult
    /// Sent and received.
    package var bytes: Int64
    /// How long the radio was up for it, in milliseconds.
    package var radio: Int64
    /// Processor time, in milliseconds.
    package var processor: Int64
    /// How long its server wants to be left alone, in milliseconds; `nil` if it said nothing.
    package var retryAfter: Int64?

    package init(
        _ result: RefreshResult, bytes: Int64 = 0, radio: Int64 = 0, processor: Int64 = 0,
        retryAfter: Int64? = nil
    ) {
        self.result = result
        self.bytes = bytes
        self.radio = radio
        self.processor = processor
        self.retryAfter = retryAfter
    }
}

/// What an app did against the terms of a wake.
package enum WakeViolation: String, Sendable, CaseIterable {
    /// It has not completed within its time.
    case noCompletion = "no-completion"
    case secondCompletion = "second-completion"
    /// It completed when its time was over.
    case lateCompletion = "late-completion"
    case overProcessor = "over-processor"
    case overBytes = "over-bytes"
}

/// Why an app is not woken now.
package enum HoldReason: String, Sendable, CaseIterable {
    /// Its bytes or its radio time of the day are used up.
    case budget
    case battery
    /// There is no network that it may use.
    case link
    /// Its files cannot be written while the device is locked.
    case locked
    /// The user has not let it use the local network.
    case consent
    /// The user does not want it refreshed in the background.
    case refused
    /// The user has removed it from the switcher.
    case removed
    /// So many of its wakes are under way.
    case busy
    case unknownApp = "unknown-app"
}
