package import Base

/// Tells the messages of one direction of a WebSocket from its bytes as they pass (RFC 6455,
/// RFC 7692); it changes none of them.
///
/// It never fails: what breaks the protocol is an event, after which all that follows is raw. It
/// holds at most the head of a frame and the payload of a control frame, and with compression the
/// window of zlib. Not `Sendable`: one task uses it.
package struct WebSocketReader: ~Copyable {
    /// Gets an event and the bytes that belong to it, which live no longer than the call.
    package typealias Visitor = (WebSocketEvent, Span<UInt8>) -> Void

    private enum Phase {
        case head
        case content
        case control
        case raw
    }

    /// The longest piece of content that a visitor gets, in bytes.
    static let pieceLimit = 65_536

    private let role: WebSocketRole
    private let limits: WebSocketLimits
    private let compresses: Bool
    /// How many bytes were read.
    package private(set) var offset: UInt64 = 0

    private var phase = Phase.head
    /// The start of the frame's head as far as it came, or a control frame's payload.
    private var held: InlineArray<128, UInt8> = .init(repeating: 0)
    private var heldCount = 0

    // The frame
    private var frame: WebSocketFrameHead
    private var frameOffset: UInt64 = 0
    /// What is left of its payload.
    private var remaining: UInt64 = 0
    private var mask = WebSocketMask(0)
    private var sawClose = false

    private var message: WebSocketContentReader

    /// - Parameters:
    ///   - role: who sends what it reads.
    ///   - extensions: what the handshake agreed on, `nil` if there is no compression.
    package init(
        role: WebSocketRole, extensions: PerMessageDeflate?,
        limits: WebSocketLimits = WebSocketLimits()
    ) {
        self.role = role
        self.limits = limits
        compresses = extensions != nil
        frame = WebSocketFrameHead(opcode: .binary)
        let resets = role == .client ? extensions?.clientResets : extensions?.serverResets
        message = WebSocketContentReader(limits: limits, resetsContext: resets ?? false)
    }

    /// Whether neither a frame nor a message is open, as it should be at the end.
    package var isAtBoundary: Bool {
        phase == .head && heldCount == 0 && !message.isOpen
    }

    /// Reads all of `bytes` and tells what it saw.
    ///
    /// - Parameter scratch: holds pieces that are unmasked or unpacked while the visitor sees them;
    ///   empty before and after. A piece is no longer than its capacity.
    package mutating func read(
        _ bytes: Span<UInt8>, scratch: ByteBuffer, _ visit: Visitor
    ) {
        precondition(scratch.isEmpty, "the scratch buffer holds something")
        var position = 0
        while position < bytes.count {
            let rest = bytes.extracting(position..<bytes.count)
            let count: Int
            switch phase {
            case .head: count = takeHead(rest, visit)
            case .content: count = takeContent(rest, scratch, visit)
            case .control: count = takeControl(rest, visit)
            case .raw:
                count = rest.count
                visit(.raw, rest)
            }
            position &+= count
            offset &+= UInt64(count)
        }
    }

    // MARK: Heads

    /// Takes a head, or as much of it as there is; returns how many bytes it took.
    private mutating func takeHead(_ bytes: Span<UInt8>, _ visit: Visitor) -> Int {
        if heldCount == 0 {
            frameOffset = offset
            if bytes.count >= 2 {
                let size = WebSocketFrameHead.size(bytes[1])
                if bytes.count >= size {
                    let violation = begin(bytes.extracting(0..<size), visit)
                    if let violation { return stop(violation, visit) }
                    return size
                }
            }
        }
        return takePartOfHead(bytes, visit)
    }

    private mutating func takePartOfHead(_ bytes: Span<UInt8>, _ visit: Visitor) -> Int {
        var taken = 0
        while taken < bytes.count, heldCount < 2 || heldCount < WebSocketFrameHead.size(held[1]) {
            held[heldCount] = bytes[taken]
            heldCount &+= 1
            taken &+= 1
            if heldCount == 2, let violation = violation(held[0], held[1]) {
                stopAtHeld(violation, visit)
                return taken
            }
        }
        guard heldCount >= 2, heldCount == WebSocketFrameHead.size(held[1]) else { return taken }
        let head = held
        let violation = begin(head.span.extracting(0..<heldCount), visit)
        if let violation {
            stopAtHeld(violation, visit)
        } else {
            heldCount = 0
        }
        return taken
    }

    /// Stops with a head that came in pieces, which is raw.
    private mutating func stopAtHeld(_ violation: WebSocketViolation, _ visit: Visitor) {
        _ = stop(violation, visit)
        let head = held
        visit(.raw, head.span.extracting(0..<heldCount))
        heldCount = 0
    }

    /// What the first two bytes of a head break.
    @inline(__always)
    private func violation(_ first: UInt8, _ second: UInt8) -> WebSocketViolation? {
        if let found = WebSocketFrameHead.violation(
            first, second, from: role, compresses: compresses)
        {
            return found
        }
        switch first & 15 {
        case 0: return message.isOpen ? nil : .unexpectedContinuation
        case 1, 2: return message.isOpen ? .missingContinuation : sawClose ? .dataAfterClose : nil
        default: return nil
        }
    }

    /// Begins the frame with this head.
    @inline(__always)
    private mutating func begin(_ bytes: Span<UInt8>, _ visit: Visitor) -> WebSocketViolation? {
        if let found = violation(bytes[0], bytes[1]) { return found }
        let head = WebSocketFrameHead(bytes)
        guard head.length >> 63 == 0, limits.allowsLongLengths || !head.isLong(bytes[1]) else {
            return .invalidLength
        }
        frame = head
        remaining = head.length
        mask = WebSocketMask(head.mask)
        if head.opcode.isControl {
            phase = .control
            heldCount = 0
            if remaining == 0 { endControl(visit) }
            return nil
        }
        phase = .content
        if head.opcode != .continuation {
            let kind: WebSocketMessageKind = head.opcode == .text ? .text : .binary
            message.begin(kind, isCompressed: head.isCompressed)
            let nothing = Span<UInt8>()
            visit(.messageBegin(kind, isCompressed: head.isCompressed), nothing)
        }
        if remaining == 0 { endContent(visit) }
        return nil
    }

    // MARK: Payloads

    private mutating func takeContent(
        _ bytes: Span<UInt8>, _ scratch: ByteBuffer, _ visit: Visitor
    ) -> Int {
        let count = Int(min(remaining, UInt64(bytes.count)))
        let payload = bytes.extracting(0..<count)
        let (taken, violation) = message.take(payload, &mask, frame.isMasked, scratch, visit)
        remaining &-= UInt64(taken)
        if let violation {
            _ = stop(violation, visit)
        } else if remaining == 0 {
            endContent(visit)
        }
        return taken
    }

    private mutating func endContent(_ visit: Visitor) {
        phase = .head
        guard frame.isFinal else { return }
        if let violation = message.end(visit) { _ = stop(violation, visit) }
    }

    private mutating func takeControl(_ bytes: Span<UInt8>, _ visit: Visitor) -> Int {
        let count = Int(min(remaining, UInt64(bytes.count)))
        for index in 0..<count {
            let key = UInt8(truncatingIfNeeded: frame.mask >> UInt32((heldCount & 3) * 8))
            held[heldCount] = bytes[index] ^ key
            heldCount &+= 1
        }
        remaining &-= UInt64(count)
        if remaining == 0 { endControl(visit) }
        return count
    }

    private mutating func endControl(_ visit: Visitor) {
        let payload = held
        let bytes = payload.span.extracting(0..<heldCount)
        heldCount = 0
        phase = .head
        switch frame.opcode {
        case .ping: visit(.ping, bytes)
        case .pong: visit(.pong, bytes)
        default: close(bytes, visit)
        }
    }

    /// Tells a close frame as it is; then what is wrong with it (RFC 6455 §5.5.1).
    private mutating func close(_ payload: Span<UInt8>, _ visit: Visitor) {
        sawClose = true
        guard payload.count >= 2 else {
            visit(.close(code: nil), payload)
            if payload.count == 1 { _ = stop(.invalidClosePayload, visit) }
            return
        }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        let reason = payload.extracting(2..<payload.count)
        visit(.close(code: code), reason)
        var text = UTF8Machine()
        if !Self.mayBeSent(code) {
            _ = stop(.invalidClosePayload, visit)
        } else if text.take(reason) < reason.count || !text.isComplete {
            _ = stop(.invalidText, visit)
        }
    }

    /// RFC 6455 §7.4 and the registry of close codes.
    private static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// Stops reading; returns 0, the bytes that this takes.
    private mutating func stop(_ violation: WebSocketViolation, _ visit: Visitor) -> Int {
        phase = .raw
        let nothing = Span<UInt8>()
        visit(.violation(violation, offset: frameOffset), nothing)
        return 0
    }
}

extension WebSocketFrameHead {
    /// Stands where no frame was read yet.
    fileprivate init(opcode: WebSocketOpcode) {
        self.opcode = opcode
        isFinal = true
        isCompressed = false
        mask = 0
        isMasked = false
        length = 0
    }
}
