internal import Base
package import HTTPCodecs
package import Traffic

/// Records the messages of a WebSocket as its readers tell them.
///
/// Not `Sendable`: it belongs to whoever reads the frames.
package final class WebSocketMessageRecorder {
    private let recorder: any MessageRecorder
    private let exchange: Int64
    /// Of contents that are recorded, in bytes; bytes past it are counted.
    package var byteLimit: Int64
    /// By `Direction.rawValue`.
    private var open: [2 of OpenMessage?] = [nil, nil]
    /// Bytes of contents that were recorded.
    package private(set) var recordedBytes: Int64 = 0

    package init(_ recorder: any MessageRecorder, exchange: Int64, byteLimit: Int64 = .max) {
        self.recorder = recorder
        self.exchange = exchange
        self.byteLimit = byteLimit
    }

    /// Ends messages that the connection's end has cut.
    package func finish() {
        for direction in [Direction.request, .response] {
            end(direction, brokenBy: "cut: the message did not end")
        }
    }

    package func note(_ event: WebSocketEvent, _ content: Span<UInt8>, _ direction: Direction) {
        switch event {
        case .messageBegin(let kind, _):
            open[direction.rawValue] = OpenMessage(
                recorder.nextMessage(
                    kind == .text ? .text : .binary, direction, exchange: exchange))
        case .content: append(content, direction)
        case .messageEnd(let end):
            if end.isTruncated { open[direction.rawValue]?.record.isTruncated = true }
            self.end(direction)
        case .ping: record(.ping, content, direction)
        case .pong: record(.pong, content, direction)
        case .close(let code):
            let reason = content.count > 0 ? " " + text(content) : ""
            record(.close, content, direction, detail: code.map { "\($0)\(reason)" } ?? "no code")
        case .violation(let violation, let offset):
            recorder.noteOnce(
                "websocket-\(violation.code)",
                "\(direction == .request ? "client" : "origin"): \(violation.detail),"
                    + " at byte \(offset)")
            end(direction, brokenBy: "broken")
        case .raw: record(.segment, content, direction)
        }
    }

    private func append(_ content: Span<UInt8>, _ direction: Direction) {
        guard var message = open[direction.rawValue].take() else { return }
        add(content, to: &message)
        open[direction.rawValue] = message
    }

    private func add(_ bytes: Span<UInt8>, to message: inout OpenMessage) {
        let kept = Int(min(max(0, byteLimit - recordedBytes), Int64(bytes.count)))
        recordedBytes += Int64(kept)
        message.append(bytes, keeping: kept, recorder.record)
    }

    /// - Parameter reason: why the message is not whole, if it is not.
    private func end(_ direction: Direction, brokenBy reason: String = "") {
        guard var message = open[direction.rawValue].take() else { return }
        message.record.detail = reason
        recorder.record(message.record)
    }

    /// Records a message that is whole.
    package func record(
        _ kind: MessageRecord.Kind, _ content: Span<UInt8>, _ direction: Direction,
        detail: String = ""
    ) {
        var message = OpenMessage(recorder.nextMessage(kind, direction, exchange: exchange))
        message.record.detail = detail
        add(content, to: &message)
        recorder.record(message.record)
    }

    private func text(_ content: Span<UInt8>) -> String {
        unsafe content.withUnsafeBufferPointer { unsafe $0.text }
    }
}
