internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Messages
internal import Origins
internal import Traffic

/// One request and its answer, while they pass: what is recorded and kept of them, whatever version
/// of HTTP is spoken.
///
/// `@unchecked Sendable`: its tasks run on its loop's executor.
final class ClientExchange: @unchecked Sendable {
    let request: ClientRequest
    let configuration: ClientConfiguration
    let journal: ClientJournal
    let longHeads: LongHeadLedger
    var record: ExchangeRecord
    private let connection: ClientConnection?
    private var sent: ContentJournal
    private var received: ContentJournal
    /// The messages inside the contents.
    private var sentMessages: BodyMessageReader?
    private var receivedMessages: BodyMessageReader?
    private var kept: [UInt8] = []
    /// Why the content to send could not be read.
    private(set) var contentFailure: Failure?
    /// Content that was read and may not go out yet.
    private var ahead: ArraySlice<UInt8> = []
    /// Whether the connection of HTTP/1 can take another request.
    var keepsAlive = false
    /// Whether the origin has surely done nothing with the request (RFC 9113 §8.7).
    var isUnprocessed = false

    /// - Parameter connection: `nil` if none could be had.
    init(
        _ request: ClientRequest, on connection: ClientConnection?, at start: Timestamp,
        for client: HTTPClient
    ) {
        self.request = request
        self.connection = connection
        configuration = client.configuration
        journal = client.journal
        longHeads = client.origins.longHeads
        let number = journal.nextExchange()
        record = ExchangeRecord(
            id: number, connection: connection?.record.id ?? 0, startedAt: start,
            scheme: request.target.scheme,
            authority: request.target.authority)
        record.requestHead = request.head
        sent = ContentJournal(exchange: number, .request)
        received = ContentJournal(exchange: number, .response)
    }

    var isAnswered: Bool { !record.responseHead.isEmpty || !record.interimHeads.isEmpty }

    // MARK: The request

    /// How much of the content was sent, in bytes.
    var sentSize: Int64 { sent.body.size }

    /// The next piece of the content to send, which is recorded with this; empty at the end, and
    /// when it cannot be read.
    ///
    /// - Parameter end: what it does not go beyond, in bytes from the content's start.
    func nextPiece(upTo end: Int64 = .max) -> [UInt8] {
        if ahead.isEmpty { ahead = readAhead()[...] }
        let piece = Array(ahead.prefix(Int(clamping: end - sent.body.size)))
        ahead = ahead.dropFirst(piece.count)
        sent.append(piece.span, to: journal)
        sentMessages?.read(piece.span, to: self)
        return piece
    }

    private func readAhead() -> [UInt8] {
        switch request.content {
        case .bytes(let bytes): return sent.body.size == 0 ? bytes : []
        case .pieces(let read):
            do throws(Failure) {
                return try read(sent.body.size).get()
            } catch {
                contentFailure = error
                return []
            }
        }
    }

    /// Takes notice of the fields that tell what the content is.
    func noteSending(_ fields: Fields) {
        guard journal.isRecording else { return }
        sentMessages = BodyMessageReader(fields, exchange: record.id, .request)
    }

    /// Sends nothing more of the content.
    func giveUp(_ failure: Failure) { contentFailure = failure }

    // MARK: The answer

    /// Takes a head down.
    ///
    /// - Returns: whether it is the final one.
    func take(_ head: ResponseHead) throws(Failure) -> Bool {
        if !head.isInterim {
            record.responseHead = head.raw
            record.status = head.status
            if journal.isRecording {
                receivedMessages = BodyMessageReader(
                    head.fields, exchange: record.id, .response)
            }
            record.firstByteMicroseconds = Timestamp.now().microseconds(since: record.startedAt)
            return true
        }
        record.interimHeads.append(head.raw)
        guard record.interimHeads.count <= InterimLimits.count else {
            throw failure(
                "origin-violation", "more than \(InterimLimits.count) interim responses")
        }
        return false
    }

    /// Takes a piece of the answer's content down.
    func take(_ piece: Span<UInt8>) {
        received.append(piece, to: journal)
        receivedMessages?.read(piece, to: self)
        let count = min(piece.count, configuration.keptContentLimit - kept.count)
        unsafe piece.extracting(..<count).withUnsafeBufferPointer {
            unsafe kept.append(contentsOf: $0)
        }
    }

    func answer(_ head: ResponseHead, trailers: Fields) -> ClientAnswer {
        record.responseBody.trailers = trailers.raw
        return ClientAnswer(
            head: head, content: kept, isCut: Int64(kept.count) < received.body.size,
            trailers: trailers)
    }

    // MARK: The end

    func failure(_ code: String, _ detail: String) -> Failure {
        Failure(code, party: .origin, "\(request.target.authority): \(detail)")
    }

    func end(_ failure: Failure?) {
        record.durationMicroseconds = Timestamp.now().microseconds(since: record.startedAt)
        record.error = failure?.code
        record.errorDetail = failure?.detail
        record.requestBody = sent.finish(trailers: record.requestBody.trailers, to: journal)
        record.responseBody = received.finish(trailers: record.responseBody.trailers, to: journal)
        journal.tell(.exchange(record))
    }
}

extension ClientExchange: MessageRecorder {
    func nextMessage(
        _ kind: MessageRecord.Kind, _ direction: Direction, exchange: Int64?
    ) -> MessageRecord {
        // Those of all exchanges of a connection are counted together.
        connection?.record.messageCount += 1
        return MessageRecord(
            connection: record.connection, exchange: exchange,
            number: connection?.record.messageCount ?? 0, at: .now(), direction: direction,
            kind: kind)
    }

    func record(_ message: MessageRecord) { journal.tell(.message(message)) }

    func noteOnce(_ code: String, _ detail: String) {
        guard let connection, !connection.record.notes.contains(where: { $0.code == code }) else {
            return
        }
        connection.record.notes.append(ConnectionNote(code, detail))
    }
}
