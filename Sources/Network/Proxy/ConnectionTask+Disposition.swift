internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

extension ConnectionTask {
    /// Who distrusts us, as it is remembered: the program if it is known, else the address.
    private var clientIdentity: String { record.process?.executable ?? peer.host }

    /// What is done with TLS to a host; a client that is let through for its refusals is noted.
    ///
    /// - Parameters:
    ///   - name: what the client calls it in TLS, or the host that it asked for.
    ///   - target: where the connection leads: what is blocked there is blocked by any name.
    func disposition(of name: String, at target: OriginTarget) -> Disposition {
        let rules = policy.value.disposition
        if let reason = rules.blockReason(target.host) { return .block(reason) }
        if worker.wiring.isOwn(target.host) { return .intercept }
        let host = HostPattern.canonical(name.lowercased())
        var distrust = 0
        if let healing = rules.healing {
            distrust = worker.distrust.count(clientIdentity, host, plan: healing, now: loop.now)
        }
        let judged = rules.judge(host, distrust: distrust)
        if case .release(let reason) = judged {
            record.notes.append(ConnectionNote(.clientDistrusts, reason))
        }
        return judged
    }

    /// Remembers whether the client took our certificate.
    func noteTrust() {
        guard policy.value.disposition.healing != nil, let host = interceptedHost else { return }
        if record.outcome == .clientRefused {
            worker.distrust.note(clientIdentity, host, now: loop.now)
        } else if record.exchangeCount > 0 || record.messageCount > 0 {
            worker.distrust.noteTrust(clientIdentity, host)
        }
    }

    /// Remembers that the program takes our certificate for the host.
    func noteTaken() {
        guard !isTakenNoted, let host = interceptedHost, let process = processIdentity else {
            return
        }
        isTakenNoted = true
        worker.distrust.noteTaken(by: process, host)
    }

    /// Tells why the client may have refused the certificate, as far as its alert does not: a
    /// program that takes our certificate for another host trusts the CA. One that goes without a
    /// word can have either reason, also after a handshake that was done: many verify only then.
    func conclude() {
        if let brokenBy { record.closedBy = brokenBy }
        failedOrigin?.restore(in: &record)
        guard record.outcome == .clientRefused else {
            if record.exchangeCount + record.messageCount > 0 { noteTaken() }
            return
        }
        if let host = interceptedHost, let process = processIdentity,
            let other = worker.distrust.hostTaken(by: process, besides: host)
        {
            record.cause +=
                ": it trusts the CA for \(other), so that it probably pins another certificate here"
            return
        }
        let alert = record.clientTLS?.alerts.first { $0.sender == .peer && $0.fatal }
        switch (alert?.name, unnamedHost) {
        case (nil, nil): record.cause += ": it does not trust the CA, or pins another certificate"
        case (nil, let shown?):
            record.cause +=
                ": it does not trust the CA, pins another certificate, or asked for another host:"
                + " it named none, and \(shown)"
        case ("unknown_ca", _), (_, nil): break
        case (_, let shown?): record.cause += ": it named no host, and \(shown)"
        }
    }

    /// Whom the certificate was for that a client was shown who named no host.
    private var unnamedHost: String? {
        guard record.clientTLS?.sni == nil, !shownNames.isEmpty else { return nil }
        return "the certificate shown is for " + shownNames.joined(separator: " and ")
    }

    /// One process, and not each that runs the same program: another may be told to trust another CA.
    private var processIdentity: String? {
        record.process.map { "\($0.id) \($0.executable)" }
    }

    /// Why requests to one of these hosts are not served; `nil` if they are.
    func blocking(_ hosts: String?...) -> ToolResponse? {
        let rules = policy.value.disposition
        guard !rules.blocked.isEmpty else { return nil }
        for case let host? in hosts {
            if let reason = rules.blockReason(host) { return .blocked(host, reason) }
        }
        return nil
    }

    /// The same for a request: neither where it goes nor the host that it names may be blocked.
    func blocking(_ head: RequestHead, to target: OriginTarget) -> ToolResponse? {
        guard !policy.value.disposition.blocked.isEmpty else { return nil }
        return blocking(target.host, head.hostName)
    }

    /// Relays TLS as it is.
    func passThrough(
        _ target: OriginTarget, _ opening: PeekedOpening, _ dialled: DialledOrigin?,
        reason: String
    ) async throws(ConnectionEnd) {
        let reached: DialledOrigin
        if let dialled {
            reached = dialled
        } else {
            reached = try await dial(target.host, target.port)
        }
        adopt(reached, for: target)
        let tunnel = TunnelTask(
            client: client, origin: PlainStream(reached.channel), worker: worker,
            early: opening.takeBytes(), late: nil
        ) { _, _ in }
        let side = await passBytes(through: tunnel)
        origin?.isPersonal = true
        throw ConnectionEnd(.passedThrough, "not decrypted: \(reason)", by: side)
    }

    func block(_ host: String, _ reason: String) async throws(ConnectionEnd) -> Never {
        await sendAlert(49)
        throw ConnectionEnd(.refused, "\(host) is not served: \(reason)", by: .tool)
    }
}
