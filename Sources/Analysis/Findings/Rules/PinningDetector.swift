internal import Base
internal import Traffic

/// TLS-C-PINNED: hosts at which a client refuses our certificate although it takes those for others.
///
/// Judged at the end: only then is it known that the client trusts the CA, and never took it here.
struct PinningDetector {
    private struct Refusal {
        let client: String
        let sighting: Sighting
    }

    private var refusals: [HostName: Refusal] = [:]
    /// Clients that took a certificate and used the connection.
    private var trusting = Set<String>()
    private var taken = Set<HostName>()

    mutating func examine(_ connection: ConnectionRecord, sighting: () -> Sighting) {
        guard let tls = connection.clientTLS, trusting.count < Self.countLimit,
            taken.count < Self.countLimit
        else { return }
        let host = HostName(tls.sni ?? connection.originHost)
        let client = connection.clientName
        if connection.outcome == .clientRefused {
            // Who just goes may have had another reason.
            guard tls.alerts.contains(where: { $0.sender == .peer && $0.fatal }),
                refusals[host] == nil, refusals.count < Self.countLimit
            else { return }
            refusals[host] = Refusal(client: client, sighting: sighting())
        } else if tls.handshakeCompleted, connection.exchangeCount + connection.messageCount > 0 {
            trusting.insert(client)
            taken.insert(host)
        }
    }

    func finish() -> [LateMatch] {
        // Beyond the bounds it is not known which hosts took a certificate.
        guard trusting.count < Self.countLimit, taken.count < Self.countLimit else { return [] }
        let all = refusals.sorted {
            ($0.value.sighting.connection ?? 0) < ($1.value.sighting.connection ?? 0)
        }
        return all.compactMap { host, refusal in
            guard trusting.contains(refusal.client), !taken.contains(host) else { return nil }
            var match = LateMatch(
                .tlsClientPinned, .info, .firm, at: refusal.sighting.ofService)
            match.notes = [.offer(.refusedWhereOthersWereTaken)]
            return match
        }
    }

    private static let countLimit = 4096
}

extension RuleText {
    static let tlsClientPinned = RuleText(
        title: "Client pins the host's certificate",
        reason: "what it says there cannot be read here, so nothing is known of it",
        advice: "nothing has to be fixed; judge a build without pinning to see what is inside",
        decision:
            "A client refused our certificate for a host with an alert, took those for others, and"
            + " never took one for this host.",
        exceptions:
            "A client that took none at all does not trust the CA, which makes the run inconclusive."
            + " A library of its own in the same program may trust other CAs.",
        worst: .info,
        weaknesses: [])
}
