package import Base

/// The client's side of a WebSocket whose messages are known beforehand: each is due when the
/// origin has sent as many as it is to come behind.
///
/// Pings are answered, and the close of either side is (RFC 6455 §5.5). Not `Sendable`: one loop
/// drives it.
package final class WebSocketClientMachine {
    package enum Step {
        case send(Frame)
        /// Nothing, until something comes or so many milliseconds have brought nothing.
        case wait(UInt64)
        case end
    }

    /// What is sent in one frame.
    package struct Frame {
        package let opcode: WebSocketOpcode
        /// Of a close, its reason.
        package let content: [UInt8]
        /// Of a close.
        package let code: UInt16?
    }

    private struct PeerClose {
        let code: UInt16?
    }

    private let script: WebSocketScript
    private var reader = WebSocketReader(role: .server, extensions: nil)
    private var position = 0
    /// How many messages of the origin are whole.
    package private(set) var heard = 0
    private var heardBytes: UInt64 = 0
    private var replies: [Frame] = []
    private var peerClose: PeerClose?
    private var hasSentClose = false
    private var hasGivenUp = false
    private var isOver = false
    /// Whether the origin said more than it may.
    private var isFlooded = false

    package init(_ script: WebSocketScript) {
        self.script = script
    }

    /// Takes notice of what the handshake agreed on, before anything is received; `nil` for no
    /// compression.
    package func agree(on extensions: PerMessageDeflate?) {
        reader = WebSocketReader(
            role: .server, extensions: extensions,
            limits: WebSocketLimits(inflationLimit: script.heardLimit))
    }

    /// Whether everything was sent, and the origin has sent as many messages as it was to.
    package var isWhole: Bool {
        let rest = script.lines[position...]
        return !hasGivenUp && heard >= script.awaited && rest.allSatisfy(\.opcode.isControl)
    }

    /// How many messages were given to be sent.
    package var sent: Int { script.lines[..<position].count { !$0.opcode.isControl } }

    /// Rises with what is sent, and with content that comes: not with pings.
    package var progress: UInt64 { UInt64(position) + UInt64(heard) + heardBytes }

    // MARK: The origin

    /// - Parameter visit: gets to see what the origin says.
    package func receive(
        _ bytes: Span<UInt8>, scratch: ByteBuffer, _ visit: WebSocketReader.Visitor
    ) {
        reader.read(bytes, scratch: scratch) { event, content in
            // A few bytes unpack to much more, which nobody looks at any more.
            guard !isFlooded else { return }
            visit(event, content)
            take(event, content)
        }
    }

    private func take(_ event: WebSocketEvent, _ content: Span<UInt8>) {
        guard peerClose == nil else { return }
        switch event {
        case .content:
            hear(UInt64(content.count))
        case .messageEnd:
            heard += 1
            // Empty ones are bounded, too.
            hear(Self.messageCost)
        case .ping:
            // Whoever sends more of them does not wait for answers.
            guard replies.count < Self.replyLimit else { return }
            replies.append(Frame(opcode: .pong, content: Self.copy(content), code: nil))
        case .close(let code): peerClose = PeerClose(code: code)
        case .violation: isOver = true
        case .messageBegin, .pong, .raw: break
        }
    }

    private func hear(_ count: UInt64) {
        heardBytes += count
        guard heardBytes > script.heardLimit else { return }
        isFlooded = true
        isOver = true
    }

    private static let replyLimit = 64
    /// What a message counts beside its content, in bytes.
    private static let messageCost: UInt64 = 16

    private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
    }

    /// Takes notice that the origin sends nothing more.
    package func noteEnd() { isOver = true }

    /// Takes notice that waiting was in vain: what is left is not sent, but for a close.
    package func noteSilence() {
        if hasSentClose { isOver = true }
        hasGivenUp = hasGivenUp || !hasSentClose
    }

    // MARK: The client

    /// Whether nothing but the origin's close is waited for.
    package var isClosing: Bool { hasSentClose }

    /// Whether the origin has closed, so that nobody may be there for an answer.
    package var isClosedByOrigin: Bool { peerClose != nil }

    package func next() -> Step {
        if let peerClose {
            guard !hasSentClose else { return .end }
            let answer = script.lines[position...].first(where: \.awaitsClose)
            return close(answer?.code ?? peerClose.code, answer?.content ?? [])
        }
        if isOver { return .end }
        if !replies.isEmpty { return .send(replies.removeFirst()) }
        if hasSentClose { return .wait(WebSocketScript.closePatience) }
        if hasGivenUp { return close(Self.normalClosure, []) }
        guard position < script.lines.count else {
            return heard >= script.awaited
                ? close(Self.normalClosure, []) : .wait(script.patience)
        }
        let line = script.lines[position]
        guard heard >= line.awaited, !line.awaitsClose else { return .wait(line.patience) }
        position += 1
        if line.opcode == .close { return close(line.code, line.content) }
        return .send(Frame(opcode: line.opcode, content: line.content, code: nil))
    }

    private func close(_ code: UInt16?, _ reason: [UInt8]) -> Step {
        hasSentClose = true
        return .send(Frame(opcode: .close, content: reason, code: code))
    }

    /// RFC 6455 §7.4.1.
    private static let normalClosure: UInt16 = 1000
}

/// What a client says on a WebSocket, and what it waits for.
package struct WebSocketScript: Sendable {
    package struct Line: Sendable {
        /// Text, binary, ping or close.
        package let opcode: WebSocketOpcode
        /// Of a close, its reason.
        package var content: [UInt8]
        /// Of a close.
        package let code: UInt16?
        /// How many messages of the origin it comes behind.
        package let awaited: Int
        /// Whether it comes behind the origin's close.
        package let awaitsClose: Bool
        /// How long the origin may bring nothing before, in milliseconds.
        package let patience: UInt64

        package init(
            _ opcode: WebSocketOpcode, _ content: [UInt8], code: UInt16? = nil, awaited: Int,
            awaitsClose: Bool = false, patience: UInt64
        ) {
            self.opcode = opcode
            self.content = content
            self.code = code
            self.awaited = awaited
            self.awaitsClose = awaitsClose
            self.patience = patience
        }
    }

    package var lines: [Line] = []
    /// How many messages the client sends in all.
    package var messageCount: Int { lines.count { !$0.opcode.isControl } }
    /// How many messages the origin sends in all.
    package var awaited = 0
    /// How long it may bring nothing after the last line, in milliseconds.
    package var patience: UInt64 = 0
    /// Of its messages, in bytes, 16 for each beside its content: no dialogue goes on for ever.
    package var heardLimit: UInt64 = 16 << 20

    package init() {}

    /// How long the origin may take to answer a close, in milliseconds.
    static let closePatience: UInt64 = 5_000
}
