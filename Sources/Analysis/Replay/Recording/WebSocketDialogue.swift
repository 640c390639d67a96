internal import Base
internal import HTTPCodecs
internal import Traffic

/// The origin's side of a recorded WebSocket: its messages are framed anew, each when the client
/// has sent as many as it had before.
///
/// `@unchecked Sendable`: one loop drives it.
final class WebSocketDialogue: ReplayDialogue, @unchecked Sendable {
    private let lines: [DialogueScript.Line]
    private let clock: ReplayClock
    private var reader = WebSocketReader(role: .client, extensions: nil)
    private let scratch = ByteBuffer(capacity: 4096)
    private var position = 0
    /// Messages of the client that have come, and that the play has passed over.
    private var heard = 0
    private var expected = 0
    /// Answers to the client's pings and its close.
    private var replies: [UInt8] = []
    private var isOver = false
    private var hasSentClose = false

    init(_ script: DialogueScript, _ options: ReplayOptions) {
        lines = script.lines
        clock = ReplayClock(options)
    }

    func receive(_ bytes: Span<UInt8>) {
        reader.read(bytes, scratch: scratch) { event, content in
            switch event {
            case .messageEnd: heard += 1
            case .ping: WebSocketWriter.write(.pong, content, into: &replies)
            case .close(let code):
                if !hasSentClose {
                    WebSocketWriter.writeClose(code: code, reason: content, into: &replies)
                }
                isOver = true
            case .violation, .raw: isOver = true
            case .messageBegin, .content, .pong: break
            }
        }
    }

    func noteEnd() { isOver = true }

    func next() -> ReplayDialogueStep {
        if !replies.isEmpty {
            defer { replies = [] }
            return .send(replies)
        }
        if isOver { return .end }
        while position < lines.count {
            let line = lines[position]
            if line.direction == .request {
                if line.kind == .text || line.kind == .binary { expected += 1 }
                position += 1
                continue
            }
            guard heard >= expected else { return .needMore }
            if let time = clock.wait(until: line.due) { return .pause(time) }
            position += 1
            if let frame = frame(of: line) { return .send(frame) }
        }
        return hasSentClose ? .end : .needMore
    }

    private func frame(of line: DialogueScript.Line) -> [UInt8]? {
        var frame: [UInt8] = []
        switch line.kind {
        case .text: WebSocketWriter.write(.text, line.bytes.span, into: &frame)
        case .binary: WebSocketWriter.write(.binary, line.bytes.span, into: &frame)
        case .ping: WebSocketWriter.write(.ping, line.bytes.span, into: &frame)
        case .close:
            let code = UInt16(line.detail.prefix { $0 != " " })
            WebSocketWriter.writeClose(code: code, reason: line.bytes.span, into: &frame)
            hasSentClose = true
        // A pong answers the ping of another time.
        case .pong, .segment, .grpc, .event, .frame, .datagram: return nil
        }
        return frame
    }
}
