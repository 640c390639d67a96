/// What the machine is like at a moment, as far as transfers are put off for it.
package struct TransferEnvironment: Sendable, Equatable {
    package enum Link: String, Sendable, CaseIterable {
        case none
        case wired
        case wifi
        case cellular
    }

    package var link = Link.wired
    /// Whether what is sent costs money.
    package var isExpensive = false
    /// Whether its owner has asked for few data.
    package var isLowData = false
    package var isCharging = true
    /// In hundredths.
    package var battery = 100
    package var isLocked = false
    /// Whether it was unlocked since it was started.
    package var wasUnlocked = true
    /// Whether the program whose transfers these are is in front of its user.
    package var isForeground = true

    package init(_ change: (inout TransferEnvironment) -> Void = { _ in }) {
        change(&self)
    }
}
