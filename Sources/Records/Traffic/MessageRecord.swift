package import Base

/// A message inside a connection or an exchange: of a WebSocket, of gRPC, of an event stream, or a
/// piece of a stream whose protocol has none.
///
/// A long one is told in parts, which have the same `number`, as it passes.
package struct MessageRecord: Sendable {
    package var connection: Int64
    /// The exchange that it belongs to, `nil` for what is spoken without HTTP.
    package var exchange: Int64?
    /// Rising from 1 in the order of the messages' first bytes; both directions of a connection are
    /// counted together.
    package var number: Int64
    /// Rising from 0.
    package var part = 0
    /// When the part's last byte came.
    package var at: Timestamp
    /// Request is from the client.
    package var direction: Direction
    package var kind: Kind
    /// The bytes of this part, without framing, masking and compression.
    package var size: Int64 = 0
    /// The content of this part. Empty for one that stands in its exchange's body, at `offset`.
    package var bytes: [UInt8] = []
    /// Where it begins in the body of its exchange, with its own prefix, in bytes; `nil` for what
    /// has no place there.
    package var offset: Int64?
    /// Whether it is the last part.
    package var isLast = true
    /// Whether content past the recording limit was counted and not kept.
    package var isTruncated = false
    /// What a person should know: a close code with its reason, a frame's type; empty if nothing.
    package var detail = ""

    /// What it is; the raw values are stored and are a contract.
    package enum Kind: String, Sendable, CaseIterable {
        /// Bytes that were read at once, of a protocol that is not understood.
        case segment
        /// A text message of a WebSocket (RFC 6455 §5.6).
        case text
        case binary
        case ping
        case pong
        case close
        /// A length-prefixed message of gRPC.
        case grpc
        /// An event of an event stream (text/event-stream).
        case event
        /// A frame of HTTP/2 that is no part of an exchange.
        case frame
        /// A datagram of UDP.
        case datagram
    }

    package init(
        connection: Int64, exchange: Int64?, number: Int64, at: Timestamp, direction: Direction,
        kind: Kind
    ) {
        self.connection = connection
        self.exchange = exchange
        self.number = number
        self.at = at
        self.direction = direction
        self.kind = kind
    }
}
