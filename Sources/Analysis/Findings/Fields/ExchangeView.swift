internal import Base
internal import Traffic

/// One exchange, taken apart once for all rules.
struct ExchangeView {
    let exchange: ExchangeRecord
    let connection: ConnectionRecord?
    let host: HostName
    let request: LenientHead
    let response: LenientHead
    let target: RequestTarget
    let referer: RequestTarget?
    /// The values of the query and the path parameters.
    let urlFields: [MessageField]
    /// The values of the request's content.
    let bodyFields: [MessageField]
    /// The contents without their codings; as they came if those could not be undone.
    let requestBody: [UInt8]
    let responseBody: [UInt8]
    let undecodableBodies: Int

    /// Whether the client sent it unencrypted.
    var isClear: Bool { exchange.scheme == .http }
    /// Whether it asks for a tunnel, and for nothing that is spoken inside.
    var isTunnel: Bool {
        request.method == Array("CONNECT".utf8) && request.connectProtocol.isEmpty
    }
    /// Whether there is a response that an origin made.
    var hasOriginResponse: Bool { !exchange.answeredByTool && exchange.status != 0 }

    var requestType: [UInt8] { request.first("content-type") ?? [] }
    var responseType: [UInt8] { response.first("content-type") ?? [] }

    /// What the origin's status says of the credentials.
    var verdict: [FindingNote] {
        guard hasOriginResponse else { return [] }
        return switch exchange.status {
        case 200..<400: [.serverAccepted]
        case 401, 403, 407: [.serverRejected]
        default: []
        }
    }

    init(
        _ exchange: ExchangeRecord, on connection: ConnectionRecord?, requestBody: [UInt8],
        responseBody: [UInt8], decode: (_ content: [UInt8], _ contentEncoding: String) -> [UInt8]?
    ) {
        self.exchange = exchange
        self.connection = connection
        let request = LenientHead(request: exchange.requestHead)
        let target = RequestTarget(request.target)
        self.request = request
        self.target = target
        response = LenientHead(response: exchange.responseHead)
        referer = request.first("referer").map { RequestTarget($0) }
        host = HostName(exchange.authority)
        let sent = Self.content(requestBody, of: request, decode)
        let received = Self.content(responseBody, of: response, decode)
        self.requestBody = sent ?? requestBody
        self.responseBody = received ?? responseBody
        undecodableBodies = (sent == nil ? 1 : 0) + (received == nil ? 1 : 0)
        var urls = FieldReader()
        for parameter in target.query { urls.add(parameter, container: .query) }
        for parameter in target.pathParameters { urls.add(parameter, container: .pathParameter) }
        for parameter in referer?.query ?? [] { urls.add(parameter, container: .referer) }
        urlFields = urls.fields
        var body = FieldReader()
        if let sent { body.read(body: sent, contentType: request.first("content-type") ?? []) }
        bodyFields = body.fields
    }

    /// The content without its codings, `nil` if one could not be undone.
    private static func content(
        _ body: [UInt8], of head: LenientHead, _ decode: ([UInt8], String) -> [UInt8]?
    ) -> [UInt8]? {
        let codings = head.values("content-encoding").flatMap { $0.split(separator: 0x2C) }
        var content = body
        for coding in codings.prefix(4).reversed() where !content.isEmpty {
            let name = Array(coding).trimmed.lowercasedBytes.text
            if name.isEmpty || name == "identity" { continue }
            guard let plain = decode(content, name) else { return nil }
            content = Array(plain.prefix(FieldReader.defaultByteLimit))
        }
        return Array(content.prefix(FieldReader.defaultByteLimit))
    }
}
