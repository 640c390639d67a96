internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets
internal import Traffic
internal import Transport

/// The upgrade of a plain connection to HTTP/2 (RFC 7540 §3.2): both legs change over, and the
/// request that asked for it becomes stream 1.
extension HTTPRelay {
    /// Whether a 101 agrees on HTTP/2.
    func isUpgradeToHTTP2(_ head: ResponseHead) -> Bool {
        head.status == 101 && head.fields.contains(.upgrade, token: "h2c") && settings != nil
    }

    /// What the client's HTTP2-Settings hold, decoded.
    private var settings: [UInt8]? {
        guard let value = request?.fields.first(named: "http2-settings") else { return nil }
        return Base64.decode(value)
    }

    /// Passes the 101 on and goes on with streams on both legs.
    func upgradeToHTTP2(
        _ head: ResponseHead, over leg: OriginLeg
    ) async throws(RelayFailure) -> Next {
        guard let settings, let request, let record = exchange.take() else { throw .originEnded }
        try await sendSwitch(head)
        let isHead = request.knownMethod == .head
        let times = HTTP2Times(write: limits.bodyTimeout, idle: limits.idleTimeout)
        let upgraded = OriginLeg(
            target: leg.target, serverName: nil,
            stream: PlainStream(leg.stream.channel, readAhead: leg.unread), offer: .plainHTTP2,
            address: leg.address, tls: nil)
        leg.unread = nil
        let upstream = HTTP2Connection(upgraded.stream, role: .client, times: times)
        let stream = PlainStream(client.channel, readAhead: clientBuffer)
        clientBuffer = nil
        let downstream = HTTP2Connection(stream, role: .server, times: times)
        guard let originStream = upstream.upgrade(settings: settings, isHead: isHead),
            let clientStream = downstream.upgrade(settings: settings, isHead: isHead)
        else { throw .clientViolation(.invalidFieldValue) }
        task.note(endOf: leg)
        task.note(upgraded)
        lane.run(upstream, on: upgraded)
        var begun = record
        begun.interimHeads.append(head.raw)
        begun.stream = clientStream.id
        self.upgraded = UpgradedConnection(
            connection: downstream, stream: stream, first: clientStream, request: request,
            recorder: ExchangeRecorder(begun, of: task),
            exchange: HTTP2OriginExchange(upgraded, upstream, lane: lane, stream: originStream))
        return .close
    }

    private func sendSwitch(_ head: ResponseHead) async throws(RelayFailure) {
        scratch.removeAll(keepingCapacity: true)
        HeadWriter.writeResponse(head, forwarding: Forwarding(keepsUpgrade: true), into: &scratch)
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        try await sendToClient(scratch, behind: out)
        try await sendToClient(out)
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
    let recorder: ExchangeRecorder
    let exchange: HTTP2OriginExchange
}
