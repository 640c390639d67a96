internal import Base
internal import Formats
internal import HTTPModel
internal import Messages
internal import Traffic

/// An exchange that goes on.
struct OpenExchange {
    var record: ExchangeRecord
    let method: KnownMethod
    /// As the request named it.
    let target: String
    var request = OpenBody()
    var response = OpenBody()
    /// Whether the response has no other end.
    var endsWithConnection = false

    /// The content behind a request's head comes now.
    mutating func watchContent(behind head: RequestHead) {
        request.messages = BodyMessageReader(head.fields, exchange: record.id, .request)
    }

    /// The same of the final response.
    mutating func watchContent(behind head: ResponseHead) {
        response.messages = BodyMessageReader(head.fields, exchange: record.id, .response)
    }

    mutating func add(
        _ content: [UInt8], _ direction: Direction, to writer: ImportWriter,
        _ messages: ImportedMessages
    ) {
        switch direction {
        case .request: request.add(content, of: record.id, direction, to: writer, messages)
        case .response: response.add(content, of: record.id, direction, to: writer, messages)
        }
    }

    /// Ends with what carried it.
    mutating func finish(at time: Timestamp, _ end: ExchangeEnd, to writer: ImportWriter) {
        if record.error == nil, !endsWithConnection || end != .orderly {
            (record.error, record.errorDetail) = end.words
        }
        write(to: writer, at: time)
    }

    /// - Parameter time: of the last byte of the response.
    mutating func write(to writer: ImportWriter, at time: Timestamp) {
        // A CONNECT is told by its connection.
        guard record.id != 0 else { return }
        record.requestBody = request.finished(of: record.id, .request, writer)
        record.responseBody = response.finished(of: record.id, .response, writer)
        record.durationMicroseconds = time.microseconds(since: record.startedAt)
        writer.write(.exchange(record))
    }
}

/// Why an exchange ended before its response did.
enum ExchangeEnd: Equatable {
    /// With the connection.
    case orderly
    case broken
    /// The rest was not caught.
    case missing
    /// Another protocol is spoken from here on.
    case changedOver
    /// Its stream, or the connection, was ended for a reason that is known.
    case told(code: String, detail: String)

    /// For the record.
    var words: (code: String, detail: String) {
        switch self {
        case .orderly: ("origin-closed", "the connection ended before the response did")
        case .broken: ("origin-closed", "the connection was broken off")
        case .missing: ("packets-missing", "the packets of the rest are missing")
        case .changedOver: ("origin-closed", "the connection changed over before the response")
        case .told(let code, let detail): (code, detail)
        }
    }
}

/// A content that goes on: long ones go ahead of their exchange.
struct OpenBody {
    var body = BodyRecord()
    /// Watches for the messages inside, if there are some.
    fileprivate var messages: BodyMessageReader?
    private var held: [UInt8] = []

    /// In bytes.
    private static let partSize = 256 << 10

    fileprivate mutating func add(
        _ content: [UInt8], of exchange: Int64, _ direction: Direction, to writer: ImportWriter,
        _ recorder: ImportedMessages
    ) {
        messages?.read(content.span, to: recorder)
        body.size += Int64(content.count)
        held += content
        if held.count >= Self.partSize { release(exchange, direction, writer) }
    }

    mutating func finished(
        of exchange: Int64, _ direction: Direction, _ writer: ImportWriter
    ) -> BodyRecord {
        if body.chunkCount == 0 {
            body.bytes = held
        } else if !held.isEmpty {
            release(exchange, direction, writer)
        }
        return body
    }

    private mutating func release(
        _ exchange: Int64, _ direction: Direction, _ writer: ImportWriter
    ) {
        writer.write(
            .bodyChunk(
                exchange: exchange, direction: direction, sequence: body.chunkCount, bytes: held))
        body.chunkCount += 1
        held = []
    }
}
