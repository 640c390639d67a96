package import Base
internal import HTTPCodecs
package import HTTPModel
package import Traffic

/// Records the messages of a WebSocket while its frames pass, untouched.
///
/// `@unchecked Sendable`: both directions pass on one executor, or on one thread.
package final class WebSocketRecorder: @unchecked Sendable {
    private let messages: WebSocketMessageRecorder
    /// Whether the handshake agreed on compression, for which each side's last 32 KiB are held.
    package let isCompressed: Bool
    private var client: WebSocketReader
    private var origin: WebSocketReader
    private var closed: Set<Direction> = []
    /// Whether Close has passed both ways: what becomes of the connection then cuts nothing
    /// (RFC 6455 §7.1.1).
    package var isClosed: Bool { closed.count == 2 }

    /// - Parameter response: the origin's 101, or 2xx to an extended CONNECT.
    package init(
        _ recorder: any MessageRecorder, exchange: Int64, response: ResponseHead, byteLimit: Int64
    ) {
        messages = WebSocketMessageRecorder(recorder, exchange: exchange, byteLimit: byteLimit)
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

    private func note(_ event: WebSocketEvent, _ content: Span<UInt8>, _ direction: Direction) {
        if case .close = event { closed.insert(direction) }
        messages.note(event, content, direction)
    }

    /// Of contents that are recorded, in bytes; bytes past it are counted.
    package var byteLimit: Int64 {
        get { messages.byteLimit }
        set { messages.byteLimit = newValue }
    }

    package var recordedBytes: Int64 { messages.recordedBytes }

    /// Ends messages that the connection's end has cut.
    package func finish() { messages.finish() }
}
