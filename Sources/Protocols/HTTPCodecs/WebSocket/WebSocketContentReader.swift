internal import Base

/// The content of one direction's messages: unmasked, unpacked, judged as text, counted and cut.
struct WebSocketContentReader: ~Copyable {
    private let limits: WebSocketLimits
    /// Whether the sender packs each message by itself.
    private let resetsContext: Bool
    /// Made for the first message that is packed.
    private var inflater: MessageInflateSession?
    private(set) var isOpen = false
    private var isCompressed = false
    private var isText = false
    private var text = UTF8Machine()
    /// Of the open message's content so far, in bytes.
    private var size: UInt64 = 0

    init(limits: WebSocketLimits, resetsContext: Bool) {
        self.limits = limits
        self.resetsContext = resetsContext
    }

    mutating func begin(_ kind: WebSocketMessageKind, isCompressed: Bool) {
        isOpen = true
        self.isCompressed = isCompressed
        isText = kind == .text
        text = UTF8Machine()
        size = 0
        guard isCompressed else { return }
        if let inflater {
            if resetsContext { inflater.reset() }
        } else {
            inflater = MessageInflateSession()
        }
    }

    /// Takes a piece of a frame's payload.
    ///
    /// - Returns: how many bytes it took; all, if nothing is wrong with them.
    mutating func take(
        _ payload: Span<UInt8>, _ mask: inout WebSocketMask, _ isMasked: Bool,
        _ scratch: ByteBuffer, _ visit: WebSocketReader.Visitor
    ) -> (taken: Int, violation: WebSocketViolation?) {
        if isCompressed {
            return takePacked(payload, &mask, isMasked, scratch, visit)
        }
        if !isText, size >= limits.contentLimit {
            skip(payload.count, &mask)
            return (payload.count, nil)
        }
        let limit =
            isMasked
            ? min(WebSocketReader.pieceLimit, scratch.capacity)
            : WebSocketReader.pieceLimit
        var taken = 0
        while taken < payload.count {
            let piece = payload.extracting(taken..<min(payload.count, taken &+ limit))
            let valid: Int
            if isMasked {
                fill(scratch, piece, &mask)
                valid = give(scratch.readable, visit)
                scratch.removeAll()
            } else {
                valid = give(piece, visit)
            }
            taken &+= valid
            if valid < piece.count { return (taken, .invalidText) }
        }
        return (taken, nil)
    }

    /// Ends the open message, and says what is wrong with it.
    mutating func end(_ visit: WebSocketReader.Visitor) -> WebSocketViolation? {
        isOpen = false
        if isCompressed, inflater?.finishMessage() != true { return .invalidDeflate }
        if isText, !text.isComplete { return .invalidText }
        let nothing = Span<UInt8>()
        visit(
            .messageEnd(WebSocketMessageEnd(size: size, isTruncated: size > limits.contentLimit)),
            nothing)
        return nil
    }

    /// Passes over bytes that nobody wants to see.
    private mutating func skip(_ count: Int, _ mask: inout WebSocketMask) {
        size &+= UInt64(count)
        mask.turn(by: count)
    }

    /// Counts a piece and gives what may be given of it; returns how much of it is sound.
    @inline(__always)
    private mutating func give(_ piece: Span<UInt8>, _ visit: WebSocketReader.Visitor) -> Int {
        let valid = isText ? text.take(piece) : piece.count
        let room = limits.contentLimit > size ? limits.contentLimit &- size : 0
        let count = Int(min(room, UInt64(valid)))
        if count > 0 { visit(.content, piece.extracting(0..<count)) }
        size &+= UInt64(valid)
        return valid
    }

    @inline(__always)
    private func fill(_ scratch: ByteBuffer, _ piece: Span<UInt8>, _ mask: inout WebSocketMask) {
        _ = unsafe scratch.fill { room in
            unsafe mask.apply(piece, to: room)
            return piece.count
        }
    }

    // MARK: Compression

    private mutating func takePacked(
        _ payload: Span<UInt8>, _ mask: inout WebSocketMask, _ isMasked: Bool,
        _ scratch: ByteBuffer, _ visit: WebSocketReader.Visitor
    ) -> (taken: Int, violation: WebSocketViolation?) {
        guard isMasked else { return inflate(payload, scratch, visit) }
        var taken = 0
        while taken < payload.count {
            let end = min(payload.count, taken &+ packedPieceLength)
            let piece = payload.extracting(taken..<end)
            let result = unsafe withUnsafeTemporaryAllocation(
                byteCount: packedPieceLength, alignment: 16
            ) { room in
                unsafe mask.apply(piece, to: room)
                let packed = unsafe UnsafeRawBufferPointer(rebasing: room[..<piece.count])
                return unsafe inflate(
                    Span(_unsafeBytes: packed), scratch, visit)
            }
            taken &+= result.taken
            if let violation = result.violation { return (taken, violation) }
        }
        return (taken, nil)
    }

    private mutating func inflate(
        _ packed: Span<UInt8>, _ scratch: ByteBuffer, _ visit: WebSocketReader.Visitor
    ) -> (taken: Int, violation: WebSocketViolation?) {
        guard let inflater else { return (0, .invalidDeflate) }
        let limit = min(WebSocketReader.pieceLimit, scratch.capacity)
        var taken = 0
        while true {
            let input = packed.extracting(taken..<packed.count)
            var step = MessageInflateSession.Step(consumed: 0, produced: 0, isCorrupt: false)
            _ = unsafe scratch.fill { room in
                step = unsafe inflater.decode(
                    input, into: UnsafeMutableRawBufferPointer(rebasing: room[..<limit]))
                return step.produced
            }
            taken &+= step.consumed
            let valid = give(scratch.readable, visit)
            scratch.removeAll()
            if valid < step.produced { return (taken, .invalidText) }
            if step.isCorrupt { return (taken, .invalidDeflate) }
            if size > limits.inflationLimit { return (taken, .inflatesTooFar) }
            if step.produced < limit, taken == packed.count || step.consumed == 0 {
                return (taken, taken == packed.count ? nil : .invalidDeflate)
            }
        }
    }
}

/// How many packed bytes are unmasked at once, on the stack.
private let packedPieceLength = 4096
