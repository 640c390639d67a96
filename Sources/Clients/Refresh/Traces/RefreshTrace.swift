package import Base

/// What happened to a device for some days or weeks: what a scheduler is tried with.
package struct RefreshTrace: Sendable, Equatable {
    package struct App: Sendable, Equatable {
        package var app: RefreshApp
        /// Of its feed's document, in bytes.
        package var documentSize: Int64

        package init(_ app: RefreshApp, documentSize: Int64 = 20_000) {
            self.app = app
            self.documentSize = documentSize
        }
    }

    package struct Event: Sendable, Equatable {
        /// In seconds since the trace's start.
        package let at: Int64
        package let kind: Kind

        package init(at: Int64, _ kind: Kind) {
            self.at = at
            self.kind = kind
        }
    }

    package enum Kind: Sendable, Equatable {
        case device(DeviceEvent)
        /// The app's server has something new: so many bytes of thumbnails, and of whole assets.
        case published(String, thumbnails: Int64, assets: Int64)
        case pushed(String, TracePush)
        /// The app's server fails from now on, or no longer does.
        case outage(String, Bool)
        /// What the app does wrong in its wakes from now on; `nil` for nothing.
        case behaviour(String, AppFault?)
        /// Nothing happens any more, and time has passed until here.
        case end
    }

    package var name: String
    package var start: Timestamp
    /// By how much local time is ahead of UTC, in minutes.
    package var zoneMinutes: Int
    package var apps: [App]
    /// By rising time.
    package var events: [Event]

    package init(
        name: String, start: Timestamp, zoneMinutes: Int, apps: [App], events: [Event]
    ) {
        self.name = name
        self.start = start
        self.zoneMinutes = zoneMinutes
        self.apps = apps
        self.events = events
    }

    package static let schema = "sallyport.refresh-trace/1"
}

/// A push that an app's server sends.
package struct TracePush: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The user sees it; the app is not woken.
        case alert
        /// The app is woken, and the user sees nothing (`content-available` alone).
        case silent
        /// Both: the app is woken before the user sees it.
        case alertWithContent = "alert-with-content"
    }

    package var kind: Kind
    /// For how many milliseconds it may wait; `nil` for any time, 0 for not at all.
    package var lifetime: Int64?

    package init(_ kind: Kind, lifetime: Int64? = nil) {
        self.kind = kind
        self.lifetime = lifetime
    }
}

/// What an app does wrong in its wakes.
package enum AppFault: String, Sendable, CaseIterable {
    /// It never says that it is done.
    case neverCompletes = "never-completes"
    /// It says so twice.
    case completesTwice = "completes-twice"
    /// It says so when its time is over.
    case completesLate = "completes-late"
    /// It takes more processor time than it may.
    case overProcessor = "over-processor"
    /// It fetches more than it may.
    case overBytes = "over-bytes"
}
