import Base
import Testing

@Suite struct StorageClassTests {
    /// Locked behind a start, unlocked, and locked again.
    @Test(arguments: [
        (StorageClass.none, [true, true, true]), (.untilFirstUnlock, [false, true, true]),
        (.complete, [false, true, false]), (.completeUnlessOpen, [false, true, false]),
    ])
    func opens(_ storage: StorageClass, _ expected: [Bool]) {
        let states = [(true, false), (false, true), (true, true)]
        let isOpen = states.map { storage.isOpen(isLocked: $0.0, wasUnlocked: $0.1) }
        #expect(isOpen == expected)
    }
}
