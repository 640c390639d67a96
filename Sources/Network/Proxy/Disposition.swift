internal import Base
package import Origins
internal import Synchronization

/// Which hosts are looked into: decided once the client has named the host, before anything is
/// decrypted.
package struct DispositionRules: Sendable {
    /// Not decrypted, and recorded as passed through.
    package var passed: [HostPattern] = []
    /// The only ones that are decrypted; empty for all.
    package var intercepted: [HostPattern] = []
    /// Not served at all.
    package var blocked: [HostPattern] = []
    /// How clients that distrust us are let through; `nil` if they never are.
    package var healing: HealingPlan?

    package init() {}

    /// A pure function of the host and what is known of the client.
    func judge(_ host: String, distrust: Int) -> Disposition {
        let host = HostPattern.canonical(host.lowercased())
        if let reason = blockReason(host) { return .block(reason) }
        if let pattern = passed.first(where: { $0.matches(canonical: host) }) {
            return .pass("it is passed through by \(pattern.text)")
        }
        if !intercepted.isEmpty, !intercepted.contains(where: { $0.matches(canonical: host) }) {
            return .pass("it is not among the hosts to intercept")
        }
        guard let healing, distrust >= healing.rejections else { return .intercept }
        return .release("this client has rejected our certificate for it \(distrust) times")
    }

    /// Why an address is not connected to, whatever the name that led to it; `nil` if it is.
    func blockReason(address: String) -> String? {
        guard !blocked.isEmpty else { return nil }
        return blocked.first { $0.isAddress && $0.matches(address) }.map {
            "it is blocked by \($0.text)"
        }
    }

    /// Why a host is not served at all; `nil` if it is.
    func blockReason(_ host: String) -> String? {
        guard !blocked.isEmpty else { return nil }
        return blocked.first { $0.matches(host) }.map { "it is blocked by \($0.text)" }
    }
}

enum Disposition: Equatable {
    case intercept
    /// With the reason.
    case pass(String)
    /// Passed as well, for a client that would have refused; with the reason.
    case release(String)
    case block(String)
}

/// When a client that rejects our certificate is let through without being decrypted.
package struct HealingPlan: Sendable {
    /// Rejections of one host's certificate by one client until then.
    package var rejections = 3
    /// How long it is let through, in milliseconds.
    package var duration: UInt64 = 600_000
    /// One connection in so many is intercepted all the same, to see whether it still distrusts us.
    package var retryEvery = 20

    package init() {}
}

/// Which clients have rejected our certificate for which hosts.
package final class DistrustStore: Sendable {
    private let state = Mutex<[Key: Entry]>([:])
    /// A host whose certificate of ours a process took, by the process.
    private let taken = Mutex<[String: Set<String>]>([:])

    private struct Key: Hashable {
        let client: String
        let host: String
    }

    private struct Entry {
        var count = 0
        var since: UInt64
        var passed = 0
    }

    /// Clients and hosts that are remembered; the store starts anew when it is full.
    private static let countLimit = 4096

    package init() {}

    /// - Parameter now: in milliseconds of any clock that rises.
    func note(_ client: String, _ host: String, now: UInt64) {
        state.withLock { entries in
            if entries.count >= Self.countLimit { entries = [:] }
            entries[Key(client: client, host: host), default: Entry(since: now)].count += 1
            entries[Key(client: client, host: host)]?.since = now
        }
    }

    func noteTrust(_ client: String, _ host: String) {
        state.withLock { $0[Key(client: client, host: host)] = nil }
    }

    /// Remembers that a process has sent something to a host that we stood in for.
    func noteTaken(by process: String, _ host: String) {
        taken.withLock { taken in
            if taken.count >= Self.countLimit { taken = [:] }
            guard taken[process]?.count ?? 0 < Self.hostLimit else { return }
            taken[process, default: []].insert(host)
        }
    }

    /// A host for which the process has taken our certificate, besides this one; `nil` if there is
    /// none that is known.
    func hostTaken(by process: String, besides host: String) -> String? {
        taken.withLock { $0[process]?.filter { $0 != host }.min() }
    }

    /// Hosts that are remembered of one process: one is enough to know that it trusts the CA, a
    /// second for when that one is refused later.
    private static let hostLimit = 2

    /// How often the client has rejected the host; 0 when it is time to try again.
    func count(_ client: String, _ host: String, plan: HealingPlan, now: UInt64) -> Int {
        state.withLock { entries in
            let key = Key(client: client, host: host)
            guard var entry = entries[key] else { return 0 }
            guard now < entry.since + plan.duration else {
                entries[key] = nil
                return 0
            }
            guard entry.count >= plan.rejections else { return entry.count }
            entry.passed += 1
            entries[key] = entry
            return entry.passed % plan.retryEvery == 0 ? 0 : entry.count
        }
    }
}
