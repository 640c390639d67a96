internal import Base
internal import HTTPCodecs
internal import HTTPModel

extension ServerWorker {
    /// Answers one request, whatever version carries it.
    ///
    /// - Returns: whether the connection ends with the response.
    func serve(
        _ head: RequestHead, of client: ClientConnection, over stream: any ExchangeStream
    ) async throws(ServerEnd) -> Bool {
        guard head.knownMethod != .connect else { throw .refused(501) }
        let request: ServerRequest
        do throws(HTTP1Violation) {
            request = try Self.request(head, of: client)
        } catch {
            throw .refused(error.status)
        }
        let response = await answer(request, stream.body)
        let plan = ResponsePlan(
            response, toMethod: request.method, version: request.version,
            keepsAlive: stream.keepsAlive, date: dateText(request.date))
        var sender = ResponseSender(response, plan, over: stream)
        do throws(ServerEnd) {
            try await sender.send()
        } catch {
            tell(response, outcome(error, sender.sent, stream), stream)
            throw error
        }
        tell(response, outcome(nil, sender.sent, stream), stream)
        if stream.version != .http2, !plan.closes, stream.body.length == 0 {
            await remember(response, plan, to: head)
        }
        return plan.closes
    }

    /// Tells what became of a response; and again, if its client then breaks off the connection, and
    /// may have left bytes of it unread, or not have waited for it.
    private func tell(
        _ response: ServerResponse, _ sent: SentResponse, _ stream: any ExchangeStream
    ) {
        guard let onEnd = response.onEnd else { return }
        onEnd(sent)
        if sent.end == .whole || sent.end == .cut { stream.watch(sent, onEnd) }
    }

    /// Keeps a small steady response for the next time, if this was not the first.
    private func remember(
        _ response: ServerResponse, _ plan: ResponsePlan, to head: RequestHead
    ) async {
        guard let repetition = response.repetition, response.delivery == nil,
            known.hasSeen(head.raw), let content = await content(of: response, plan)
        else { return }
        known.keep(KnownResponse(to: head.raw, plan, content: content, repetition))
    }

    private func content(of response: ServerResponse, _ plan: ResponsePlan) async -> [UInt8]? {
        guard case .length(let length) = plan.framing else {
            return plan.framing == .none ? [] : nil
        }
        if case .bytes(let bytes) = response.body { return bytes }
        guard length <= KnownResponse.contentLimit, let selected = response.selected,
            response.status == 200 || selected.part != nil
        else { return nil }
        let buffer = ByteBuffer(capacity: KnownResponse.contentLimit + 1)
        let source = selected.openPart()
        do throws(ResponseInterruption) {
            while try await source.read(into: buffer) > 0 {}
        } catch {
            return nil
        }
        return buffer.count == length ? buffer.copy : nil
    }

    private func outcome(
        _ end: ServerEnd?, _ sent: UInt64, _ stream: any ExchangeStream
    ) -> SentResponse {
        let open = stream.unacknowledged.map(UInt64.init)
        let how: SentResponse.End =
            switch end {
            case nil, .afterResponse: .whole
            case .cut: .cut
            case .interrupted: .failed
            case .left: isDraining ? .stopped : .left
            case .ended, .unwritable, .refused: .left
            }
        return SentResponse(end: how, count: sent, acknowledged: open.map { sent - min(sent, $0) })
    }

    private static func request(
        _ head: RequestHead, of client: ClientConnection
    ) throws(HTTP1Violation) -> ServerRequest {
        let path: ArraySlice<UInt8>
        var host: String?
        switch try RequestTarget(head) {
        case .origin(let target): path = target
        case .absolute(_, let name, _, let target, _): (host, path) = (name, target[...])
        case .asterisk: path = [0x2A]
        case .authority: throw .invalidTarget
        }
        if host == nil, let field = head.fields.first(.host), !field.isEmpty {
            guard let (name, _) = HostField.parse(field) else { throw .invalidTarget }
            host = name
        }
        guard let path = RequestPath(path) else { throw .invalidTarget }
        return ServerRequest(
            method: RequestMethod(head.method), path: path, host: host, version: head.version,
            fields: head.fields, connection: client, receivedAt: .now())
    }
}
