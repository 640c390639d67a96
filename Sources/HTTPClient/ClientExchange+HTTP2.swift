internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Traffic
internal import Transport

extension ClientExchange {
    /// Sends the request on a stream of its own, and reads its answer while it does.
    func run(over leg: HTTP2ClientLeg) async throws(Failure) -> ClientAnswer {
        let fields = try fields()
        record.protocolName = HTTPVersion.http2.text
        guard let opened = leg.connection.request(fields, endsStream: request.endsWithHead) else {
            isUnprocessed = true
            throw failure("origin-closed", "takes no more requests on the connection")
        }
        record.stream = opened.id
        let stream = ClientStream(opened, configuration, on: leg.connection.stream.loop)
        async let sending: Void = send(on: stream)
        do throws(Failure) {
            let answer = try await receive(on: stream)
            // A request may go on behind its whole answer.
            await sending
            stream.finish(isWhole: contentFailure == nil)
            if let contentFailure { throw contentFailure }
            return answer
        } catch {
            stream.finish(isWhole: false)
            await sending
            throw contentFailure ?? error
        }
    }

    private func fields() throws(Failure) -> HTTP2Fields {
        let bytes = request.head
        do throws(HTTP1Violation) {
            guard let head = try RequestReader.read(bytes.span)?.head else {
                throw .invalidRequestLine
            }
            let fields = HTTP2Fields.request(
                head, scheme: request.target.isSecure ? "https" : "http",
                authority: Array(head.fields.first(.host) ?? []), target: nil,
                dropping: request.tellsLength ? [] : ["content-length"])
            record.requestHead = try HTTP2Head(sending: fields).requestHead().raw
            return fields
        } catch {
            throw Failure("request-malformed", party: .tool, error.detail)
        }
    }

    private func send(on stream: ClientStream) async {
        guard !request.endsWithHead else { return stream.noteSent() }
        do throws(HTTP2StreamFailure) {
            while !stream.isClosed {
                let piece = nextPiece()
                guard !piece.isEmpty else { break }
                try await stream.write(piece)
                await journal.waitForRoom()
            }
            if contentFailure != nil { return stream.finish(isWhole: false) }
            record.requestBody.trailers = request.trailers.raw
            stream.end(request.trailers)
        } catch {
            // The one who reads hears of it, unless the answer is whole.
            stream.noteSent()
        }
    }

    private func receive(on stream: ClientStream) async throws(Failure) -> ClientAnswer {
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
                guard isFinal else { continue }
                while try await stream.read({ take($0) }) { await journal.waitForRoom() }
                return answer(head, trailers: stream.trailers)
            }
        } catch {
            throw failure(of: error)
        }
    }

    private func failure(of failure: HTTP2StreamFailure) -> Failure {
        isUnprocessed = failure.isUnprocessed
        let code =
            switch failure {
            case .timedOut: "timed-out"
            case .malformed: "origin-violation"
            case .reset: "origin-reset"
            case .connectionLost(.failed(let failure)) where failure.isTimeout: "timed-out"
            case .connectionLost(.violation): "origin-violation"
            case .connectionLost, .stopped: "origin-closed"
            }
        return self.failure(code, failure.detail)
    }
}
