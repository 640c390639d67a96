internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Recording
internal import Traffic

/// A response that the tool makes itself, because there is none from an origin.
struct ToolResponse: Sendable, Equatable {
    let status: Int
    /// A stable word, also in the field `sallyport-error` and in the record.
    let code: String
    let detail: String
    let hint: String?
    /// What a responder says of a request that it has no answer for.
    var miss: ResponderMiss?

    /// For a client that has to say who it is (RFC 9110 §15.5.8).
    static let unknownClient = ToolResponse(
        407, "proxy-authentication-required", "this proxy is for those who have a password",
        hint: "give the client the user and password of --proxy-auth")

    /// For a host that who runs the proxy has blocked.
    static func blocked(_ host: String, _ reason: String) -> ToolResponse {
        ToolResponse(403, "host-blocked", "\(host) is not served: \(reason)")
    }

    /// For CONNECT on a stream of HTTP/2 to an origin that is fixed.
    static let noTunnel = ToolResponse(
        501, "connect-on-stream", "this origin is not asked for tunnels on streams of HTTP/2")

    /// For a protocol that HTTP/1 has no request for.
    static func unknownProtocol(_ name: String) -> ToolResponse {
        ToolResponse(501, "unknown-protocol", "\(name) is not known over HTTP/2")
    }

    /// For a protocol that an origin of HTTP/2 does not take.
    static let noExtendedConnect = ToolResponse(
        501, "no-extended-connect",
        "the origin does not take other protocols on streams of HTTP/2")

    /// For a WebSocket on a stream of HTTP/2 that an origin of HTTP/1 has not opened.
    static func disagreedWebSocket(_ status: Int) -> ToolResponse {
        ToolResponse(
            502, "websocket-disagreed",
            status == 101
                ? "the origin switched with another Sec-WebSocket-Accept than the key asks for"
                : "the origin answered \(status) and opened no WebSocket")
    }

    /// For a head that came in HTTP/1 and has to go on in HTTP/2.
    static func tooLargeHead(_ status: Int, _ message: String, _ size: Int) -> ToolResponse {
        ToolResponse(
            status, "head-too-large",
            "the head of the \(message) is too large for HTTP/2: \(size) bytes,"
                + " and \(HTTP2Fields.blockLimit) are sent at most")
    }

    /// More fields that the answer needs.
    var fields: [(name: String, value: String)] {
        if let miss { return [("sallyport-miss", miss.field)] }
        return status == 407 ? [("proxy-authenticate", "Basic realm=\"sallyport\"")] : []
    }

    init(_ status: Int, _ code: String, _ detail: String, hint: String? = nil) {
        self.status = status
        self.code = code
        self.detail = detail
        self.hint = hint
    }

    static let notAProxyRequest = ToolResponse(
        400, "not-a-proxy-request", "this is a proxy, and the request names no origin",
        hint:
            "set it as the client's proxy, by the name and port that you asked for here, such as with"
            + " curl -x http://NAME:PORT https://example.com/")

    init(_ failure: Failure) {
        let status =
            switch failure.code {
            case "proxy-loop": 508
            case let code where code.hasSuffix("timed-out"): 504
            case "loopback-origin", "host-blocked": 403
            default: 502
            }
        self.init(status, failure.code, failure.detail, hint: failure.hint)
    }

    /// The head through the empty line, and the content.
    func message(closes: Bool, includesContent: Bool) -> (head: [UInt8], content: [UInt8]) {
        let head =
            "HTTP/1.1 \(status) \(reasonPhrase(of: status))\r\n"
            + "content-type: \(contentType)\r\n"
            + "content-length: \(content.count)\r\n"
            + "sallyport-error: \(code)\r\n"
            + "cache-control: no-store\r\n"
            + fields.map { "\($0.name): \($0.value)\r\n" }.joined()
            + (closes ? "connection: close\r\n" : "") + "\r\n"
        return ([UInt8](head.utf8), includesContent ? content : [])
    }

    var contentType: String { miss?.contentType ?? "text/plain; charset=utf-8" }

    private var content: [UInt8] {
        if let miss { return miss.content }
        let hint = hint.map { "hint: \($0)\n" } ?? ""
        return [UInt8]("sallyport: \(detail)\n\(hint)".utf8)
    }
}

extension ExchangeRecorder {
    /// Records that the tool answered, and with which message.
    ///
    /// - Parameter code: of the exchange's failure, where it is another than the client is told.
    func note(
        _ answer: ToolResponse, _ message: (head: [UInt8], content: [UInt8]),
        recordedAs code: String?
    ) {
        record.status = answer.status
        record.responseHead = message.head
        // It stands in the place of what may have been about to be sent.
        record.sentResponseHead = []
        record.answeredByTool = true
        record.error = code ?? answer.code
        record.errorDetail = answer.detail
        append(message.content.span, .response)
    }
}
