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
        let dialled: DialledOrigin
        do throws(OriginFailure) {
            dialled = try await lane.dial(host, port, reach: task.reach)
        } catch {
            task.note(error)
            isRequestComplete = true
            return await answer(ToolAnswer(error.failure))
        }
        task.record.originAddress = dialled.address.description
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
            dialled.close()
            throw ConnectionEnd(.broken, "client \(error.detail)", by: .client)
        }
        let early = clientBuffer
        clientBuffer = nil
        guard task.session == nil else {
            // Inside TLS to the proxy itself, the tunnel is no socket that can be looked into.
            await task.nest(client, to: host, port, dialled: dialled, readAhead: early)
            return .close
        }
        try await task.serveTunnel(to: host, port, dialled, readAhead: early)
        return .close
    }

    /// The connection's record tells of the tunnel; the request itself is recorded only if it says
    /// more than that: that the client gave the proxy a password.
    private func recordConnect(_ head: [UInt8]) {
        guard let request, request.fields.contains(.proxyAuthorization) else {
            task.unusedNumber = exchange?.id
            exchange = nil
            task.record.exchangeCount -= 1
            return
        }
        exchange?.scheme = .http
        exchange?.responseHead = head
        exchange?.status = 200
        exchange?.answeredByTool = true
        finish()
    }
}
