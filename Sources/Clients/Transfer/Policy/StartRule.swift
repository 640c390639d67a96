internal import Base

/// Decides whether a task may go on in an environment.
package enum StartRule {
    /// - Returns: why not; `nil` if it may.
    package static func wait(
        _ options: TransferOptions, in environment: TransferEnvironment
    ) -> TransferWait.Reason? {
        if environment.link == .none { return .network }
        if environment.link == .cellular, !options.allowsCellular { return .cellular }
        if isSealed(options.storage, environment) { return .locked }
        guard options.mayBeDeferred else { return nil }
        let isCheap =
            environment.link != .cellular && !environment.isExpensive && !environment.isLowData
        let hasPower = environment.isCharging || environment.battery > batteryReserve
        return isCheap && hasPower ? nil : .discretionary
    }

    /// Whether files of a class can be neither begun nor opened now.
    static func isSealed(_ storage: StorageClass, _ environment: TransferEnvironment) -> Bool {
        storage != .completeUnlessOpen
            && !storage.isOpen(isLocked: environment.isLocked, wasUnlocked: environment.wasUnlocked)
    }

    /// In hundredths: below, what can wait leaves the rest to whoever holds the device.
    private static let batteryReserve = 50
}
