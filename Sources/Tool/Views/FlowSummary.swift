package import Base
internal import Contents
internal import HTTPModel
internal import Redaction
package import Traffic

/// One exchange in a line: what `flows list` prints.
package struct FlowSummary {
    package let id: Int64
    package let startedAt: Timestamp
    /// Empty if the connection is not in the capture, or nobody looked it up.
    package let client: String
    package let scheme: String
    /// As it was recorded, whatever bytes that are: whoever prints it escapes it. Empty if it is not
    /// known.
    package let method: [UInt8]
    /// The same, apart from secrets.
    package let url: [UInt8]
    /// Whether neither the scheme, the URL nor the protocol is known.
    package let isHeadMissing: Bool
    /// `nil` if no response came.
    package let status: Int?
    package let requestBytes: Int64
    package let responseBytes: Int64
    /// Whether less of a content was recorded than passed.
    package let isRequestCut: Bool
    package let isResponseCut: Bool
    /// `nil` while the exchange goes on.
    package let durationMicroseconds: Int64?
    package let protocolName: String
    /// What the origin was spoken to in, `nil` for the same.
    package let originProtocolName: String?
    /// The client's stream of HTTP/2, `nil` for HTTP/1.
    package let stream: Int32?
    package let error: String?
    /// How a call of gRPC ended, 0 for success; `nil` for everything else.
    package let grpcStatus: Int?

    /// What went wrong, in a word or a few: a call of gRPC fails with a status of 200.
    package var trouble: String? {
        if let error { return error }
        return grpcStatus.flatMap { $0 == 0 ? nil : GRPCStatus.text($0) }
    }

    /// - Parameters:
    ///   - summary: borrowed, since a copy would retain its many buffers.
    ///   - withSecrets: whether the URL is shown as it was recorded.
    package init(_ summary: borrowing ExchangeSummary, client: String, withSecrets: Bool) {
        id = summary.record.id
        startedAt = summary.record.startedAt
        self.client = client
        scheme = summary.record.scheme.rawValue
        method = Array(summary.head.method)
        isHeadMissing = summary.record.isHeadMissing
        let recorded = isHeadMissing ? [] : summary.url
        url = withSecrets ? recorded : URLRedaction.redact(recorded)
        status = summary.record.status == 0 ? nil : summary.record.status
        requestBytes = summary.record.requestBody.size
        responseBytes = summary.record.responseBody.size
        isRequestCut = summary.record.requestBody.isTruncated
        isResponseCut = summary.record.responseBody.isTruncated
        durationMicroseconds = summary.record.durationMicroseconds
        protocolName = summary.record.protocolName
        originProtocolName = summary.record.originProtocolName
        stream = summary.record.stream == 0 ? nil : summary.record.stream
        error = summary.record.error
        grpcStatus = summary.head.grpcStatus
    }

    /// What a line has to say besides: the error, and whether a content was not recorded whole.
    package var remark: String {
        if trouble == nil, !isRequestCut, !isResponseCut { return "" }
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
    package var json: JSONText {
        [
            "schema": "sallyport.flow/1",
            "id": .integer(id),
            "startedAt": .string(startedAt.rfc3339),
            "client": .optional(client.isEmpty ? nil : client),
            "scheme": .optional(isHeadMissing ? nil : scheme),
            "method": .optional(method.isEmpty ? nil : method.text),
            "url": .optional(isHeadMissing ? nil : url.text),
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
