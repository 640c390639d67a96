internal import CCompression

/// Owns a zlib inflater for the messages of one direction of permessage-deflate (RFC 7692 §7.2.2).
///
/// Unlike `InflateSession` it writes to memory that is lent, so that nothing is copied and an idle
/// connection holds no more than its window. Not `Sendable`: one task uses it.
@safe
final class MessageInflateSession {
    struct Step {
        /// Bytes of the input that it took.
        var consumed: Int
        /// Bytes that it wrote.
        var produced: Int
        var isCorrupt: Bool
    }

    /// The longest, whatever was agreed: it reads all that shorter ones were used for, and what is
    /// corrupt does not depend on how the input was cut.
    private static let rawWindow: Int32 = -15
    /// What a sender leaves out of each message (RFC 7692 §7.2.1).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
    /// zlib's sign that it stands between two blocks.
    private static let betweenBlocks: Int32 = 128

    private let stream: UnsafeMutablePointer<z_stream>
    private let isOpen: Bool
    /// Whether a block that called itself the last one has ended.
    private var isAtEnd = false

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        isOpen = unsafe compression_inflate_init(stream, Self.rawWindow) == Z_OK
    }

    deinit {
        if isOpen { unsafe inflateEnd(stream) }
        unsafe stream.deallocate()
    }

    /// Forgets all that came before; for a sender that does not take its context over.
    func reset() {
        isAtEnd = false
        if isOpen { unsafe inflateReset(stream) }
    }

    /// Takes from the start of `input` and writes to the start of `output`.
    ///
    /// Without progress, or with room left, it needs more input.
    func decode(_ input: Span<UInt8>, into output: UnsafeMutableRawBufferPointer) -> Step {
        // A message may consist of several streams (RFC 7692 §7.2.3.4); the window stays.
        if isAtEnd, !input.isEmpty {
            guard unsafe inflateResetKeep(stream) == Z_OK else { return corrupt }
            isAtEnd = false
        }
        guard isOpen, !isAtEnd else { return isOpen ? Step.none : corrupt }
        return unsafe input.withUnsafeBufferPointer { source in
            let count = min(source.count, Int(Int32.max))
            let space = min(output.count, Int(Int32.max))
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(count)
            unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe stream.pointee.avail_out = UInt32(space)
            let result = unsafe inflate(stream, Z_NO_FLUSH)
            isAtEnd = result == Z_STREAM_END
            let step = unsafe Step(
                consumed: count - Int(stream.pointee.avail_in),
                produced: space - Int(stream.pointee.avail_out),
                isCorrupt: result != Z_OK && result != Z_BUF_ERROR && result != Z_STREAM_END)
            unsafe stream.pointee.next_in = nil
            unsafe stream.pointee.next_out = nil
            return step
        }
    }

    /// Ends a message of which all content has been taken out; the tail itself holds none.
    ///
    /// - Returns: whether it was whole.
    func finishMessage() -> Bool {
        // After a block that called itself the last one, the tail would begin a new stream.
        guard !isAtEnd else { return true }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { room in
            let step = unsafe decode(Self.tail.span, into: room)
            let isBetween = unsafe stream.pointee.data_type & Self.betweenBlocks != 0
            return !step.isCorrupt && step.produced == 0 && step.consumed == Self.tail.count
                && isBetween
        }
    }

    private var corrupt: Step { Step(consumed: 0, produced: 0, isCorrupt: true) }
}

extension MessageInflateSession.Step {
    fileprivate static let none = Self(consumed: 0, produced: 0, isCorrupt: false)
}
