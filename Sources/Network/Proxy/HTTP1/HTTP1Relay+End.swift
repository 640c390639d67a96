internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Sockets
internal import Traffic
internal import Transport

/// The client's side of one exchange after the other: how they end, or go on as a tunnel.
extension HTTP1Relay {
    func switchOver(
        _ head: ResponseHead
    ) async throws(RelayFailure) -> (stream: any TunnelStream, early: ByteBuffer?) {
        closesConnection = true
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        try await send(
            head, Forwarding(keepsUpgrade: true, keepsProxyFields: !entry.isProxy), behind: out)
        try await sendToClient(out)
        return (client, clientBuffer.take())
    }

    func send(
        _ answer: ToolResponse, _ message: (head: [UInt8], content: [UInt8]),
        of exchange: ExchangeTask
    ) async {
        closesConnection = exchange.closesConnection
        let buffer = loop.buffers.take()
        defer { loop.buffers.give(buffer) }
        buffer.append(message.head)
        buffer.append(message.content)
        do throws(RelayFailure) {
            try await sendToClient(buffer)
        } catch {
            closesConnection = true
        }
    }

    /// Whether it was for the client's sake that an origin was no longer waited for.
    func departure(
        behind failure: RelayFailure, of exchange: ExchangeTask
    ) -> ClientDeparture? {
        let hasLeft =
            switch failure {
            case .origin(.closed), .originStream: client.channel.isBroken
            // It gave up what it was told that nobody waits for.
            case .originEnded, .origin(.reset): hasPassedEndOn && !exchange.hasResponseBegun
            case .origin(.timedOut): client.channel.peerEnded
            default: false
            }
        guard hasLeft else { return nil }
        // It has the whole length, and does not wait for the origin to end the stream.
        return lengthLeft == 0 && !holdsBack ? .satisfied : .left(.clientLeft)
    }

    func end(_ end: ExchangeEnd) throws(ConnectionEnd) {
        closesConnection = true
        switch end {
        case .cut, .unprocessed: break
        case .refused(let violation):
            throw ConnectionEnd(
                .refused, "client sent a malformed request: \(violation.code)", by: .tool)
        case .client(.clientViolation(let violation)), .answered(.clientViolation(let violation)):
            throw ConnectionEnd(
                .refused, "client sent a malformed body: \(violation.code)", by: .tool)
        case .client(let failure):
            // Without TLS, half of a content that ends with its stream would pass for all of it.
            client.close(reset: task.session == nil && coding == .untilClose)
            throw Self.clientEnd(failure)
        case .answered(let failure):
            client.close()
            throw Self.clientEnd(failure)
        case .origin(let failure, let detail): try show(failure, detail)
        case .lostOrigin(let detail):
            task.dropOrigin()
            try show(.originEnded, detail)
        }
    }

    private static func clientEnd(_ failure: RelayFailure) -> ConnectionEnd {
        let (code, detail) = failure.words
        return ConnectionEnd(code == "timed-out" ? .timedOut : .broken, detail, by: .client)
    }

    /// Ends the client's connection where its response, or more of it, was due.
    private func show(_ failure: RelayFailure, _ detail: String) throws(ConnectionEnd) {
        switch failure {
        case .originTruncated:
            // The same end as the origin's: one without close_notify, which says that the content
            // may not be whole (RFC 9112 §9.8).
            task.note(failure, detail)
            return client.close()
        case .originEnded where coding != .untilClose:
            // As the origin did: what has come says itself that more was due. Without TLS in
            // order, and else without close_notify.
            if task.session != nil { client.close() }
        default:
            // The client must not take half a response for a whole one.
            client.close(reset: true)
        }
        throw ConnectionEnd(failure.isTimeout ? .timedOut : .broken, detail, by: .origin)
    }
}
