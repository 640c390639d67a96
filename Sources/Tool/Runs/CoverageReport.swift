package import Base
package import Confinement
package import Launching
internal import TLS

/// Whether anything of a command's traffic may have been missed.
package struct CoverageReport {
    package let confinementFailure: Failure?
    package let attempts: [ConfinedNetwork.Attempt]
    package let limits: [ConfinementLimit]
    package let counters: ConfinementCounters?
    package let serviceQuestions: Int

    init(_ outcome: ClientRun.Outcome) {
        confinementFailure = outcome.confinementFailure
        attempts = outcome.network?.attempts ?? []
        limits = outcome.network?.limits ?? []
        counters = outcome.network?.counters
        serviceQuestions = outcome.network?.serviceQuestions ?? 0
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
    ///
    /// - Parameter undecrypted: hosts that were not looked into, with the reasons.
    func json(undecrypted: [String]) -> JSONText {
        [
            "leakProof": .boolean(isLeakProof),
            "failure": .optional(confinementFailure?.code),
            "limits": .array(limits.map { .string($0.code) }),
            "tried": .array(attempts.map { .string($0.text) }),
            "triedUnlisted": .integer(Int64(unlisted)),
            "httpsRecordQuestions": .integer(Int64(serviceQuestions)),
            "notDecrypted": .array(undecrypted.map { .string($0) }),
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
