internal import Base
internal import Traffic

/// Tells clients that refuse a certificate and then, on their next connection to the same host, take
/// it and send a request: whoever is on the way only has to wait for the second try.
///
/// Connections are shown in the order of their acceptance. Memory is bounded: it starts anew when
/// too many refusals wait for what comes after them.
struct RetryDetector {
    private struct Place: Hashable {
        let client: String
        let host: String
        let port: UInt16
    }

    private struct Refusal {
        let endedAt: Timestamp
        /// Whether the client said so, and did not just go.
        let isSpoken: Bool
    }

    private var refused: [Place: Refusal] = [:]
    private static let countLimit = 4096

    mutating func examine(_ connection: ConnectionRecord) -> [RuleMatch] {
        guard let tls = connection.clientTLS else { return [] }
        let place = Place(
            client: connection.clientName, host: tls.sni ?? connection.originHost,
            port: connection.originPort)
        switch connection.outcome {
        case .clientRefused:
            // Who goes after its handshake may have had another reason.
            guard !tls.handshakeCompleted, let endedAt = connection.closedAt else { return [] }
            if refused.count >= Self.countLimit { refused = [:] }
            refused[place] = Refusal(
                endedAt: endedAt,
                isSpoken: tls.alerts.contains { $0.sender == .peer && $0.fatal })
            return []
        case .passedThrough: return []
        default:
            guard tls.handshakeCompleted, connection.exchangeCount + connection.messageCount > 0,
                let refusal = refused[place], connection.openedAt >= refusal.endedAt
            else { return [] }
            refused[place] = nil
            // Of a machine it is not known whether both were the same program's.
            let isSure = refusal.isSpoken && connection.process != nil
            var result = RuleMatch(
                .tlsClientRetry, .high, isSure ? .firm : .tentative)
            result.place = .service
            result.notes = [.refusedBefore]
            return [result]
        }
    }

}

extension ConnectionRecord {
    /// Who the client is: the process, else the machine with what its TLS looks like.
    var clientName: String {
        if let process { return "\(process.id) \(process.executable)" }
        let address = client.split(separator: ":").dropLast().joined(separator: ":")
        return "\(address) \(clientTLS?.ja4 ?? "")"
    }
}

extension RuleText {
    static let tlsClientRetry = RuleText(
        title: "Client refuses a certificate, then tries again and takes it",
        reason:
            "whoever shows a false certificate twice is believed: the second try does not verify",
        advice:
            "take the retry without verification out: a certificate that was refused stays refused",
        decision:
            "A client refused a certificate in the handshake, and took it on its next connection to"
            + " the same host.",
        exceptions:
            "Where the process is not known or no alert came, it is tentative: two programs of one"
            + " machine can look like one.",
        worst: .high,
        weaknesses: [295, 636])
}
