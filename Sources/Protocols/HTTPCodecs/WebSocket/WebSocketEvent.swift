/// What `WebSocketReader` saw; the bytes that belong to it come beside it.
package enum WebSocketEvent: Sendable, Equatable {
    /// A message begins.
    case messageBegin(WebSocketMessageKind, isCompressed: Bool)
    /// The next piece of the open message, unmasked and unpacked, of 64 KiB at most.
    case content
    /// The open message is whole.
    case messageEnd(WebSocketMessageEnd)
    /// With its payload; it may come inside a message, like the next two.
    case ping
    case pong
    /// With its reason; the code is `nil` if there is none.
    case close(code: UInt16?)
    /// From here on nothing is understood; an open message gets no end. The offset is that of the
    /// frame that breaks the protocol, in bytes from the start of the stream.
    case violation(WebSocketViolation, offset: UInt64)
    /// Bytes as they came, from where reading had to stop.
    case raw
}

package enum WebSocketMessageKind: Sendable, Equatable {
    case text
    case binary
}

package struct WebSocketMessageEnd: Sendable, Equatable {
    /// Of the whole content, unpacked, in bytes.
    package var size: UInt64
    /// Whether content past the limit was counted and not given.
    package var isTruncated: Bool
}

/// How much of a message is given, and how much a message may unpack to.
package struct WebSocketLimits: Sendable, Equatable {
    /// Of one message, in bytes; the rest is counted. 1 GiB, as of a body.
    package var contentLimit: UInt64
    /// What one compressed message may unpack to, in bytes; past it reading stops. A few megabytes
    /// can unpack to a thousand times as much, and all of that is work. 4 GiB.
    package var inflationLimit: UInt64
    /// Takes lengths that fewer bytes could tell, which RFC 6455 §5.2 forbids, since peers do take
    /// them and there is but one way to read them.
    package var allowsLongLengths: Bool

    package init(
        contentLimit: UInt64 = 1 << 30, inflationLimit: UInt64 = 1 << 32,
        allowsLongLengths: Bool = true
    ) {
        self.contentLimit = contentLimit
        self.inflationLimit = inflationLimit
        self.allowsLongLengths = allowsLongLengths
    }
}
