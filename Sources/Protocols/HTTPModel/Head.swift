/// The version on a start line.
package enum HTTPVersion: UInt8, Sendable {
    case http10
    case http11
    case http2

    package var text: String {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2"
        }
    }
}

/// The methods that change how a message is framed; `other` is every other token.
package enum KnownMethod: UInt8, Sendable {
    case other
    case connect
    case get
    case head
    case post
}

/// The head of a request as it came: the start line and the fields (RFC 9112 §3).
package struct RequestHead: Sendable {
    package let version: HTTPVersion
    package let knownMethod: KnownMethod
    /// Where the method stands in `fields.raw`.
    package let methodRange: Range<Int>
    /// Where the request target stands in `fields.raw`.
    package let targetRange: Range<Int>
    package let fields: Fields

    package init(
        version: HTTPVersion, knownMethod: KnownMethod, methodRange: Range<Int>,
        targetRange: Range<Int>, fields: Fields
    ) {
        self.version = version
        self.knownMethod = knownMethod
        self.methodRange = methodRange
        self.targetRange = targetRange
        self.fields = fields
    }

    package var method: ArraySlice<UInt8> { fields.raw[methodRange] }
    package var target: ArraySlice<UInt8> { fields.raw[targetRange] }
    /// The bytes that arrived, through the empty line.
    package var raw: [UInt8] { fields.raw }
}

/// The head of a response as it came: the status line and the fields (RFC 9112 §4).
///
/// A class, because several frames that wait hold it at once.
package final class ResponseHead: Sendable {
    package let version: HTTPVersion
    /// 100 to 999.
    package let status: Int
    /// Where the reason phrase stands in `fields.raw`; empty if there is none.
    package let reasonRange: Range<Int>
    /// As a strict recipient reads them.
    package let fields: Fields
    /// What of it was not as it has to be; `fields` has it mended.
    package let leniency: HeadLeniency
    private let received: [UInt8]?

    /// - Parameter received: the bytes that arrived, where `fields` holds them mended.
    package init(
        version: HTTPVersion, status: Int, reasonRange: Range<Int>, fields: Fields,
        received: [UInt8]? = nil, leniency: HeadLeniency = []
    ) {
        self.version = version
        self.status = status
        self.reasonRange = reasonRange
        self.fields = fields
        self.received = received
        self.leniency = leniency
    }

    package var reason: ArraySlice<UInt8> { fields.raw[reasonRange] }
    /// The bytes that arrived, through the empty line.
    package var raw: [UInt8] { received ?? fields.raw }
    /// Whether the connection may serve another exchange, as far as the head says: RFC 9112 §6.3
    /// bids who takes a response with two lengths to close it. HTTP/1.0 has to say so (§9.3).
    package var keepsConnection: Bool {
        guard !leniency.contains(.bothLengths), !fields.contains(.connection, token: "close")
        else { return false }
        return version != .http10 || fields.contains(.connection, token: "keep-alive")
    }
    /// 1xx, but not 101, which ends the exchange's HTTP (RFC 9110 §15.2).
    package var isInterim: Bool { status < 200 && status != 101 }
}

/// Where a message's content ends (RFC 9112 §6.3).
package enum BodyFraming: Sendable, Equatable {
    case none
    /// Content-Length, in bytes.
    case length(UInt64)
    case chunked
    /// Until the connection closes; responses only.
    case untilClose
    /// The connection speaks another protocol from here on: 101, or a 2xx to CONNECT.
    case tunnel
}
