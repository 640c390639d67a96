internal import Base

/// How long a device waits before it connects again: a random part of a time that doubles with each
/// failure, so that all the devices that a service lost do not come back at once.
package struct ReconnectRule: Sendable, Equatable {
    private let seed: UInt64
    private var drawn: UInt64 = 0
    package private(set) var failures = 0

    /// In milliseconds.
    package static let first: Int64 = 1_000
    package static let limit: Int64 = 300_000

    package init(seed: UInt64) {
        self.seed = seed
    }

    /// The service was reached.
    package mutating func noteSuccess() { failures = 0 }

    /// - Returns: how long to wait, in milliseconds.
    package mutating func noteEnd() -> Int64 {
        drawn += 1
        let most = min(Self.limit, Self.first << Int64(min(failures, 16)))
        failures += 1
        return Int64(SplitMix.word(seed: seed, drawn) % UInt64(most)) + 1
    }
}
