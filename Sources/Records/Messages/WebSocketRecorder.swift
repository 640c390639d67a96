package import Base
internal import HTTPCodecs
package import HTTPModel
package import Traffic

/// Records the messages of a WebSocket while its frames pass, untouched.
///
/// `@unchecked Sendable`: both directions pass on one executor, or on one thread.
package final class WebSocketRecorder: @unchecked Sendable {
    private let recorder: any MessageRecorder
    private let exchange: Int64
    /// Of contents that are kept, in bytes; what is beyond is counted.
    package var byteLimit: Int64
    /// Whether the handshake agreed on compression, for which each side's last 32 KiB are held.
    package let isCompressed: Bool
    private var client: WebSocketReader
    private var origin: WebSocketReader
    /// By `Direction.rawValue`.
    private var open: [2 of MessageRecord?] = [nil, nil]
    /// Bytes of contents that were recorded.
    package private(set) var recordedBytes: Int64 = 0

    /// In bytes: longer messages are recorded in parts of this size.
    private static let partSize = 256 << 10

    /// - Parameter response: the origin's 101, or 2xx to an extended CONNECT.
    package init(
        _ recorder: any MessageRecorder, exchange: Int64, response: ResponseHead, byteLimit: Int64
    ) {
        self.recorder = recorder
        self.exchange = exchange
        self.byteLimit = byteLimit
        let offered = response.fields.all(named: "sec-websocket-extensions")
        let extensions =
            offered.isEmpty
            ? nil
            : PerMessageDeflate(responseField: [UInt8](offered.joined(separator: [0x2C]))[...])
        isCompressed = extensions != nil
        client = WebSocketReader(role: .client, extensions: extensions)
        origin = WebSocketReader(role: .server, extensions: extensions)
    }

    /// Whether a response begins a WebSocket.
    package static func isBegun(by response: ResponseHead, asked request: RequestHead?) -> Bool {
        if response.status == 101 { return response.fields.contains(.upgrade, token: "websocket") }
        let asked = request?.fields.first(named: ":protocol")
        return response.status / 100 == 2 && asked?.equalsIgnoringCase("websocket") ?? false
    }

    /// - Parameter scratch: empty before and after.
    package func observe(_ direction: Direction, _ bytes: Span<UInt8>, scratch: ByteBuffer) {
        switch direction {
        case .request: client.read(bytes, scratch: scratch) { note($0, $1, direction) }
        case .response: origin.read(bytes, scratch: scratch) { note($0, $1, direction) }
        }
    }

    /// Ends messages that the connection's end has cut.
    package func finish() {
        for direction in [Direction.request, .response] {
            end(direction, brokenBy: "cut: the message did not end")
        }
    }

    private func note(_ event: WebSocketEvent, _ content: Span<UInt8>, _ direction: Direction) {
        switch event {
        case .messageBegin(let kind, _):
            open[direction.rawValue] = recorder.nextMessage(
                kind == .text ? .text : .binary, direction, exchange: exchange)
        case .content: append(content, direction)
        case .messageEnd(let end):
            if end.isTruncated { open[direction.rawValue]?.isTruncated = true }
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
        var taken = 0
        while taken < content.count {
            let piece = min(content.count - taken, Self.partSize - Int(message.size))
            // A part behind the first will most likely be full.
            if message.part > 0, message.bytes.isEmpty {
                message.bytes.reserveCapacity(Self.partSize)
            }
            add(content.extracting(taken..<taken + piece), to: &message)
            taken += piece
            if message.size >= Self.partSize {
                message.isLast = false
                recorder.record(message)
                message.part += 1
                message.isLast = true
                message.size = 0
                message.bytes = []
            }
        }
        open[direction.rawValue] = message
    }

    private func add(_ bytes: Span<UInt8>, to message: inout MessageRecord) {
        let room = max(0, byteLimit - recordedBytes)
        let kept = Int(min(room, Int64(bytes.count)))
        message.size += Int64(bytes.count)
        message.isTruncated = message.isTruncated || kept < bytes.count
        recordedBytes += Int64(kept)
        unsafe bytes.extracting(..<kept).withUnsafeBufferPointer {
            unsafe message.bytes.append(contentsOf: $0)
        }
    }

    /// - Parameter reason: why the message is not whole, if it is not.
    private func end(_ direction: Direction, brokenBy reason: String = "") {
        guard var message = open[direction.rawValue].take() else { return }
        message.detail = reason
        recorder.record(message)
    }

    private func record(
        _ kind: MessageRecord.Kind, _ content: Span<UInt8>, _ direction: Direction,
        detail: String = ""
    ) {
        var message = recorder.nextMessage(kind, direction, exchange: exchange)
        message.detail = detail
        add(content, to: &message)
        recorder.record(message)
    }

    private func text(_ content: Span<UInt8>) -> String {
        unsafe content.withUnsafeBufferPointer { unsafe $0.text }
    }
}
