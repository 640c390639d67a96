internal import Base
internal import HTTPModel
internal import Redaction
internal import Traffic

/// One exchange in a line: what `flows list` prints.
struct FlowSummary {
    let id: Int64
    let startedAt: Timestamp
    /// Empty if the connection is not in the capture.
    let client: String
    let scheme: String
    let method: String
    let url: String
    /// `nil` if no response came.
    let status: Int?
    let requestBytes: Int64
    let responseBytes: Int64
    /// `nil` while the exchange goes on.
    let durationMicroseconds: Int64?
    let protocolName: String
    /// What the origin was spoken to in, `nil` for the same.
    let originProtocolName: String?
    /// The client's stream of HTTP/2, `nil` for HTTP/1.
    let stream: Int32?
    let error: String?

    /// - Parameter withSecrets: whether the URL is shown as it was recorded.
    init(_ exchange: ExchangeRecord, client: String, withSecrets: Bool) {
        let head = RecordedHead(exchange.requestHead)
        id = exchange.id
        startedAt = exchange.startedAt
        self.client = client
        scheme = exchange.scheme.rawValue
        method = head.method.text
        let recorded = Self.url(of: exchange, head)
        url = (withSecrets ? recorded : URLRedaction.redact(recorded)).text
        status = exchange.status == 0 ? nil : exchange.status
        requestBytes = exchange.requestBody.size
        responseBytes = exchange.responseBody.size
        durationMicroseconds = exchange.durationMicroseconds
        protocolName = exchange.protocolName
        originProtocolName = exchange.originProtocolName
        stream = exchange.stream == 0 ? nil : exchange.stream
        error = exchange.error
    }

    /// A line of JSON Lines in the schema `sallyport.flow/1`.
    var json: JSONText {
        [
            "schema": "sallyport.flow/1",
            "id": .integer(id),
            "started": .string(startedAt.rfc3339),
            "client": .optional(client.isEmpty ? nil : client),
            "scheme": .string(scheme),
            "method": .optional(method.isEmpty ? nil : method),
            "url": .string(url),
            "status": .optional(status),
            "requestBytes": .integer(requestBytes),
            "responseBytes": .integer(responseBytes),
            "durationMs": durationMicroseconds.map(JSONText.thousandths) ?? .null,
            "protocol": .string(protocolName),
            "originProtocol": .optional(originProtocolName),
            "stream": .optional(stream),
            "error": .optional(error),
        ]
    }

    /// The target URI (RFC 9110 §7.1) of what was asked for, from any of the four forms of request
    /// targets (RFC 9112 §3.2); a target that is none of them follows the authority as it came.
    static func url(of exchange: ExchangeRecord, _ head: RecordedHead) -> [UInt8] {
        let target = Array(head.target)
        let origin = Array("\(exchange.scheme.rawValue)://\(exchange.authority)".utf8)
        if target.first == UInt8(ascii: "/") { return origin + target }
        if target.isEmpty || target == [UInt8(ascii: "*")] { return origin }
        if head.method.equalsIgnoringCase("connect") { return target }
        let scheme = target.prefix { $0.isASCIILetter || $0.isASCIIDigit }
        if !scheme.isEmpty, target[scheme.count...].starts(with: Array("://".utf8)) {
            return target
        }
        return origin + [UInt8(ascii: "/")] + target
    }
}
