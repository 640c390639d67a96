internal import Base
internal import HTTPModel
internal import HTTPServer

/// What a client needs to test itself: its request back, any status, a stream with a trailer.
enum EchoRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [Route] {
        [
            Route([.get, .post, .put, .patch, .delete], "/api/echo") { request, body in
                await echo(request, body, byteLimit: configuration.bodyByteLimit)
            },
            Route([.get, .post, .put, .patch, .delete], "/status/:code") { request, _ in
                status(request)
            },
            .get("/stream/:count", stream),
        ]
    }

    private static func echo(
        _ request: ServerRequest, _ body: RequestBody, byteLimit: Int
    ) async -> ServerResponse {
        let content: [UInt8]
        do {
            content = try await body.collect(byteLimit: byteLimit)
        } catch {
            return .plain(error.code == "request-too-large" ? 413 : 400)
        }
        let fields = request.fields.slices.map { slice -> JSONText in
            [
                .bytes([UInt8](request.fields.name(slice))),
                .bytes([UInt8](request.fields.value(slice))),
            ]
        }
        return json(
            200,
            [
                "method": .bytes(request.method.name),
                "scheme": .string(request.scheme.rawValue),
                "version": .string(request.version.text),
                "path": .bytes(request.path.raw),
                "query": request.path.query.map(JSONText.bytes) ?? .null,
                "headers": .array(fields),
                "bodyLength": .integer(Int64(content.count)),
                "body": .bytes(content),
            ])
    }

    private static func status(_ request: ServerRequest) -> ServerResponse {
        guard let code = request.match.number("code"), (200...599).contains(code) else {
            return .plain(400)
        }
        var response = ServerResponse.plain(Int(code))
        switch code {
        // Fields without which these are no proper responses (RFC 9110 §15).
        case 204, 205, 304: response = ServerResponse(Int(code))
        case 206: response.fields.append(ResponseField("Content-Range", "bytes 0-19/20"))
        case 300...308: response.fields.append(ResponseField("Location", "/"))
        case 401:
            response.fields.append(ResponseField("WWW-Authenticate", "Basic realm=\"sallyport\""))
        case 405: response.fields.append(ResponseField("Allow", ""))
        case 407:
            response.fields.append(ResponseField("Proxy-Authenticate", "Basic realm=\"sallyport\""))
        case 416: response.fields.append(ResponseField("Content-Range", "bytes */0"))
        case 426: response.fields.append(ResponseField("Upgrade", "HTTP/2.0"))
        case 429, 503: response.fields.append(ResponseField("Retry-After", "1"))
        default: break
        }
        return response
    }

    private static func stream(_ request: ServerRequest) -> ServerResponse {
        guard let count = request.match.number("count"), count <= lineLimit else {
            return .plain(400)
        }
        return ServerResponse(
            200,
            [
                ResponseField("Content-Type", "text/plain; charset=utf-8"),
                ResponseField("Trailer", "Line-Count"),
            ], body: .stream(length: nil, LineSource(count: Int(count))))
    }

    private static let lineLimit: UInt64 = 10_000_000
}

/// Streams numbered lines, each read one line.
final class LineSource: ResponseBodySource {
    private let count: Int
    private var next = 1
    private var line: [UInt8] = []
    private var offset = 0

    init(count: Int) {
        self.count = count
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        if offset == line.count {
            guard next <= count else { return 0 }
            line = [UInt8]("line \(next) of \(count)\n".utf8)
            offset = 0
            next += 1
        }
        let written = buffer.appendFitting(line, from: offset)
        offset += written
        return written
    }

    var trailers: [ResponseField] { [ResponseField("Line-Count", String(next - 1))] }
}

/// A line of JSON that no cache keeps.
func json(_ status: Int, _ value: JSONText) -> ServerResponse {
    ServerResponse(
        status,
        [
            ResponseField("Content-Type", FileType.json),
            ResponseField("Cache-Control", "no-store"),
        ], body: .bytes(value.line + [0x0A]))
}
