package import Base
package import Confinement
package import Launching
internal import TLS
package import Traffic

/// Whether anything of a command's traffic may have been missed, and what was not decrypted.
package struct CoverageReport {
    /// Hosts that were reached and not looked into, with the reason.
    package struct Undecrypted: Hashable {
        package let host: String
        package let reason: String
    }

    package let confinementFailure: Failure?
    package let attempts: [ConfinedNetwork.Attempt]
    package let limits: [ConfinementLimit]
    package let counters: ConfinementCounters?
    package let serviceQuestions: Int
    package let leftRunning: [String]
    package private(set) var undecrypted: [(Undecrypted, count: Int)] = []

    package init(_ outcome: ClientRun.Outcome, _ source: any TrafficSource) throws {
        confinementFailure = outcome.confinementFailure
        attempts = outcome.network?.attempts ?? []
        limits = outcome.network?.limits ?? []
        counters = outcome.network?.counters
        serviceQuestions = outcome.network?.serviceQuestions ?? 0
        leftRunning = outcome.network?.leftRunning ?? []
        var counts: [Undecrypted: Int] = [:]
        var captured: Set<Int64> = []
        try source.connections { record in
            if record.mode == .captured { captured.insert(record.id) }
            switch record.outcome {
            case .passedThrough, .clientRefused:
                let host = record.clientTLS?.sni ?? record.originHost
                counts[
                    Undecrypted(host: "\(host):\(record.originPort)", reason: record.cause),
                    default: 0] += 1
            default: break
            }
            return true
        }
        // What goes through a tunnel that the command asked another proxy for is recorded as it is.
        try source.exchanges { record in
            if captured.contains(record.connection), (200..<300).contains(record.status),
                record.requestHead.starts(with: "CONNECT ".utf8)
            {
                let reason = "a tunnel through a proxy that the command brought along"
                counts[Undecrypted(host: record.authority, reason: reason), default: 0] += 1
            }
            return true
        }
        undecrypted = counts.sorted { ($0.key.host, $0.key.reason) < ($1.key.host, $1.key.reason) }
            .map { ($0.key, $0.value) }
    }

    /// How many packets were refused besides those that are listed.
    package var unlisted: Int {
        guard let counters else { return 0 }
        let listed = attempts.filter { $0.kind != .inside }.map(\.count).reduce(0, +)
        let refused = counters.quicDatagrams &+ counters.udpDatagrams &+ counters.otherPackets
        return max(0, Int(clamping: refused) - listed)
    }

    package var isLeakProof: Bool { confinementFailure == nil }

    /// A line in the schema `sallyport.coverage/1`.
    package var json: JSONText {
        [
            "schema": "sallyport.coverage/1",
            "leakProof": .boolean(isLeakProof),
            "failure": .optional(confinementFailure?.code),
            "limits": .array(limits.map { .string($0.code) }),
            "tried": .array(attempts.map { .string($0.text) }),
            "triedUnlisted": .integer(Int64(unlisted)),
            "leftRunning": .array(leftRunning.map { .string($0) }),
            "httpsRecordQuestions": .integer(Int64(serviceQuestions)),
            "notDecrypted": .array(
                undecrypted.map { .string("\($0.0.host): \($0.0.reason)") }),
        ]
    }
}

extension ConfinedNetwork.Attempt {
    /// Such as `QUIC to example.com:443 (refused, 4 datagrams)`.
    package var text: String {
        let name = hello?.serverName ?? host
        let offer =
            hello.map { $0.alpn.isEmpty ? "" : " for \($0.alpn.joined(separator: ", "))" } ?? ""
        return switch kind {
        case .quic: "QUIC to \(name):\(port)\(offer) (refused, \(datagrams))"
        case .udp: "UDP to \(name):\(port) (refused, \(datagrams))"
        case .inside: "UDP to \(name):\(port), its own (let through, and goes nowhere else)"
        case .other: "packets that are neither TCP nor UDP to \(name) (dropped, \(count))"
        }
    }
}
