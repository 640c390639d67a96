package import Base

/// One request with its response.
package struct ExchangeRecord: Sendable {
    /// Unique in its capture, rising in the order of the requests' first bytes.
    package var id: Int64
    package var connection: Int64
    package var startedAt: Timestamp
    /// How long until the last byte of the response, `nil` while it goes on.
    package var durationMicroseconds: Int64?
    /// How long until the first byte of the final response, `nil` if none came.
    package var firstByteMicroseconds: Int64?
    package var scheme: Scheme
    /// The host and port that the request went to, written as `Host` is; what the client's own Host
    /// said stands in the head. Where nothing was asked for yet, what the client said.
    package var authority: String
    /// The request's head as the client sent it, through the empty line. One of HTTP/2 is spelled
    /// as HTTP/1 would: a request line that ends in `HTTP/2.0`, `:authority` as `host`, and the
    /// fields as they came.
    package var requestHead: [UInt8]
    /// The request's head as it went to the origin, where that is not what came but for what every
    /// relay changes; empty if it is.
    package var sentRequestHead: [UInt8] = []
    package var requestBody = BodyRecord()
    /// Interim responses (1xx) in the order they came, each through its empty line.
    package var interimHeads: [[UInt8]] = []
    /// The final response's head as the origin sent it; empty if none came.
    package var responseHead: [UInt8] = []
    /// The final response's head as it went to the client, where that is not what came but for what
    /// every relay changes; empty if it is.
    package var sentResponseHead: [UInt8] = []
    package var responseBody = BodyRecord()
    /// 0 if no response came.
    package var status = 0
    /// What the client spoke, such as `HTTP/1.1` or `HTTP/2`.
    package var protocolName = "HTTP/1.1"
    /// What the origin was spoken to in, where that is something else.
    package var originProtocolName: String?
    /// The client's stream of HTTP/2; 0 for HTTP/1.
    package var stream: Int32 = 0
    /// Whether the response was made by the tool, because there was none from the origin.
    package var answeredByTool = false
    /// A stable code of what went wrong, `nil` for a whole exchange: `request-smuggling`,
    /// `origin-closed`, `client-closed`, `timed-out`, …
    package var error: String?
    /// What went wrong, in words for a person.
    package var errorDetail: String?

    /// The `error` of an exchange of which contents alone were recorded, before whatever ended the
    /// recording: what was asked for, of whom and how is not known.
    package static let headMissing = "head-missing"
    package var isHeadMissing: Bool { error == Self.headMissing }

    /// How many bytes its contents have, stored or not.
    package var contentSize: Int64 { requestBody.size.addingSaturated(responseBody.size) }

    package enum Scheme: String, Sendable, CaseIterable {
        case http
        case https
    }

    package init(
        id: Int64, connection: Int64, startedAt: Timestamp, scheme: Scheme, authority: String,
        requestHead: [UInt8] = []
    ) {
        self.id = id
        self.connection = connection
        self.startedAt = startedAt
        self.scheme = scheme
        self.authority = authority
        self.requestHead = requestHead
    }
}

/// What was recorded of one message's content.
package struct BodyRecord: Sendable {
    /// The bytes of the content that passed, without transfer coding.
    package var size: Int64 = 0
    /// The content, without transfer coding but with its content coding, unless it went ahead in
    /// `TrafficEvent.bodyChunk`s.
    package var bytes: [UInt8] = []
    /// How many chunks went ahead.
    package var chunkCount = 0
    /// Whether content past the recording limit was counted and not kept.
    package var isTruncated = false
    /// The trailer section as it came, through the empty line; empty if there was none.
    package var trailers: [UInt8] = []

    package init() {}
}
