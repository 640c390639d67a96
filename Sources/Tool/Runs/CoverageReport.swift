package import Base
package import Confinement
internal import Contents
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
            if captured.contains(record.connection), record.asksForTunnel,
                (200..<300).contains(record.status)
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

    /// A part of a run's report.
    var json: JSONText {
        [
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

extension CoverageReport {
    /// For people.
    package var lines: [String] {
        var lines: [String] = []
        if let confinementFailure {
            lines.append("not leak-proof: \(confinementFailure.detail)")
            if let hint = confinementFailure.hint { lines.append("hint: \(hint)") }
        } else {
            lines.append("leak-proof: the command had no way out but the proxy")
        }
        lines += limits.map(\.text)
        lines += attempts.map { "tried: \($0.text)" }
        if unlisted > 0 { lines.append("tried: \(unlisted) datagrams more, which were refused") }
        if serviceQuestions > 0 {
            lines.append(
                "asked for HTTPS records \(serviceQuestions) times; none was given, so that clients"
                    + " stay off HTTP/3")
        }
        for (item, count) in undecrypted {
            let connections = count == 1 ? "1 connection" : "\(count) connections"
            lines.append("not decrypted: \(item.host), \(connections): \(item.reason)")
        }
        if !leftRunning.isEmpty {
            let programs = leftRunning.joined(separator: ", ")
            lines.append("left running by the command, and cut off from the network: \(programs)")
        }
        return lines
    }
}

extension ConfinedNetwork.Attempt {
    /// Such as `QUIC to example.com:443 (refused, 4 datagrams)`.
    package var text: String {
        let name = hello?.serverName ?? host
        let offer =
            hello.map { $0.alpn.isEmpty ? "" : " for \($0.alpn.joined(separator: ", "))" } ?? ""
        return switch kind {
        case .quic:
            "QUIC to \(name):\(port)\(offer) (refused, \(datagrams)"
                + (cameByTCP ? ")" : "; it did not come by TCP instead)")
        case .udp: "UDP to \(name):\(port) (refused, \(datagrams))"
        case .inside: "UDP to \(name):\(port), its own (let through, and goes nowhere else)"
        case .other: "packets that are neither TCP nor UDP to \(name) (dropped, \(count))"
        }
    }
}
