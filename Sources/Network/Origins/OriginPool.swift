internal import HTTP2
internal import Sockets
internal import Transport

/// Connections to origins that are not in use.
package struct OriginPool {
    private var idle: [OriginTarget: [OriginLeg]] = [:]
    private var count = 0
    private var countLimit: Int
    private let idleLimit: UInt64

    /// - Parameter idleLimit: how long a connection is kept, in milliseconds.
    package init(countLimit: Int, idleLimit: UInt64) {
        self.countLimit = countLimit
        self.idleLimit = idleLimit
    }

    /// Takes the connection that was used last, if there is one that still lives.
    package mutating func take(
        _ target: OriginTarget, serverName: String?, offer: OriginOffer, reach: OriginReach
    ) -> OriginLeg? {
        guard var legs = idle[target] else { return nil }
        defer { idle[target] = legs.isEmpty ? nil : legs }
        while let index = legs.lastIndex(where: {
            $0.serverName == serverName && offer.accepts($0) && reach.includes($0.reach)
        }) {
            let leg = legs.remove(at: index)
            count -= 1
            if leg.isQuiet { return leg }
            leg.close()
        }
        return nil
    }

    /// Keeps a connection for the next client, or closes it.
    package mutating func give(_ leg: OriginLeg, now: UInt64) {
        guard count < countLimit, !leg.isPersonal, !leg.isOwned, leg.isReady,
            leg.http2?.streamCount ?? 0 == 0
        else {
            leg.close()
            return
        }
        leg.idleSince = now
        if leg.http2 == nil { leg.stream.releaseMemory() }
        idle[leg.target, default: []].append(leg)
        count += 1
    }

    /// Closes what was unused for too long, or has been closed by its origin.
    package mutating func sweep(now: UInt64) {
        guard count > 0 else { return }
        for target in Array(idle.keys) {
            guard let legs = idle[target] else { continue }
            let kept = legs.filter { leg in
                if now < leg.idleSince + idleLimit, !leg.stream.channel.peerEnded, leg.isReady {
                    return true
                }
                leg.close()
                return false
            }
            count -= legs.count - kept.count
            idle[target] = kept.isEmpty ? nil : kept
        }
    }

    /// Closes all, and from now on what is given.
    package mutating func retire() {
        countLimit = 0
        closeAll()
    }

    package mutating func closeAll() {
        for leg in idle.values.joined() { leg.close() }
        idle = [:]
        count = 0
    }
}
