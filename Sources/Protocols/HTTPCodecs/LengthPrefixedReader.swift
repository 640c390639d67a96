/// Tells the length-prefixed messages in a body of gRPC or gRPC-Web as it passes; it copies none.
///
/// A prefix is one byte of flags and four of the size, most significant first.
package struct LengthPrefixedReader: Sendable {
    private static let prefixLength = 5
    private static let compressedFlag: UInt8 = 0x01
    private static let trailersFlag: UInt8 = 0x80

    /// How many bytes were read.
    package private(set) var offset: UInt64 = 0
    /// Where the prefix starts that has an unknown flag, so that neither it nor what follows is a
    /// message; `nil` as long as all is well.
    package private(set) var violationOffset: UInt64?
    private var message = LengthPrefixedMessage()
    /// Bytes of the prefix so far.
    private var prefixCount = 0
    /// What is left of the message behind its prefix.
    private var remaining: UInt64 = 0

    package init() {}

    /// The message that is not whole yet, and how many bytes of it and its prefix came; `nil`
    /// between two messages. Its flags and its size are 0 until the prefix is whole.
    package var unfinished: (message: LengthPrefixedMessage, received: UInt64)? {
        guard violationOffset == nil, prefixCount > 0 else { return nil }
        let isPrefixed = prefixCount == Self.prefixLength
        var open = LengthPrefixedMessage()
        open.offset = message.offset
        return (isPrefixed ? message : open, offset - message.offset)
    }

    /// Reads all of `bytes`, and tells each message when its last byte has come.
    package mutating func read(_ bytes: Span<UInt8>, _ visit: (LengthPrefixedMessage) -> Void) {
        var position = 0
        while position < bytes.count, violationOffset == nil {
            if prefixCount < Self.prefixLength {
                takeOfPrefix(bytes[position], at: offset &+ UInt64(position))
                position &+= 1
            } else {
                let count = min(remaining, UInt64(bytes.count &- position))
                position &+= Int(count)
                remaining &-= count
            }
            if prefixCount == Self.prefixLength, remaining == 0 {
                visit(message)
                prefixCount = 0
            }
        }
        offset &+= UInt64(bytes.count)
    }

    private mutating func takeOfPrefix(_ byte: UInt8, at place: UInt64) {
        if prefixCount == 0 {
            guard byte & ~(Self.compressedFlag | Self.trailersFlag) == 0 else {
                violationOffset = place
                return
            }
            message = LengthPrefixedMessage()
            message.offset = place
            message.isCompressed = byte & Self.compressedFlag != 0
            message.isTrailers = byte & Self.trailersFlag != 0
        } else {
            message.size = message.size << 8 | UInt32(byte)
        }
        prefixCount &+= 1
        if prefixCount == Self.prefixLength { remaining = UInt64(message.size) }
    }
}

/// Where a message stands in a body.
package struct LengthPrefixedMessage: Sendable, Equatable {
    /// Of its prefix, in bytes from the start of the body.
    package var offset: UInt64 = 0
    /// Without its prefix, in bytes.
    package var size: UInt32 = 0
    package var isCompressed = false
    /// Whether it holds the trailers of gRPC-Web.
    package var isTrailers = false
}
