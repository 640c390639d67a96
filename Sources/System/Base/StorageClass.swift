/// When a file can be read, after the protection classes of mobile systems; the raw values are a
/// contract.
package enum StorageClass: String, Sendable, CaseIterable {
    /// Always.
    case none
    /// Once the device was unlocked since it was started.
    case untilFirstUnlock = "until-first-unlock"
    /// While the device is not locked.
    case complete
    /// The same, but one that is open is written on, and another one can be begun.
    case completeUnlessOpen = "complete-unless-open"

    /// Whether a file that is there can be opened.
    ///
    /// - Parameter wasUnlocked: since the device was started.
    package func isOpen(isLocked: Bool, wasUnlocked: Bool) -> Bool {
        switch self {
        case .none: true
        case .untilFirstUnlock: wasUnlocked
        case .complete, .completeUnlessOpen: wasUnlocked && !isLocked
        }
    }
}
