internal import Base
internal import Origins
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// TLS that is looked into.
extension ConnectionTask {
    /// Secures both legs, the origin's first, and serves what is spoken inside.
    func intercept(
        _ target: OriginTarget, _ hello: ClientHello, _ opening: PeekedOpening, serverName: String?,
        dialled: DialledOrigin? = nil, entry: Entry
    ) async throws(ConnectionEnd) {
        note(target)
        note(hello)
        let host = hello.serverName ?? target.host
        switch disposition(of: host, at: target) {
        case .intercept: interceptedHost = HostPattern.canonical(host.lowercased())
        case .pass(let reason), .release(let reason):
            return try await passThrough(target, opening, dialled, reason: reason)
        case .block(let reason):
            dialled?.close()
            try await block(host, reason)
        }
        if let responder = worker.responders(for: target.host).first {
            return try await serve(responder, for: target, hello, opening, dialled, entry)
        }
        var failure: OriginFailure?
        let giveUp = giveUpWithClient(dialled)
        do throws(OriginFailure) {
            let leg = try await openOrigin(
                target, serverName, policy.value.offer(to: target, hello.alpn), dialled)
            channel.onPeerEnd(nil)
            note(leg)
            failure = refusal(of: leg)
            if failure != nil { dropOrigin() }
        } catch {
            channel.onPeerEnd(nil)
            if giveUp.isDone {
                record.originTLS = error.tls
                throw ConnectionEnd(
                    .broken, "client ended the connection while its origin was waited for",
                    by: .client)
            }
            failure = error
        }
        if let failure { note(failure) }
        if let failure, mirrorsOrigin, failure.outcome == .originHandshakeFailed {
            // Without us, its client would have met the same refusal.
            await sendAlert(40)
            throw ConnectionEnd(failure.outcome, failure.failure.detail, by: .origin)
        }
        let stream = try await secure(
            hello.serverName ?? target.host, opening, protocols: protocols(for: hello))
        switch session?.parameters.alpn {
        case "h2":
            try await serveHTTP2(
                stream, through: entry, originFailure: failure, serverName: serverName)
        case "http/1.1":
            try await serveHTTP(
                stream, through: entry, originFailure: failure, serverName: serverName)
        case let other?:
            guard let origin else { throw ConnectionEnd(.broken, other, by: .tool) }
            try await serveSecuredDialogue(stream, origin, nil, early: nil, late: nil)
        case nil:
            try await serveUnnamed(
                stream, through: entry, originFailure: failure, serverName: serverName)
        }
    }

    /// Lets an origin's connection end when its client leaves before the handshakes are done: without
    /// us it would, and an origin that serves one at a time waits for that.
    private func giveUpWithClient(_ dialled: DialledOrigin?) -> GivingUp {
        let giveUp = GivingUp()
        let act = {
            giveUp.isDone = true
            dialled?.channel.interrupt()
        }
        channel.onPeerEnd(act)
        if channel.peerEnded || channel.isBroken { act() }
        return giveUp
    }

    private final class GivingUp {
        var isDone = false
    }

    /// An origin that speaks HTTP/2 alone refuses a client's offer of HTTP/1: it is asked again.
    private func openOrigin(
        _ target: OriginTarget, _ serverName: String?, _ offer: OriginOffer,
        _ dialled: DialledOrigin?
    ) async throws(OriginFailure) -> OriginLeg {
        do throws(OriginFailure) {
            return try await leg(
                to: target, serverName: serverName, offer: offer, dialled: dialled)
        } catch {
            let alerts = error.tls?.alerts ?? []
            guard offer == .http1 || offer == .protocols([]),
                alerts.contains(where: { $0.name == "no_application_protocol" })
            else { throw error }
            return try await leg(
                to: target, serverName: serverName, offer: .protocols(["h2"]))
        }
    }

    /// What the client may choose: what the origin chose, and what we can translate.
    private func protocols(for hello: ClientHello) -> [String] {
        let offered = hello.alpn
        guard let origin else { return ["http/1.1", "h2"] }
        if origin.http2 != nil { return ["h2", "http/1.1"] }
        if let chosen = origin.tls?.alpn, chosen != "http/1.1" { return [chosen] }
        return offered.contains("http/1.1") ? ["http/1.1"] : ["h2"]
    }
}
