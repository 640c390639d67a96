internal import HTTPModel
internal import Origins
internal import Transport

/// The origins of one client's connection of HTTP/1, one at a time.
extension HTTP1Relay: OriginSource {
    func hasLostOrigin(of request: OutgoingRequest) -> Bool {
        guard task.mirrorsOrigin, let own = task.origin else { return false }
        return !own.isReady
    }

    func origin(for request: OutgoingRequest) async throws(OriginFailure) -> any OriginExchange {
        let leg = try await acquire(request.origin)
        guard let http2 = leg.http2 else {
            return HTTP1OriginExchange(leg, worker: worker, owner: self)
        }
        leg.notePersonal(request.head.fields)
        return HTTP2OriginExchange(leg, http2, worker: worker)
    }

    /// The connection that this client uses for an origin, or another one.
    private func acquire(_ target: OriginTarget) async throws(OriginFailure) -> OriginLeg {
        if let leg = task.origin {
            if leg.target == target, leg.isReady { return leg }
            task.origin = nil
            task.release(leg)
        }
        let name = serverName ?? (target.isSecure ? target.serverName : nil)
        let leg = try await task.leg(
            to: target, serverName: name, offer: worker.plan.offer(to: target, ["http/1.1"]))
        task.note(leg)
        if let failure = task.refusal(of: leg) {
            // Kept, it would serve the next request without being asked for its certificate.
            task.dropOrigin()
            throw failure
        }
        return leg
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
