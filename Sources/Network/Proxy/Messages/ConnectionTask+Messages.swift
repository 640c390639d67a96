internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Messages
internal import Sockets
internal import Traffic

extension ConnectionTask: MessageRecorder {
    func nextMessage(
        _ kind: MessageRecord.Kind, _ direction: Direction, exchange: Int64?
    ) -> MessageRecord {
        record.messageCount += 1
        return MessageRecord(
            connection: id, exchange: exchange, number: record.messageCount, at: .now(),
            direction: direction, kind: kind)
    }

    func record(_ message: MessageRecord) {
        var message = message
        message.at = .now()
        lane.recorder.record(.message(message))
    }

    func noteOnce(_ code: String, _ detail: String) {
        guard record.notes.count < 64, !record.notes.contains(where: { $0.code == code }) else {
            return
        }
        record.notes.append(ConnectionNote(code, detail))
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
