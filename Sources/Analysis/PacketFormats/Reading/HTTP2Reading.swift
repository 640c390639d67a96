internal import Base
internal import Formats
internal import HTTPCodecs
internal import HTTPModel
internal import Recording
internal import Traffic

/// Reads the exchanges of HTTP/2 out of both directions of a connection, and tells them as the proxy
/// does.
final class HTTP2Reading {
    private let writer: ImportWriter
    private let messages: ImportedMessages
    private let connection: Int64
    private let scheme: ExchangeRecord.Scheme
    private let origin: String
    /// What every request is for, `nil` if each tells it.
    private let authority: String?
    /// By `Direction.rawValue`.
    private var readers = [
        HTTP2DirectionReader(hasPreface: true), HTTP2DirectionReader(hasPreface: false),
    ]
    private var open: [Int32: OpenStream] = [:]
    /// The highest that a request came on, and the highest that one was promised for.
    private var lastStream: Int32 = 0
    private var lastPromised: Int32 = 0
    /// What an end said when it announced that it takes no more; `nil` if none was wrong.
    private var farewell: ExchangeEnd?
    private(set) var exchangeCount: Int64

    /// Streams that go on at once: what is beyond is passed over.
    private static let openLimit = 1024
    /// Interim responses to one request, as the proxy has it.
    private static let interimLimit = 64

    /// - Parameters:
    ///   - first: the exchange of HTTP/1 that the connection changed over with, if it did.
    ///   - exchangeCount: of exchanges on the connection so far.
    init(
        _ writer: ImportWriter, _ messages: ImportedMessages, connection: Int64,
        scheme: ExchangeRecord.Scheme, origin: String, authority: String? = nil,
        first: OpenExchange? = nil,
        exchangeCount: Int64 = 0
    ) {
        self.writer = writer
        self.messages = messages
        self.connection = connection
        self.scheme = scheme
        self.origin = origin
        self.authority = authority
        self.exchangeCount = exchangeCount
        guard let first else { return }
        lastStream = 1
        first.record.stream = 1
        var stream = OpenStream(exchange: first)
        stream.isRequestOver = true
        open[1] = stream
    }

    /// - Returns: why nothing more can be read; `nil` while all can.
    func read(_ bytes: [UInt8], _ direction: Direction, at time: Timestamp) -> HTTP2Violation? {
        readers[direction.rawValue].append(bytes)
        do throws(HTTP2Violation) {
            while let event = try readers[direction.rawValue].next() {
                switch direction {
                case .request: takeRequest(event, time)
                case .response: takeResponse(event, time)
                }
            }
            return nil
        } catch {
            return error
        }
    }

    /// Ends with the connection.
    func finish(at time: Timestamp, _ end: ExchangeEnd) {
        let end = end == .missing ? end : farewell ?? end
        for stream in open.keys.sorted() { finish(stream, at: time, end) }
    }

    // MARK: Requests

    private func takeRequest(_ event: HTTP2Event, _ time: Timestamp) {
        switch event {
        case .head(let stream, let head): begin(stream, head, flaw: nil, time)
        case .malformed(let stream, let head, let flaw):
            if open[stream] == nil {
                begin(stream, head, flaw: flaw, time)
            } else {
                note("bad-request", flaw, on: stream)
            }
        case .trailers(let stream, let fields):
            open[stream]?.exchange.recorder.noteTrailers(fields.raw, .request)
        case .content(let stream, let bytes): add(bytes, .request, stream, time)
        case .ended(let stream): end(.request, of: stream, time)
        case .closed(let stream, let code): reset(stream, code, by: .request, time)
        case .goAway(_, let code): bid(farewell: code, by: .request)
        // No client promises (RFC 9113 §8.4).
        case .settings, .promise, .violated, .unsent: break
        }
    }

    private func begin(_ stream: Int32, _ head: HTTP2Head, flaw: String?, _ time: Timestamp) {
        guard stream > lastStream, stream % 2 == 1 else { return }
        lastStream = stream
        add(stream, head, flaw: flaw, time)
    }

    /// A request that the server expects and answers by itself (RFC 9113 §8.4): an exchange on a
    /// stream of an even number.
    private func promise(_ stream: Int32, _ head: HTTP2Head, flaw: String?, _ time: Timestamp) {
        guard stream > lastPromised, stream % 2 == 0 else { return }
        lastPromised = stream
        add(stream, head, flaw: flaw, time)
        open[stream]?.isRequestOver = true
    }

    private func add(_ stream: Int32, _ head: HTTP2Head, flaw: String?, _ time: Timestamp) {
        guard open.count < Self.openLimit else {
            return writer.losses.note(.tooManyStreams, place(stream))
        }
        var record = ExchangeRecord(
            id: writer.makeExchangeNumber(), connection: connection, startedAt: time,
            scheme: head.scheme.elementsEqual("http".utf8) ? .http : scheme,
            authority: authority ?? (head.authority.isEmpty ? origin : [UInt8](head.authority).text)
        )
        exchangeCount += 1
        record.stream = stream
        record.protocolName = HTTPVersion.http2.text
        var request: RequestHead?
        do throws(HTTP1Violation) {
            let sound = try head.requestHead()
            request = sound
            record.requestHead = sound.raw
            if let host = sound.fields.first(.host) { record.authority = host.text }
            if let flaw { (record.error, record.errorDetail) = ("bad-request", flaw) }
        } catch {
            record.requestHead = head.text
            record.error = "bad-request"
            record.errorDetail = "the request is malformed: \(error.detail) (\(error.code))"
        }
        let exchange = OpenExchange(
            record, method: request?.knownMethod ?? .other, to: writer, messages)
        if let request { exchange.recorder.watchContent(behind: request.fields, .request) }
        open[stream] = OpenStream(exchange: exchange)
        if exchange.method == .connect { open[stream]?.request = request }
    }

    // MARK: Responses

    private func takeResponse(_ event: HTTP2Event, _ time: Timestamp) {
        switch event {
        case .head(let stream, let head): answer(stream, head, time)
        case .malformed(let stream, let head, let flaw):
            if head.status > 0 { answer(stream, head, time) }
            note("bad-response", "the origin's response is malformed: \(flaw)", on: stream)
        case .trailers(let stream, let fields):
            guard let exchange = open[stream]?.exchange else { return }
            exchange.recorder.noteTrailers(fields.raw, .response)
            guard exchange.record.responseHead.isEmpty else { return }
            note("bad-response", "the origin's response has no status", on: stream)
        case .content(let stream, let bytes): add(bytes, .response, stream, time)
        case .ended(let stream): end(.response, of: stream, time)
        case .closed(let stream, let code): reset(stream, code, by: .response, time)
        case .goAway(let last, let code):
            bid(farewell: code, by: .response)
            // What it has not taken, it has done nothing with (RFC 9113 §6.8).
            let detail = "origin ended the connection before it took the stream"
            for stream in open.keys.sorted() where stream > last && stream % 2 == 1 {
                finish(stream, at: time, .told(code: "origin-reset", detail: detail))
            }
        case .promise(let stream, let head, let flaw): promise(stream, head, flaw: flaw, time)
        case .settings, .violated, .unsent: break
        }
    }

    private func answer(_ stream: Int32, _ head: HTTP2Head, _ time: Timestamp) {
        guard let exchange = open[stream]?.exchange else {
            // Streams of even numbers are the server's own (RFC 9113 §5.1.1).
            if stream % 2 == 0, stream > lastPromised {
                writer.losses.note(.pushLeftOut, place(stream))
            } else if stream % 2 == 1, stream > lastStream {
                writer.losses.note(.responseWithoutRequest, place(stream))
            }
            return
        }
        let response = head.responseHead()
        guard !response.isInterim else {
            guard exchange.record.interimHeads.count < Self.interimLimit else {
                return note("bad-response", "there are too many interim responses", on: stream)
            }
            open[stream]?.exchange.record.interimHeads.append(response.raw)
            return
        }
        // A second one is none.
        guard exchange.record.responseHead.isEmpty else {
            return note("bad-response", "the origin answered twice", on: stream)
        }
        exchange.recorder.note(response, at: time)
        open[stream]?.framing = framing(of: response, toMethod: exchange.method)
        exchange.recorder.watchContent(behind: response.fields, .response)
        guard open[stream]?.framing == .tunnel else { return }
        let request = open[stream]?.request
        open[stream]?.webSocket = messages.webSocket(
            begunBy: response, asked: request, exchange: exchange.record.id)
    }

    private func framing(
        of response: ResponseHead, toMethod method: KnownMethod
    ) -> BodyFraming {
        do throws(HTTP1Violation) {
            return try MessageFraming.ofResponse(
                response, toMethod: method, offer: .none, isRequestWhole: true)
        } catch {
            // The stream ends it in any case.
            return .untilClose
        }
    }

    // MARK: Both

    private func add(
        _ bytes: [UInt8], _ direction: Direction, _ stream: Int32, _ time: Timestamp
    ) {
        guard let id = open[stream]?.exchange.record.id else { return }
        if let webSocket = open[stream]?.webSocket {
            messages.observe(direction, bytes, webSocket)
        } else if open[stream]?.framing == .tunnel {
            messages.record(bytes, direction, exchange: id)
        } else {
            open[stream]?.exchange.recorder.append(bytes.span, direction)
        }
    }

    private func end(_ direction: Direction, of stream: Int32, _ time: Timestamp) {
        switch direction {
        case .request: open[stream]?.isRequestOver = true
        case .response: open[stream]?.responseEnd = time
        }
        guard let end = open[stream]?.responseEnd, open[stream]?.isRequestOver ?? false,
            let found = open.removeValue(forKey: stream)
        else { return }
        if let webSocket = found.webSocket { messages.finish(webSocket) }
        found.exchange.write(at: end)
    }

    private func reset(
        _ stream: Int32, _ code: UInt32, by direction: Direction, _ time: Timestamp
    ) {
        let (error, side) =
            direction == .request ? ("client-reset", "client") : ("origin-reset", "origin")
        let detail = "\(side) reset the stream with \(HTTP2ErrorCode.name(code))"
        finish(stream, at: time, .told(code: error, detail: detail))
    }

    /// Ends a stream that did not end both ways: without an error if its response is whole, and
    /// nobody waits for the rest of the request (RFC 9113 §8.1).
    private func finish(_ stream: Int32, at time: Timestamp, _ end: ExchangeEnd) {
        guard let found = open.removeValue(forKey: stream) else { return }
        if let webSocket = found.webSocket { messages.finish(webSocket) }
        if found.isResponseWhole {
            found.exchange.write(at: found.responseEnd ?? time)
        } else {
            found.exchange.finish(at: time, end)
        }
    }

    private func bid(farewell code: UInt32, by direction: Direction) {
        guard code != HTTP2ErrorCode.noError else { return }
        let (error, side) =
            direction == .request ? ("client-closed", "client") : ("origin-closed", "origin")
        farewell = .told(
            code: error, detail: "\(side) ended the connection with \(HTTP2ErrorCode.name(code))")
    }

    /// The first flaw is kept.
    private func note(_ error: String, _ detail: String, on stream: Int32) {
        guard let record = open[stream]?.exchange.record, record.error == nil else { return }
        open[stream]?.exchange.record.error = error
        open[stream]?.exchange.record.errorDetail = detail
    }

    private func place(_ stream: Int32) -> String { "connection \(connection), stream \(stream)" }
}

/// A stream that goes on.
private struct OpenStream {
    var exchange: OpenExchange
    /// Of the response, as its head has it.
    var framing = BodyFraming.untilClose
    /// Kept of one that asks for another protocol.
    var request: RequestHead?
    /// Reads what follows the heads, if that is a WebSocket.
    var webSocket: WebSocketRecorder?
    var isRequestOver = false
    /// When the response ended; `nil` until it does.
    var responseEnd: Timestamp?

    /// Whether all of the response came, be it that its end did not.
    var isResponseWhole: Bool {
        guard responseEnd == nil else { return true }
        switch framing {
        // What passes in a tunnel is not the response.
        case .none, .tunnel: return true
        case .length(let length):
            return exchange.recorder.size(.response) == Int64(clamping: length)
        default: return false
        }
    }
}
