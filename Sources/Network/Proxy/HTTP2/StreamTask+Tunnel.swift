internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

extension StreamTask {
    /// Answers a CONNECT (RFC 9113 §8.5) and looks into the tunnel.
    func connect(_ host: String, _ port: UInt16) async {
        let target = OriginTarget(isSecure: true, host: host, port: port)
        exchange?.record.authority = target.tunnelAuthority
        task.note(target)
        if let refusal = task.blocking(host) { return answer(refusal) }
        let dialled: DialledOrigin?
        do throws(OriginFailure) {
            dialled = try await task.openTunnel(to: host, port)
        } catch {
            return answer(ToolResponse(error.failure))
        }
        stream.respond(.response(status: 200), endsStream: false)
        recordConnect()
        await task.nest(
            HTTP2TunnelStream(stream), to: host, port, dialled: dialled, readAhead: nil)
    }

    /// The record of the connection inside tells of the tunnel, as for a client of HTTP/1: the request
    /// itself is recorded only if it gave the proxy a password.
    private func recordConnect() {
        guard let exchange else { return }
        // The store has been told of one that lasts, and is to hear of its end.
        guard exchange.isAnnounced || request?.fields.contains(.proxyAuthorization) ?? false else {
            task.forgetExchange(exchange.record.id)
            self.exchange = nil
            return
        }
        exchange.record.noteTunnel([UInt8]("HTTP/2.0 200 \r\n\r\n".utf8))
        exchange.finish()
    }

    /// Asks the origin to speak what the client wants to speak on the stream (RFC 8441), and relays
    /// it if the origin agrees.
    func passUpgrade(
        _ outgoing: OutgoingRequest, _ exchange: any OriginExchange
    ) async throws(RelayFailure) {
        if exchange.refusesUpgrades {
            exchange.finish(isWhole: false)
            return answer(
                ToolResponse(
                    501, "no-extended-connect",
                    "the origin does not take other protocols on streams of HTTP/2"))
        }
        try await exchange.send(outgoing, endsRequest: false)
        var head: ResponseHead
        var interims = InterimAllowance()
        while true {
            head = try await exchange.nextHead(
                method: .get, deadline: worker.loop.now + limits.responseTimeout)
            guard head.isInterim else { break }
            try head.count(in: &interims)
        }
        let agreed = exchange.agreesBySwitching ? head.status == 101 : head.status / 100 == 2
        guard agreed else {
            try begin(head, exchange)
            try await deliverContent(exchange)
            exchange.finish(isWhole: false)
            self.exchange?.finish()
            return
        }
        self.exchange?.note(head)
        hasResponseBegun = true
        stream.respond(
            .response(
                head.status == 101 ? head.withStatus(200) : head, dropping: Self.handshakeFields),
            endsStream: false)
        await tunnel(over: exchange, head)
        exchange.finish(isWhole: false)
        self.exchange?.finish()
    }

    /// What only HTTP/1 needs to agree on a WebSocket (RFC 8441 §5).
    private static let handshakeFields: [StaticString] = ["sec-websocket-accept"]

    private func tunnel(over exchange: any OriginExchange, _ head: ResponseHead) async {
        let (origin, late) = exchange.tunnel()
        let messages = WebSocketRecorder(
            task, exchange: self.exchange?.record.id ?? 0, response: head,
            byteLimit: limits.recordedBody)
        let tunnel = TunnelTask(
            client: HTTP2TunnelStream(stream), origin: origin, worker: worker, early: nil,
            late: late
        ) { [task] direction, bytes in task.observe(direction, bytes, messages) }
        _ = await tunnel.run()
        messages.finish()
    }
}

extension ResponseHead {
    /// The same head with another status, for a version that says it in another way.
    func withStatus(_ status: Int) -> ResponseHead {
        ResponseHead(version: version, status: status, reasonRange: reasonRange, fields: fields)
    }
}

extension StreamUpgrade {
    /// - Returns: `nil` for a protocol that HTTP/1 has no such request for.
    static func webSocket(_ name: [UInt8]) -> StreamUpgrade? {
        guard name.elementsEqual("websocket".utf8) else { return nil }
        let key = Base64.encode(Digests.randomBytes(16))
        let pairs = [
            ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Key", key),
        ]
        return StreamUpgrade(
            protocolName: name,
            fields: pairs.compactMap { AddedField($0.0.utf8, $0.1.utf8) })
    }
}
