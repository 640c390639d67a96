internal import Base
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

extension ConnectionTask {
    /// Who distrusts us, as it is remembered: the program if it is known, else the address.
    private var clientIdentity: String { record.process?.executable ?? peer.host }

    func disposition(of host: String) -> Disposition {
        let rules = lane.plan.disposition
        var distrust = 0
        if let healing = rules.healing {
            distrust = lane.distrust.count(clientIdentity, host, plan: healing, now: loop.now)
        }
        return rules.judge(host, distrust: distrust)
    }

    /// Remembers whether the client took our certificate.
    func noteTrust() {
        guard lane.plan.disposition.healing != nil, let tls = record.clientTLS else { return }
        let host = tls.sni ?? record.originHost
        if record.outcome == .clientRefused {
            lane.distrust.note(clientIdentity, host, now: loop.now)
        } else if record.exchangeCount > 0 {
            lane.distrust.noteTrust(clientIdentity, host)
        }
    }

    /// Relays TLS as it is.
    func passThrough(
        _ target: OriginTarget, _ opening: PeekedOpening, _ dialled: DialledOrigin?,
        reason: String
    ) async throws(ConnectionEnd) {
        let reached: DialledOrigin
        do throws(OriginFailure) {
            if let dialled {
                reached = dialled
            } else {
                reached = try await lane.dial(target.host, target.port, reach: reach)
            }
        } catch {
            note(error)
            throw ConnectionEnd(error.outcome, error.failure.detail, by: .tool)
        }
        adopt(reached, for: target)
        let tunnel = TunnelTask(
            client: client, origin: PlainStream(reached.channel), lane: lane,
            early: opening.takeBytes(), late: nil
        ) { _, _ in }
        let side = await tunnel.run()
        origin?.isPersonal = true
        throw ConnectionEnd(.passedThrough, "not decrypted: \(reason)", by: side)
    }

    func block(_ host: String, _ reason: String) async throws(ConnectionEnd) -> Never {
        await sendAlert(49)
        throw ConnectionEnd(.refused, "\(host) is not served: \(reason)", by: .tool)
    }
}
