internal import Base
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

extension HTTP1Relay {
    /// Answers a CONNECT to the proxy (RFC 9110 §9.3.6) and looks into the tunnel.
    func connect(_ host: String, _ port: UInt16) async throws(ConnectionEnd) -> Next {
        let target = OriginTarget(isSecure: true, host: host, port: port)
        exchange?.record.authority = target.tunnelAuthority
        task.note(target)
        if let refusal = task.blocking(host) {
            isRequestComplete = true
            return await answer(refusal)
        }
        let dialled: DialledOrigin?
        do throws(OriginFailure) {
            dialled = try await task.openTunnel(to: host, port)
        } catch {
            isRequestComplete = true
            return await answer(ToolResponse(error.failure))
        }
        do throws(ConnectionEnd) {
            try await acceptConnect()
        } catch {
            dialled?.close()
            throw error
        }
        // What the client has sent behind its request.
        let early = clientBuffer.take()
        guard task.session == nil else {
            // Inside TLS to the proxy itself, the tunnel is no socket that can be looked into.
            await task.nest(client, to: host, port, dialled: dialled, readAhead: early)
            return .close
        }
        try await task.serveTunnel(to: host, port, dialled, readAhead: early)
        return .close
    }

    /// Tells the client that its tunnel is open.
    private func acceptConnect() async throws(ConnectionEnd) {
        let head = [UInt8]("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
        recordConnect(head)
        let out = loop.buffers.take()
        out.append(head)
        client.writeDeadline = loop.now + limits.bodyTimeout
        do throws(StreamFailure) {
            try await client.write(out)
            loop.buffers.give(out)
        } catch {
            loop.buffers.give(out)
            throw ConnectionEnd(.broken, "client \(error.detail)", by: .client)
        }
    }

    /// Takes the exchange back.
    func forgetExchange() {
        // The store has been told of one that lasts, and is to hear of its end.
        guard exchange?.isAnnounced != true else { return finish() }
        task.forgetExchange(exchange.take()?.record.id)
    }

    /// The connection's record tells of the tunnel; the request itself is recorded only if it says
    /// more than that: that the client gave the proxy a password.
    private func recordConnect(_ head: [UInt8]) {
        guard let request,
            exchange?.isAnnounced ?? false || request.fields.contains(.proxyAuthorization)
        else {
            return forgetExchange()
        }
        exchange?.record.noteTunnel(head)
        finish()
    }
}

extension ExchangeRecord {
    /// Takes note that a CONNECT was answered with a tunnel.
    mutating func noteTunnel(_ head: [UInt8]) {
        scheme = .http
        responseHead = head
        status = 200
        answeredByTool = true
    }
}
