internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Recording
internal import Sockets
internal import Traffic

extension ConnectionTask: MessageRecorder {
    var connectionNumber: Int64 { id }

    var messageCount: Int64 {
        get { record.messageCount }
        set { record.messageCount = newValue }
    }

    var notes: [ConnectionNote] {
        get { record.notes }
        set { record.notes = newValue }
    }

    func write(_ message: consuming MessageRecord) {
        worker.recorder.record(.message(message))
    }

    /// Begins the record of an exchange.
    ///
    /// - Parameter head: of the request, or what came in its place.
    func beginExchange(_ head: [UInt8], at startedAt: Timestamp) -> ExchangeRecorder {
        record.exchangeCount += 1
        noteTaken()
        return ExchangeRecorder(
            ExchangeRecord(
                id: nextExchangeNumber(), connection: id, startedAt: startedAt,
                scheme: session == nil ? .http : .https, authority: "", requestHead: head),
            to: worker.recorder, messages: self, byteLimit: policy.value.recordedBody)
    }

    /// Notes the trailers that do not pass on.
    func noteForbidden(_ trailers: Fields) {
        guard !trailers.slices.isEmpty else { return }
        let names = TrailerFields.forbidden(in: trailers)
        guard !names.isEmpty else { return }
        noteOnce(
            "forbidden-trailers",
            "fields that must not stand behind a content were not passed on: "
                + names.prefix(8).joined(separator: ", "))
    }

    /// Shows a WebSocket's recorder what passes.
    func observe(
        _ direction: Direction, _ bytes: Span<UInt8>, _ webSocket: WebSocketRecorder
    ) {
        let scratch = loop.buffers.take()
        defer { loop.buffers.give(scratch) }
        webSocket.observe(direction, bytes, scratch: scratch)
    }
}
