internal import HTTP2
internal import Origins
internal import Sockets
internal import Transport

/// One version of the policy on one event loop, with the way to origins that follows it: connections
/// to origins that were opened under one are not lent under another.
///
/// `@unchecked Sendable`: used on its loop's thread only.
final class PolicyInForce: @unchecked Sendable {
    /// 0 for the one that the proxy began with.
    let version: Int64
    let value: ProxyPolicy
    let origins: OriginConnector
    /// Held here: a connector does not keep whom it asks.
    private let rule: ProxyAddressRule
    /// The clients' connections that are served by it.
    var connectionCount = 0

    init(_ latest: PolicyExchange.Version, of worker: ProxyWorker) {
        version = latest.number
        value = latest.value
        rule = ProxyAddressRule(
            disposition: latest.value.disposition, listening: worker.listening)
        origins = OriginConnector(
            worker.wiring.origins(latest.value), on: worker.loop, resolver: worker.resolver,
            rule: rule, background: worker.background, longHeads: worker.longHeads)
    }

    /// Whether something goes on under it still.
    var isInUse: Bool { connectionCount > 0 || origins.isRunning }
}

extension ProxyWiring {
    /// How origins are reached that a policy's connections ask for.
    func origins(_ policy: ProxyPolicy) -> OriginConfiguration {
        var origins = OriginConfiguration()
        origins.upstreams = policy.upstreams
        origins.hosted = hosted
        origins.bridgesLoopback = captured != nil
        origins.versions = versions
        origins.extraAuthorities = policy.originTrust.extraAuthorities
        origins.identities = policy.originTrust.identities
        origins.trustsAnybody = policy.originTrust.servesUnverified
        origins.connectTimeout = limits.connectTimeout
        origins.handshakeTimeout = limits.handshakeTimeout
        origins.writeTimeout = limits.bodyTimeout
        origins.streamIdleTimeout = limits.idleTimeout
        origins.idleTimeout = limits.originIdle
        origins.idleCount = limits.originIdleCount
        origins.certificateHint =
            "show it one with --client-cert HOST=FILE; with --pass-through HOST the client shows its"
            + " own, and nothing is decrypted"
        origins.trustHint =
            "trust its CA with --origin-ca FILE, or go on and record it with --insecure-origin"
        origins.upstreamHint = "give the login with --upstream-auth FILE"
        origins.flawHint = "go on and record it with --insecure-origin"
        return origins
    }
}
