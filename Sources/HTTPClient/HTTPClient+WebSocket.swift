package import Base
package import HTTPCodecs
internal import HTTPModel
internal import TLS
internal import Traffic
internal import Transport

extension HTTPClient {
    /// Asks for a WebSocket, and speaks on it if the origin agrees; the messages of both sides are
    /// recorded. Another answer than 101 is read as any other.
    ///
    /// Errors: those of `send`; nothing is sent again.
    ///
    /// - Parameters:
    ///   - request: has a `webSocketKey`, and offers no extensions.
    ///   - machine: what is said; it tells afterwards what came of it.
    package func converse(
        _ request: ClientRequest, _ machine: WebSocketClientMachine
    ) async throws(Failure) -> ClientAnswer {
        let started = Timestamp.now()
        let connection = try await connection(for: request, at: started)
        guard case .http1(let leg) = connection else {
            preconditionFailure("a WebSocket was given a connection of HTTP/2")
        }
        leg.isUsed = true
        let exchange = ClientExchange(
            request, on: leg.record.id, at: started, configuration, journal)
        do throws(Failure) {
            let answer = try await converse(exchange, over: leg, machine)
            exchange.end(nil)
            give(leg, isReusable: exchange.keepsAlive)
            return answer
        } catch {
            exchange.end(error)
            finish(leg, .broken)
            throw error
        }
    }

    private func converse(
        _ exchange: ClientExchange, over leg: ClientLeg, _ machine: WebSocketClientMachine
    ) async throws(Failure) -> ClientAnswer {
        let request = exchange.request
        do throws(StreamFailure) {
            try await leg.write(request.head, timeout: configuration.writeTimeout)
        } catch {
            throw leg.failure(of: error)
        }
        let head = try await exchange.finalHead(over: leg)
        guard head.status == 101 else { return try await exchange.content(of: head, over: leg) }
        if let flaw = Self.flaw(in: head.fields, answering: request.webSocketKey ?? "") {
            throw exchange.failure("origin-violation", flaw)
        }
        let task = ClientWebSocketTask(
            machine, over: leg, exchange: exchange.record.id, configuration, journal)
        try await task.run()
        return exchange.answer(head, trailers: .none)
    }

    /// Why a client must not go on with a 101 (RFC 6455 §4.1).
    private static func flaw(in fields: Fields, answering key: String) -> String? {
        let accept = WebSocketHandshake.acceptKey(for: [UInt8](key.utf8)[...]) { bytes in
            Digests.sha1(unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) })
        }
        let told = fields.first(named: "sec-websocket-accept")?.trimmingWhitespace
        guard fields.contains(.upgrade, token: "websocket") else {
            return "a 101 without Upgrade: websocket"
        }
        guard told?.elementsEqual(accept.utf8) ?? false else {
            return "a Sec-WebSocket-Accept that does not answer the key"
        }
        let extensions = fields.first(named: "sec-websocket-extensions")
        return extensions == nil ? nil : "extensions that were not offered"
    }
}
