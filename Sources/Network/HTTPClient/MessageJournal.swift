internal import Base
internal import HTTPCodecs
internal import Traffic

/// Records the messages of a WebSocket.
///
/// Not `Sendable`: it lives on the client's loop.
final class MessageJournal {
    private let stream: any ClientWebSocketStream
    private let exchange: Int64
    private let journal: ClientJournal
    /// The origin's message that is not whole yet.
    private var open: MessageRecord?

    /// In bytes, as the proxy cuts longer messages.
    private static let partSize = 256 << 10

    init(on stream: any ClientWebSocketStream, exchange: Int64, _ journal: ClientJournal) {
        self.stream = stream
        self.exchange = exchange
        self.journal = journal
    }

    /// Takes down what the client is about to say.
    func noteSent(_ frame: WebSocketClientMachine.Frame) {
        let kind: MessageRecord.Kind =
            switch frame.opcode {
            case .text: .text
            case .binary, .continuation: .binary
            case .close: .close
            case .ping: .ping
            case .pong: .pong
            }
        var message = begin(kind, .request)
        if frame.opcode == .close { message.detail = Self.words(frame.code, frame.content.text) }
        append(frame.content.span, to: &message)
        tell(message)
    }

    /// Takes down what the origin said.
    func note(_ event: WebSocketEvent, _ content: Span<UInt8>) {
        switch event {
        case .messageBegin(let kind, _):
            open = begin(kind == .text ? .text : .binary, .response)
        case .content:
            guard var message = open.take() else { return }
            append(content, to: &message)
            open = message
        case .messageEnd(let end):
            open?.isTruncated = end.isTruncated
            if let message = open.take() { tell(message) }
        case .ping: record(.ping, content)
        case .pong: record(.pong, content)
        case .close(let code):
            let reason = unsafe content.withUnsafeBufferPointer { unsafe $0.text }
            record(.close, content, detail: Self.words(code, reason))
        case .violation(let violation, _): record(.segment, Span(), detail: violation.detail)
        case .raw: record(.segment, content)
        }
    }

    /// Ends a message that the connection's end has cut.
    func finish() {
        guard var message = open.take() else { return }
        message.detail = "cut: the message did not end"
        tell(message)
    }

    private static func words(_ code: UInt16?, _ reason: String) -> String {
        code.map { reason.isEmpty ? "\($0)" : "\($0) \(reason)" } ?? "no code"
    }

    private func begin(_ kind: MessageRecord.Kind, _ direction: Direction) -> MessageRecord {
        // Those of all its WebSockets are counted together.
        stream.record.messageCount += 1
        return MessageRecord(
            connection: stream.record.id, exchange: exchange, number: stream.record.messageCount,
            at: .now(), direction: direction, kind: kind)
    }

    private func record(
        _ kind: MessageRecord.Kind, _ content: Span<UInt8>, detail: String = ""
    ) {
        var message = begin(kind, .response)
        message.detail = detail
        append(content, to: &message)
        tell(message)
    }

    private func append(_ content: Span<UInt8>, to message: inout MessageRecord) {
        var taken = 0
        while taken < content.count {
            if message.bytes.count == Self.partSize {
                message.isLast = false
                tell(message)
                message.part += 1
                message.isLast = true
                message.bytes = []
            }
            let count = min(content.count - taken, Self.partSize - message.bytes.count)
            unsafe content.extracting(taken..<taken + count).withUnsafeBufferPointer {
                unsafe message.bytes.append(contentsOf: $0)
            }
            taken += count
        }
    }

    private func tell(_ message: MessageRecord) {
        var message = message
        message.at = .now()
        message.size = Int64(message.bytes.count)
        journal.tell(.message(message))
    }
}
