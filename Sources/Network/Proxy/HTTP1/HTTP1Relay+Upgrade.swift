internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

/// The upgrade of a plain connection to HTTP/2 (RFC 7540 §3.2): both legs change over, and the
/// request that asked for it becomes stream 1.
extension OutgoingRequest {
    /// What it may ask its origin to change over to.
    ///
    /// An offer of HTTP/2 is dropped where it cannot be kept: inside of TLS, because ALPN alone
    /// begins it there and both legs would go on without TLS (RFC 9113 §3.1), and with settings that
    /// are broken, because the 101 could not be taken back.
    func offer(isOriginClear: Bool) -> UpgradeOffer {
        if let upgrade { return UpgradeOffer(upgrade.protocolName) }
        let offer = UpgradeOffer(of: head.fields)
        guard offer.contains("h2c") else { return offer }
        guard isClear, isOriginClear, let settings = head.fields.http2Settings,
            HTTP2Session.accepts(settings: settings)
        else { return .none }
        return offer
    }
}

extension Fields {
    /// What the client's HTTP2-Settings hold, decoded; `nil` unless there is exactly one.
    fileprivate var http2Settings: [UInt8]? {
        let values = all(named: "http2-settings")
        return values.count == 1 ? Base64.decode(values[0]) : nil
    }
}

/// The upgrade of a plain connection to HTTP/2 (RFC 7540 §3.2): both legs change over, and the
/// request that asked for it becomes stream 1.
extension HTTP1Relay {
    /// Passes the 101 on and goes on with streams on both legs, if it agrees on HTTP/2.
    func changeOver(
        _ head: ResponseHead, with origin: any OriginExchange, of exchange: ExchangeTask
    ) async throws(RelayFailure) -> Bool {
        guard head.status == 101, head.fields.contains(.upgrade, token: "h2c"),
            let leg = origin.http1?.leg
        else { return false }
        guard let request = exchange.request, let settings = request.fields.http2Settings else {
            throw .originViolation(.unaskedSwitch)
        }
        let isHead = request.knownMethod == .head
        let times = HTTP2Times(write: limits.bodyTimeout, idle: limits.idleTimeout)
        let upgraded = OriginLeg(
            target: leg.target, serverName: nil,
            stream: PlainStream(leg.stream.channel, readAhead: leg.unread), offer: .plainHTTP2,
            address: leg.address, tls: nil)
        upgraded.reach = leg.reach
        upgraded.isOwned = leg.isOwned
        upgraded.isPersonal = leg.isPersonal
        leg.unread = nil
        let upstream = HTTP2Connection(upgraded.stream, role: .client, times: times)
        let stream = PlainStream(client.channel, readAhead: clientBuffer)
        clientBuffer = nil
        let downstream = HTTP2Connection(stream, role: .server, times: times)
        guard let originStream = upstream.upgrade(settings: settings, isHead: isHead),
            let clientStream = downstream.upgrade(settings: settings, isHead: isHead)
        else { throw .originViolation(.unaskedSwitch) }
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        try await send(
            task.withoutHTTP3(head) ?? head, Forwarding(keepsUpgrade: true), behind: out)
        try await sendToClient(out)
        guard let record = exchange.takeRecord() else { throw .originEnded }
        task.note(endOf: leg)
        task.note(upgraded)
        task.policy.origins.run(upstream, on: upgraded)
        record.record.interimHeads.append(head.raw)
        record.record.stream = clientStream.id
        self.upgraded = UpgradedConnection(
            connection: downstream, stream: stream, first: clientStream, request: request,
            outgoing: exchange.outgoing,
            recorder: record,
            origin: HTTP2OriginExchange(upgraded, upstream, worker: worker, stream: originStream))
        return true
    }
}

/// A client's connection that has changed over to HTTP/2, with the request that it began with.
///
/// `@unchecked Sendable`: handed from a task to its child on one loop's executor.
struct UpgradedConnection: @unchecked Sendable {
    let connection: HTTP2Connection
    let stream: PlainStream
    let first: HTTP2Stream
    let request: RequestHead
    let outgoing: OutgoingRequest?
    let recorder: ExchangeRecorder
    let origin: HTTP2OriginExchange
}
