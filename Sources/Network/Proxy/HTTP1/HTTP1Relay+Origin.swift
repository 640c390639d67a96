internal import HTTPModel
internal import Origins
internal import Transport

/// The origins of one client's connection of HTTP/1, one at a time.
extension HTTP1Relay: OriginSource {
    func hasLostOrigin(of request: OutgoingRequest) -> Bool {
        guard task.mirrorsOrigin, let own = task.origin else { return false }
        return !own.isReady
    }

    func originAtHand(for request: OutgoingRequest) -> (any OriginExchange)? {
        guard let leg = task.origin, leg.target == request.origin, leg.isReady else { return nil }
        return exchange(over: leg, for: request)
    }

    private func exchange(over leg: OriginLeg, for request: OutgoingRequest) -> any OriginExchange {
        guard let http2 = leg.http2 else {
            return HTTP1OriginExchange(leg, worker: worker, owner: self)
        }
        leg.notePersonal(request.head)
        return HTTP2OriginExchange(leg, http2, worker: worker)
    }

    /// Takes another connection than the one that this client has used.
    func origin(for request: OutgoingRequest) async throws(OriginFailure) -> any OriginExchange {
        if let leg = task.origin.take() { task.release(leg) }
        let target = request.origin
        let name = serverName ?? (target.isSecure ? target.serverName : nil)
        let leg = try await task.leg(
            to: target, serverName: name, offer: task.policy.value.offer(to: target, ["http/1.1"]))
        task.note(leg)
        if let failure = task.refusal(of: leg) {
            // Kept, it would serve the next request without being asked for its certificate.
            task.dropOrigin()
            throw failure
        }
        return exchange(over: leg, for: request)
    }

    func giveUp(_ origin: any OriginExchange, after failure: RelayFailure) {
        origin.finish(isWhole: false)
        // A connection that refused one stream may take the next.
        if !failure.isUnprocessed, !(origin is ResponderOriginExchange) { task.dropOrigin() }
    }

    func takeBack(_ leg: OriginLeg, isReusable: Bool) {
        if !isReusable { task.dropOrigin() }
    }
}
