package import Base
package import HTTPCodecs
package import HTTPModel
package import Origins

/// What is sent: a head as it goes out, and its content.
package struct ClientRequest {
    package let target: OriginTarget
    package let method: KnownMethod
    /// Whether it may be sent again after a connection that was used before broke off.
    package let isSafe: Bool
    /// Through the empty line, as HTTP/1 spells it; it says how the content is framed.
    package let head: [UInt8]
    package let content: Content
    /// Whether the content goes out in chunks over HTTP/1.
    package let isChunked: Bool
    /// Go out behind the content, over HTTP/1 only in chunks.
    package var trailers = Fields.none
    /// Whether HTTP/2 is spoken where the origin and the configuration have a choice.
    package var prefersHTTP2 = false
    /// Whether a Content-Length goes out over HTTP/2, which can do without.
    package var tellsLength = true

    /// Whether the head asks for a WebSocket, with a key (RFC 6455 §4.1); over HTTP/2 that goes out
    /// as an extended CONNECT without it (RFC 8441 §5).
    package var opensWebSocket = false

    /// When the messages of the content go out over HTTP/2; `nil` for all at once.
    package var call: CallClientMachine?

    /// Takes the answer while it comes; none of it is kept then.
    package var reception: (any ClientReception)?
    /// SHA-256 of public keys, one of which has to be that of the origin's certificate; none for any.
    package var pins: [[UInt8]] = []
    /// Ends the exchange early.
    package var stop: ClientStop?
    /// In milliseconds, from the request to the end of its answer, however it trickles in; a connection
    /// that is being made has its own bounds. `nil` for the configuration's.
    package var timeLimit: UInt64?

    /// A content, whole or in pieces.
    package enum Content {
        case bytes([UInt8])
        /// Reads what stands from an offset on, one piece at a time; no bytes at the end.
        case pieces((_ offset: Int64) -> Result<[UInt8], Failure>)
    }

    package init(
        target: OriginTarget, method: KnownMethod, isSafe: Bool, head: [UInt8], content: Content,
        isChunked: Bool
    ) {
        self.target = target
        self.method = method
        self.isSafe = isSafe
        self.head = head
        self.content = content
        self.isChunked = isChunked
    }

    /// Whether nothing follows the head.
    var endsWithHead: Bool {
        guard case .bytes(let bytes) = content else { return false }
        return bytes.isEmpty && trailers.slices.isEmpty
    }
}

/// What came back.
package struct ClientResponse {
    package let head: ResponseHead
    /// The start of the content as it came, with its coding; all of it unless `isCut`.
    package let content: [UInt8]
    package let isCut: Bool
    package let trailers: Fields
    /// Whether nobody wanted more before the content's end.
    package var isDeclined = false
}
