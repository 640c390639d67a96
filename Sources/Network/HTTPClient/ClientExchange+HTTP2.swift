internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Traffic
internal import Transport

extension ClientExchange {
    /// Sends the request on a stream of its own, and reads its answer while it does.
    func run(over leg: HTTP2ClientLeg) async throws(Failure) -> ClientResponse {
        let stream = try open(over: leg, endsStream: request.endsWithHead)
        request.stop?.interrupt = { stream.finish(isWhole: false) }
        defer { request.stop?.interrupt = nil }
        let call = request.call.map {
            ClientCallTask(
                $0, timeout: configuration.readTimeout, on: leg.connection.stream.loop)
        }
        async let sending: Void = send(on: stream, call)
        do throws(Failure) {
            let head = try await finalHead(on: stream)
            let answer = try await content(of: head, on: stream) { call?.receive($0) }
            call?.noteEnd()
            // Who wants no more of the answer must not wait for the rest of the request.
            if isDeclined { stream.finish(isWhole: false) }
            // A request may go on behind its whole answer.
            await sending
            stream.finish(
                isWhole: contentFailure == nil && !isDeclined && call?.isWhole ?? true)
            if let contentFailure { throw contentFailure }
            return answer
        } catch {
            stream.finish(isWhole: false)
            call?.noteEnd()
            await sending
            throw contentFailure ?? error
        }
    }

    /// Opens a stream with the request's head.
    func open(over leg: HTTP2ClientLeg, endsStream: Bool) throws(Failure) -> ClientStream {
        let fields = try fields()
        record.protocolName = HTTPVersion.http2.text
        guard let opened = leg.connection.request(fields, endsStream: endsStream) else {
            isUnprocessed = true
            throw failure("origin-closed", "takes no more requests on the connection")
        }
        record.stream = opened.id
        return ClientStream(opened, configuration, on: leg.connection.stream.loop)
    }

    private func fields() throws(Failure) -> HTTP2Fields {
        let bytes = request.head
        do throws(HTTP1Violation) {
            guard let head = try RequestReader.read(bytes.span)?.head else {
                throw .invalidRequestLine
            }
            noteSending(head.fields)
            var dropping: [StaticString] = request.tellsLength ? [] : ["content-length"]
            if request.opensWebSocket { dropping.append("sec-websocket-key") }
            let fields = HTTP2Fields.request(
                head, method: request.opensWebSocket ? Array("CONNECT".utf8) : nil,
                scheme: request.target.isSecure ? "https" : "http",
                authority: head.fields.first(.host) ?? [], target: nil,
                protocolName: request.opensWebSocket ? Array("websocket".utf8) : nil,
                dropping: dropping)
            record.requestHead = try fields.received.requestHead().raw
            return fields
        } catch {
            throw Failure("request-malformed", party: .tool, error.detail)
        }
    }

    private func send(on stream: ClientStream, _ call: ClientCallTask?) async {
        guard !request.endsWithHead else { return stream.noteSent() }
        do throws(HTTP2StreamFailure) {
            if let call {
                while let end = await call.turn(), !stream.isClosed {
                    try await sendContent(on: stream, upTo: end) { call.noteSent(sentSize) }
                    guard sentSize < end else { continue }
                    if !call.isWhole, !stream.isClosed { giveUpShortContent() }
                    break
                }
                if let silence = call.silence { giveUp(failure("timed-out", silence)) }
            } else {
                try await sendContent(on: stream, upTo: .max)
            }
            if contentFailure != nil { return stream.finish(isWhole: false) }
            // What waits for messages that do not come stays open.
            guard call?.isWhole ?? true else { return stream.noteSent() }
            recording.noteTrailers(request.trailers.raw, .request)
            stream.end(request.trailers)
        } catch {
            // The one who reads hears of it, unless the answer is whole.
            stream.noteSent()
        }
    }

    /// The origin must not be waited for, which waits for the rest.
    private func giveUpShortContent() {
        guard contentFailure == nil else { return }
        giveUp(
            Failure("request-malformed", party: .tool, "the content ends before its last message"))
    }

    /// - Parameter note: called when a piece has gone out.
    private func sendContent(
        on stream: ClientStream, upTo end: Int64, _ note: () -> Void = {}
    ) async throws(HTTP2StreamFailure) {
        while !stream.isClosed, sentSize < end {
            let piece = nextPiece(upTo: end)
            guard !piece.isEmpty else { return }
            try await stream.write(piece)
            // One that waited for room may have waited in vain.
            guard !stream.isClosed else { return }
            note()
            await recorder.waitForRoom()
        }
    }

    func finalHead(on stream: ClientStream) async throws(Failure) -> ResponseHead {
        do throws(HTTP2StreamFailure) {
            while true {
                guard let head = try await stream.nextHead()?.responseHead() else {
                    throw .malformed("a stream without a head")
                }
                let isFinal: Bool
                do throws(Failure) {
                    isFinal = try take(head)
                } catch {
                    throw .malformed("more interim responses than anybody needs")
                }
                if isFinal { return head }
            }
        } catch {
            throw failure(of: error)
        }
    }

    /// - Parameter hear: gets to see the content, too.
    func content(
        of head: ResponseHead, on stream: ClientStream, _ hear: (Span<UInt8>) -> Void = { _ in }
    ) async throws(Failure) -> ClientResponse {
        do throws(HTTP2StreamFailure) {
            while !isDeclined,
                try await stream.read({ piece in
                    take(piece)
                    hear(piece)
                }), await waitForRoom()
            {}
            return answer(head, trailers: stream.trailers)
        } catch {
            throw failure(of: error)
        }
    }

    func failure(of failure: HTTP2StreamFailure) -> Failure {
        isUnprocessed = failure.isUnprocessed
        let code =
            switch failure {
            case .silent, .timedOut: "timed-out"
            case .malformed: "origin-violation"
            case .reset: "origin-reset"
            case .unsent: "request-malformed"
            case .connectionLost(.failed(let failure)) where failure.isTimeout: "timed-out"
            case .connectionLost(.violation): "origin-violation"
            case .connectionLost, .stopped: "origin-closed"
            }
        return self.failure(code, failure.detail)
    }
}
