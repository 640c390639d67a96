package import Base
package import HTTPClient
internal import HTTPCodecs
internal import HTTPModel
package import Origins

/// Transfers over the client of this product: HTTP/1.1 and HTTP/2, TLS that has to verify, upstream
/// proxies, all of it recorded.
///
/// `@unchecked Sendable`: used on the client's loop.
package final class ClientNetwork: TransferNetwork, @unchecked Sendable {
    private let client: HTTPClient

    package init(_ client: HTTPClient) {
        self.client = client
    }

    package func send(_ request: NetworkRequest) async throws(Failure) -> NetworkAnswer {
        let answer = try await client.send(try Self.message(request))
        let head = answer.head
        let endedByClose =
            head.version != .http2 && !head.fields.contains(.contentLength)
            && !head.fields.contains(.transferEncoding, token: "chunked")
        return NetworkAnswer(
            head: head, trailers: answer.trailers, isDeclined: answer.isDeclined,
            endedByClose: endedByClose)
    }

    package func staysHere(_ location: OriginLocation) -> Bool {
        client.staysHere(location.target)
    }

    private static func message(_ request: NetworkRequest) throws(Failure) -> ClientRequest {
        let location = request.location
        var head = "\(request.method) \(location.path) HTTP/1.1\r\n"
        head += "Host: \(location.target.authority)\r\n"
        let names = Set(request.fields.map { $0.name.lowercased() })
        if !names.contains("user-agent") { head += "User-Agent: sallyport\r\n" }
        if !names.contains("accept") { head += "Accept: */*\r\n" }
        for field in request.fields {
            guard isField(field) else {
                throw Failure(
                    "request-malformed", party: .client, "the field \(field.name) cannot be sent")
            }
            head += "\(field.name): \(field.value)\r\n"
        }
        var content = ClientRequest.Content.bytes([])
        switch request.content {
        case .none: break
        case .bytes(let bytes):
            content = .bytes(bytes)
            head += "Content-Length: \(bytes.count)\r\n"
        case .pieces(let size, let read):
            content = .pieces(read)
            head += "Content-Length: \(size)\r\n"
        }
        let isSafe = ["GET", "HEAD", "OPTIONS"].contains(request.method)
        var message = ClientRequest(
            target: location.target, method: KnownMethod(transfer: request.method),
            isSafe: isSafe, head: [UInt8]((head + "\r\n").utf8), content: content,
            isChunked: false)
        message.prefersHTTP2 = location.target.isSecure
        message.reception = request.reception
        message.stop = request.stop
        message.pins = request.pins
        return message
    }

    /// RFC 9110 §5.5, §5.6.2: nothing that would begin another line.
    private static func isField(_ field: TransferField) -> Bool {
        let marks = [UInt8]("!#$%&'*+-.^_`|~".utf8)
        return !field.name.isEmpty
            && field.name.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || marks.contains($0)
            } && field.value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
    }
}

extension KnownMethod {
    fileprivate init(transfer method: String) {
        switch method {
        case "GET": self = .get
        case "HEAD": self = .head
        case "POST": self = .post
        default: self = .other
        }
    }
}
