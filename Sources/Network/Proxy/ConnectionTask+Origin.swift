internal import Base
internal import Origins
internal import Sockets
internal import Traffic
internal import Transport

/// How a client's connection comes to its origins, and what becomes of them.
///
/// A client that names its origin in each request speaks to a gateway: its origin connections come
/// from a pool and go back to it. One that asked for a tunnel, or was led here, means one connection
/// to one origin: the origin's ends with the client's, because an origin that serves one connection
/// at a time waits for its end, and the end of either is told to the other.
extension ConnectionTask {
    /// Whether the client takes the proxy for its origin and was not asked: what the origin does to
    /// its connection is done to the client's, and no page of ours stands for it.
    var mirrorsOrigin: Bool { ownsOrigins && isLed }

    /// A connection to an origin for this client.
    ///
    /// - Parameter dialled: one that was opened for it already.
    func leg(
        to target: OriginTarget, serverName: String?, offer: OriginOffer,
        dialled: DialledOrigin? = nil
    ) async throws(OriginFailure) -> OriginLeg {
        var dialled = dialled
        if dialled == nil, isInside {
            dialled = try await worker.dialInside(target.host, target.port)
        }
        worker.checkMayDial(target.host)
        return try await policy.origins.leg(
            to: target, serverName: serverName, offer: offer, reach: reach, dialled: dialled,
            isOwned: ownsOrigins)
    }

    /// Leaves a connection to an origin: to others, or to nobody.
    func release(_ leg: OriginLeg) {
        note(endOf: leg)
        policy.origins.give(leg)
    }

    /// Connects to a host without TLS yet, or to who answers in its place.
    func dialOrStage(
        _ host: String, _ port: UInt16
    ) async throws(OriginFailure) -> DialledOrigin {
        if let responder = worker.responders(for: host).first, !worker.isCut {
            return try worker.stage(responder, host, port)
        }
        return try await policy.origins.dial(host, port, reach: reach)
    }
}

extension ProxyWorker {
    func checkMayDial(_ host: String) {
        guard responders(for: host).allSatisfy(\.fallsBack) else {
            preconditionFailure("an origin would be dialled where a responder answers alone")
        }
    }

    /// Connects to a server of the confined command's own. What was inside once is never looked for
    /// outside: the request, with its credentials, would go to another server.
    func dialInside(
        _ host: String, _ port: UInt16
    ) async throws(OriginFailure) -> DialledOrigin {
        guard let address = SocketAddress(literal: host, port: port),
            let dialled = try await dialInside(address)
        else {
            throw OriginFailure(
                failure: Failure(
                    "connect-failed", party: .origin,
                    "nothing listens on \(host) port \(port) inside any more"),
                outcome: .originUnreachable)
        }
        return dialled
    }

    /// The same; `nil` if nothing listens at the address inside.
    func dialInside(_ address: SocketAddress) async throws(OriginFailure) -> DialledOrigin? {
        guard let network = wiring.captured else { return nil }
        do throws(Failure) {
            var address = address
            var socket = try network.insideSocket(address).get()
            // A client whose connection is there cannot go on to the next address of `localhost`.
            if socket == nil, address.isIPv6, address.isLoopback,
                let other = SocketAddress(literal: "127.0.0.1", port: address.port)
            {
                address = other
                socket = try network.insideSocket(other).get()
            }
            guard let descriptor = socket else { return nil }
            do throws(SystemError) {
                let channel = try await Channel.connect(
                    descriptor, to: address, on: loop,
                    deadline: loop.now + limits.connectTimeout)
                return DialledOrigin(channel: channel, address: address, reach: .everywhere)
            } catch {
                throw Failure(
                    "connect-failed", party: .origin,
                    "cannot connect to \(address) inside: \(error)")
            }
        } catch {
            throw OriginFailure(failure: error, outcome: .originUnreachable)
        }
    }
}
