internal import Base
internal import Synchronization

/// The policy that new connections are served by, for all loops: each looks whether it still has the
/// latest when a client comes in.
final class PolicyExchange: Sendable {
    struct Version: Sendable {
        /// 0 for the first, rising by one.
        let number: Int64
        let value: ProxyPolicy
    }

    private let stored: Mutex<Version>
    /// Of the one that is stored, to be asked without waiting.
    private let latest = Atomic<Int64>(0)

    init(_ first: ProxyPolicy) {
        stored = Mutex(Version(number: 0, value: first))
    }

    /// - Returns: the number of the new version.
    func exchange(_ policy: ProxyPolicy) -> Int64 {
        stored.withLock { stored in
            stored = Version(number: stored.number + 1, value: policy)
            latest.store(stored.number, ordering: .releasing)
            return stored.number
        }
    }

    /// The latest version if it is not this one.
    func newer(than number: Int64) -> Version? {
        latest.load(ordering: .acquiring) == number ? nil : current
    }

    var current: Version { stored.withLock { $0 } }
}
