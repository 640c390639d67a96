internal import Base
internal import Contents
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
    /// Empty if it is not known.
    let url: String
    /// Whether neither the scheme, the URL nor the protocol is known.
    let isHeadMissing: Bool
    /// `nil` if no response came.
    let status: Int?
    let requestBytes: Int64
    let responseBytes: Int64
    /// Whether less of a content was recorded than passed.
    let isRequestCut: Bool
    let isResponseCut: Bool
    /// `nil` while the exchange goes on.
    let durationMicroseconds: Int64?
    let protocolName: String
    /// What the origin was spoken to in, `nil` for the same.
    let originProtocolName: String?
    /// The client's stream of HTTP/2, `nil` for HTTP/1.
    let stream: Int32?
    let error: String?
    /// How a call of gRPC ended, 0 for success; `nil` for everything else.
    let grpcStatus: Int?

    /// What went wrong, in a word or a few: a call of gRPC fails with a status of 200.
    var trouble: String? {
        if let error { return error }
        return grpcStatus.flatMap { $0 == 0 ? nil : GRPCStatus.text($0) }
    }

    /// - Parameter withSecrets: whether the URL is shown as it was recorded.
    init(_ exchange: ExchangeRecord, client: String, withSecrets: Bool) {
        let head = RecordedHead(exchange.requestHead)
        id = exchange.id
        startedAt = exchange.startedAt
        self.client = client
        scheme = exchange.scheme.rawValue
        method = head.method.text
        let recorded = exchange.url(head)
        isHeadMissing = exchange.isHeadMissing
        url =
            isHeadMissing ? "" : (withSecrets ? recorded : URLRedaction.redact(recorded)).text
        status = exchange.status == 0 ? nil : exchange.status
        requestBytes = exchange.requestBody.size
        responseBytes = exchange.responseBody.size
        isRequestCut = exchange.requestBody.isTruncated
        isResponseCut = exchange.responseBody.isTruncated
        durationMicroseconds = exchange.durationMicroseconds
        protocolName = exchange.protocolName
        originProtocolName = exchange.originProtocolName
        stream = exchange.stream == 0 ? nil : exchange.stream
        error = exchange.error
        grpcStatus = exchange.grpcStatus
    }

    /// What a line has to say besides: the error, and whether a content was not recorded whole.
    var remark: String {
        let cut =
            switch (isRequestCut, isResponseCut) {
            case _ where isHeadMissing: ""
            case (true, true): "contents cut"
            case (true, false): "request cut"
            case (false, true): "response cut"
            case (false, false): ""
            }
        return [trouble ?? "", cut].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// A line of JSON Lines in the schema `sallyport.flow/1`.
    var json: JSONText {
        [
            "schema": "sallyport.flow/1",
            "id": .integer(id),
            "started": .string(startedAt.rfc3339),
            "client": .optional(client.isEmpty ? nil : client),
            "scheme": .optional(isHeadMissing ? nil : scheme),
            "method": .optional(method.isEmpty ? nil : method),
            "url": .optional(isHeadMissing ? nil : url),
            "status": .optional(status),
            "requestBytes": .integer(requestBytes),
            "responseBytes": .integer(responseBytes),
            "requestCut": .boolean(isRequestCut),
            "responseCut": .boolean(isResponseCut),
            "durationMs": durationMicroseconds.map(JSONText.thousandths) ?? .null,
            "protocol": .optional(isHeadMissing ? nil : protocolName),
            "originProtocol": .optional(originProtocolName),
            "stream": .optional(stream),
            "error": .optional(error),
            "grpcStatus": .optional(grpcStatus),
        ]
    }
}
