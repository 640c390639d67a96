internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Recording
internal import Traffic

/// One request and its answer, while they pass: what is recorded and kept of them, whatever version
/// of HTTP is spoken.
///
/// `@unchecked Sendable`: its tasks run on its loop's executor.
final class ClientExchange: @unchecked Sendable {
    let request: ClientRequest
    let configuration: ClientConfiguration
    let longHeads: LongHeadLedger
    let recorder: TrafficRecorder
    let recording: ExchangeRecorder
    /// Takes the messages of its connection, `nil` if there is none, or nothing is recorded.
    let messages: ClientMessages?
    private var kept: [UInt8] = []
    /// Whether nobody wants more of the content.
    private(set) var isDeclined = false
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
        configuration = client.configuration
        let recorder = client.recorder
        self.recorder = recorder
        longHeads = client.origins.longHeads
        messages = recorder.isRecording ? connection.map { ClientMessages($0, recorder) } : nil
        var record = ExchangeRecord(
            id: recorder.numbers.nextExchange(), connection: connection?.record.id ?? 0,
            startedAt: start, scheme: request.target.scheme,
            authority: request.target.authority)
        record.requestHead = request.head
        recording = ExchangeRecorder(
            record, to: recorder, messages: messages,
            byteLimit: recorder.isRecording ? .max : 0)
    }

    var record: ExchangeRecord {
        get { recording.record }
        set { recording.record = newValue }
    }

    var isAnswered: Bool { !record.responseHead.isEmpty || !record.interimHeads.isEmpty }

    // MARK: The request

    /// How much of the content was sent, in bytes.
    var sentSize: Int64 { recording.size(.request) }

    /// The next piece of the content to send, which is recorded with this; empty at the end, and
    /// when it cannot be read.
    ///
    /// - Parameter end: what it does not go beyond, in bytes from the content's start.
    func nextPiece(upTo end: Int64 = .max) -> [UInt8] {
        if ahead.isEmpty { ahead = readAhead()[...] }
        let piece = Array(ahead.prefix(Int(clamping: end - sentSize)))
        ahead = ahead.dropFirst(piece.count)
        recording.append(piece.span, .request)
        return piece
    }

    private func readAhead() -> [UInt8] {
        switch request.content {
        case .bytes(let bytes): return sentSize == 0 ? bytes : []
        case .pieces(let read):
            do throws(Failure) {
                return try read(sentSize).get()
            } catch {
                contentFailure = error
                return []
            }
        }
    }

    /// Takes notice of the fields that tell what the content is.
    func noteSending(_ fields: Fields) {
        recording.watchContent(behind: fields, .request)
    }

    /// Sends nothing more of the content.
    func giveUp(_ failure: Failure) { contentFailure = failure }

    // MARK: The answer

    /// Takes a head down.
    ///
    /// - Returns: whether it is the final one.
    func take(_ head: ResponseHead) throws(Failure) -> Bool {
        if !head.isInterim {
            recording.note(head)
            recording.watchContent(behind: head.fields, .response)
            if let reception = request.reception { isDeclined = !reception.take(head) }
            return true
        }
        record.interimHeads.append(head.raw)
        guard record.interimHeads.count <= InterimLimits.count else {
            throw failure(
                "origin-violation", "more than \(InterimLimits.count) interim responses")
        }
        request.reception?.takeInterim(head)
        return false
    }

    /// Takes a piece of the answer's content down.
    func take(_ piece: Span<UInt8>) {
        recording.append(piece, .response)
        if let reception = request.reception {
            if !isDeclined { reception.take(piece) }
            return
        }
        let count = min(piece.count, configuration.keptContentLimit - kept.count)
        unsafe piece.extracting(..<count).withUnsafeBufferPointer {
            unsafe kept.append(contentsOf: $0)
        }
        if count < piece.count, configuration.endsBeyondKept { isDeclined = true }
    }

    /// Waits until the next piece may come.
    ///
    /// - Returns: whether it is wanted.
    func waitForRoom() async -> Bool {
        await recorder.waitForRoom()
        guard let reception = request.reception, !isDeclined else { return !isDeclined }
        isDeclined = !(await reception.waitForRoom())
        return !isDeclined
    }

    func answer(_ head: ResponseHead, trailers: Fields) -> ClientResponse {
        recording.noteTrailers(trailers.raw, .response)
        var answer = ClientResponse(
            head: head, content: kept, isCut: Int64(kept.count) < recording.size(.response),
            trailers: trailers)
        answer.isDeclined = isDeclined
        return answer
    }

    // MARK: The end

    func failure(_ code: String, _ detail: String) -> Failure {
        Failure(code, party: .origin, "\(request.target.authority): \(detail)")
    }

    func end(_ failure: Failure?) { recording.finish(error: failure?.code, failure?.detail) }
}
