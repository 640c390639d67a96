package import Base

/// What happens to a device and its apps, as far as a scheduler is told.
package enum DeviceEvent: Sendable, Equatable {
    case opened(String)
    case closed(String)
    /// The user removed the app from the switcher: nothing wakes it before it is opened again.
    case removed(String)
    /// The system ended the app for its memory: it is launched the next time, and not resumed.
    case ended(String)
    /// The user lets the app refresh in the background, or not.
    case allowed(String, Bool)
    case interval(String, RefreshInterval)
    case screen(isOn: Bool)
    /// The level is in percent.
    case power(isCharging: Bool, level: Int)
    case link(DeviceLink)
    case locked
    case unlocked
    case rebooted
    /// Somebody else's traffic keeps the radio up, for so many milliseconds.
    case radio(Int64)
    /// The user's answer to whether an app may use the local network.
    case consent(String, isGranted: Bool)
}

/// The network that a device has.
package enum DeviceLink: String, Sendable, CaseIterable {
    case none
    case cellular
    case wifi
}

/// An app that is refreshed, as its developer describes it.
package struct RefreshApp: Sendable, Equatable {
    package let name: String
    package var interval = RefreshInterval.never
    /// Of its own files.
    package var storage = StorageClass.untilFirstUnlock
    /// Whether a fetch while its files are closed goes to a side buffer of a lower class; else it
    /// waits until they are open.
    package var buffersWhileLocked = false
    package var allowsCellular = true
    /// Whether its server is on the local network, for which the user is asked.
    package var isLocal = false

    package init(_ name: String) {
        self.name = name
    }
}
