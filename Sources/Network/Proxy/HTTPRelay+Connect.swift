internal import Base
internal import HTTPModel
internal import Sockets
internal import Traffic
internal import Transport

extension HTTPRelay {
    /// Answers a CONNECT to the proxy (RFC 9110 §9.3.6) and looks into the tunnel.
    func connect(_ host: String, _ port: UInt16) async throws(ConnectionEnd) -> Next {
        let target = OriginTarget(isSecure: true, host: host, port: port)
        exchange?.authority = target.port == 443 ? "\(target.authority):443" : target.authority
        task.note(target)
        if let refusal = task.blocking(host) {
            isRequestComplete = true
            return await answer(refusal)
        }
        if task.session == nil, task.isClaimed(host, port) {
            try await acceptConnect()
            let early = try await task.serveProbe(to: host, port, takeClientBuffer())
            let dialled = try await task.dial(host, port)
            task.record.originAddress = dialled.address.description
            try await task.serveTunnel(to: host, port, dialled, readAhead: early)
            return .close
        }
        let dialled: DialledOrigin
        do throws(OriginFailure) {
            dialled = try await lane.dial(host, port, reach: task.reach)
        } catch {
            task.note(error)
            isRequestComplete = true
            return await answer(ToolAnswer(error.failure))
        }
        task.record.originAddress = dialled.address.description
        do throws(ConnectionEnd) {
            try await acceptConnect()
        } catch {
            dialled.close()
            throw error
        }
        let early = takeClientBuffer()
        guard task.session == nil else {
            // Inside TLS to the proxy itself, the tunnel is no socket that can be looked into.
            await task.nest(client, to: host, port, dialled: dialled, readAhead: early)
            return .close
        }
        try await task.serveTunnel(to: host, port, dialled, readAhead: early)
        return .close
    }

    /// What the client has sent behind its request.
    private func takeClientBuffer() -> ByteBuffer? {
        clientBuffer.take()
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

    /// Takes back that there was an exchange: the connection's record tells enough.
    func forgetExchange() {
        // The store has been told of one that lasts, and is to hear of its end.
        guard !isAnnounced else { return finish() }
        task.unusedNumber = exchange?.id
        exchange = nil
        task.record.exchangeCount -= 1
    }

    /// The connection's record tells of the tunnel; the request itself is recorded only if it says
    /// more than that: that the client gave the proxy a password.
    private func recordConnect(_ head: [UInt8]) {
        guard let request, isAnnounced || request.fields.contains(.proxyAuthorization) else {
            return forgetExchange()
        }
        exchange?.scheme = .http
        exchange?.responseHead = head
        exchange?.status = 200
        exchange?.answeredByTool = true
        finish()
    }
}
