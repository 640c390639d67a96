internal import Base
internal import HTTPModel
internal import Origins
internal import Recording
internal import Sockets
internal import Traffic
internal import Transport

extension ExchangeTask {
    /// Answers a CONNECT to the proxy (RFC 9110 §9.3.6, RFC 9113 §8.5) and looks into the tunnel.
    func connect(_ host: String, _ port: UInt16) async throws(ConnectionEnd) {
        let target = OriginTarget(isSecure: true, host: host, port: port)
        record?.record.authority = target.tunnelAuthority
        isRequestComplete = true
        // Inside TLS to the proxy itself, or on a stream, the tunnel is no socket to look into.
        let isNested = task.session != nil || !client.ownsConnection
        if !isNested { task.note(target) }
        if let refusal = task.blocking(host) { return await answer(refusal) }
        let dialled: DialledOrigin?
        var ends: (near: Channel, far: Channel)?
        do throws(OriginFailure) {
            // All that the tunnel needs is there before the client hears that it has one.
            if isNested { ends = try worker.makePair() }
            dialled = try await task.openTunnel(to: target, isNested: isNested)
        } catch {
            close(ends)
            return await answer(ToolResponse(error.failure))
        }
        let head = ResponseHead.tunnel(in: client.version)
        recordConnect(head)
        let (stream, early): (any TunnelStream, ByteBuffer?)
        do throws(RelayFailure) {
            (stream, early) = try await client.switchOver(head)
        } catch {
            close(ends)
            dialled?.close()
            throw ConnectionEnd(.broken, error.words.detail, by: .client)
        }
        if let ends {
            await task.nest(
                stream, to: target, dialled: dialled, over: ends, readAhead: early)
        } else {
            try await task.serveTunnel(to: host, port, dialled, readAhead: early)
        }
    }

    private func close(_ ends: (near: Channel, far: Channel)?) {
        ends?.near.close()
        ends?.far.close()
    }

    /// The connection's record tells of the tunnel; the request itself is recorded only if it says
    /// more than that: that the client gave the proxy a password.
    private func recordConnect(_ head: ResponseHead) {
        guard let record,
            record.isAnnounced || request?.fields.contains(.proxyAuthorization) ?? false
        else { return forget() }
        record.record.scheme = .http
        record.record.answeredByTool = true
        record.note(head)
        finish()
    }
}

extension ResponseHead {
    /// What accepts a CONNECT.
    fileprivate static func tunnel(in version: HTTPVersion) -> ResponseHead {
        let (line, reason) =
            version == .http2
            ? ("HTTP/2.0 200 ", 13..<13) : ("HTTP/1.1 200 Connection established", 13..<35)
        return ResponseHead(
            version: version, status: 200, reasonRange: reason,
            fields: Fields(raw: [UInt8]("\(line)\r\n\r\n".utf8), slices: []))
    }
}
