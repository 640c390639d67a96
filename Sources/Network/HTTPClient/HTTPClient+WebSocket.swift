package import Base
package import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import TLS
internal import Traffic
internal import Transport

extension HTTPClient {
    /// Asks for a WebSocket, and speaks on it if the origin agrees; the messages of both sides are
    /// recorded. Another answer than 101, or 2xx over HTTP/2, is read as any other.
    ///
    /// Errors: those of `send`, and `origin-protocol` if it must be HTTP/2 and the origin takes no
    /// WebSockets over that; nothing is sent again.
    ///
    /// - Parameters:
    ///   - request: one that `opensWebSocket`; it offers no extension but permessage-deflate.
    ///   - machine: what is said; it tells afterwards what came of it.
    /// - Returns: the answer, and whether it opened a WebSocket.
    package func converse(
        _ request: ClientRequest, _ machine: WebSocketClientMachine
    ) async throws(Failure) -> (answer: ClientResponse, isOpened: Bool) {
        let started = Timestamp.now()
        let connection = try await connection(for: request, at: started)
        let exchange = ClientExchange(request, on: connection, at: started, for: self)
        do throws(Failure) {
            let result = try await converse(exchange, over: connection, machine)
            exchange.end(nil)
            if case .http1(let leg) = connection { give(leg, isReusable: exchange.keepsAlive) }
            return result
        } catch {
            exchange.end(error)
            if case .http1(let leg) = connection { finish(leg, .broken) }
            throw error
        }
    }

    private func converse(
        _ exchange: ClientExchange, over connection: ClientConnection,
        _ machine: WebSocketClientMachine
    ) async throws(Failure) -> (answer: ClientResponse, isOpened: Bool) {
        switch connection {
        case .http1(let leg):
            leg.noteExchange()
            return try await exchange.converse(over: leg, machine)
        case .http2(let leg):
            defer { leg.release(isRefused: exchange.isUnprocessed) }
            return try await exchange.converse(over: leg, machine)
        }
    }
}

extension ClientExchange {
    fileprivate func converse(
        over leg: ClientLeg, _ machine: WebSocketClientMachine
    ) async throws(Failure) -> (answer: ClientResponse, isOpened: Bool) {
        do throws(StreamFailure) {
            try await leg.write(request.head, timeout: configuration.writeTimeout)
        } catch {
            throw leg.failure(of: error)
        }
        let head = try await finalHead(over: leg)
        guard head.status == 101 else { return (try await content(of: head, over: leg), false) }
        let asked = try asked()
        if let flaw = Self.flaw(in: head.fields, answering: asked) {
            throw failure("origin-violation", flaw)
        }
        let stream = HTTP1WebSocketStream(leg, writeTimeout: configuration.writeTimeout)
        try await converse(over: stream, head, asked, machine)
        return (answer(head, trailers: .none), true)
    }

    fileprivate func converse(
        over leg: HTTP2ClientLeg, _ machine: WebSocketClientMachine
    ) async throws(Failure) -> (answer: ClientResponse, isOpened: Bool) {
        let stream = try open(over: leg, endsStream: false)
        do throws(Failure) {
            stream.noteSent()
            let head = try await finalHead(on: stream)
            guard head.status / 100 == 2 else {
                stream.end(.none)
                let answer = try await content(of: head, on: stream)
                stream.finish(isWhole: true)
                return (answer, false)
            }
            stream.noteSending()
            let carrier = HTTP2WebSocketStream(stream, of: leg, self)
            try await converse(over: carrier, head, try asked(), machine)
            stream.finish(isWhole: stream.hasEnded)
            return (answer(head, trailers: .none), true)
        } catch {
            stream.finish(isWhole: false)
            throw error
        }
    }

    private func converse(
        over stream: any ClientWebSocketStream, _ head: ResponseHead, _ asked: Fields,
        _ machine: WebSocketClientMachine
    ) async throws(Failure) {
        let extensions = try agreement(in: head.fields, answering: asked)
        let messages = messages.map { WebSocketMessageRecorder($0, exchange: record.id) }
        let task = ClientWebSocketTask(machine, extensions, over: stream, messages, recorder)
        try await task.run()
    }

    /// The fields of the request, as HTTP/1 spells them.
    private func asked() throws(Failure) -> Fields {
        let bytes = request.head
        do throws(HTTP1Violation) {
            guard let head = try RequestReader.read(bytes.span)?.head else {
                throw .invalidRequestLine
            }
            return head.fields
        } catch {
            throw Failure("request-malformed", party: .tool, error.detail)
        }
    }

    /// Why a client must not go on with a 101 (RFC 6455 §4.1).
    private static func flaw(in fields: Fields, answering asked: Fields) -> String? {
        let key = asked.first(named: "sec-websocket-key") ?? []
        let accept = WebSocketHandshake.acceptKey(for: key) { bytes in
            Digests.sha1(unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) })
        }
        let told = fields.first(named: "sec-websocket-accept")?.trimmingWhitespace
        guard fields.contains(.upgrade, token: "websocket") else {
            return "a 101 without Upgrade: websocket"
        }
        guard told?.elementsEqual(accept.utf8) ?? false else {
            return "a Sec-WebSocket-Accept that does not answer the key"
        }
        return nil
    }

    /// What the origin has agreed on besides.
    private func agreement(
        in fields: Fields, answering asked: Fields
    ) throws(Failure) -> PerMessageDeflate? {
        guard let told = fields.webSocketExtensions else { return nil }
        let offer = asked.webSocketExtensions.flatMap {
            PerMessageDeflateOffer(requestField: $0[...])
        }
        guard let agreed = offer?.agreement(inResponse: told[...]) else {
            throw failure("origin-violation", "extensions that were not offered")
        }
        return agreed
    }
}

extension Fields {
    /// `nil` if the field is not there.
    fileprivate var webSocketExtensions: [UInt8]? {
        let values = all(named: "sec-websocket-extensions")
        return values.isEmpty ? nil : [UInt8](values.joined(separator: [0x2C]))
    }
}
