internal import Base
internal import HTTPModel
internal import HTTPServer

/// Bytes of so many, in so many pieces; what is random in httpbin is made from a seed.
enum HttpbinDataRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [HttpbinRoute] {
        [
            .get("/bytes/:count") { request in
                generated(request, configuration) { .stream(length: $0, $1) }
            },
            .get("/stream-bytes/:count") { request in
                generated(request, configuration) { .stream(length: nil, $1) }
            },
            .get("/range/:count", range),
            .get("/base64/:text") { request in
                guard let bytes = Base64.decode(request.match["text"]) else {
                    return .plain(400)
                }
                return ServerResponse(
                    200,
                    [
                        ResponseField("Content-Type", "text/html; charset=utf-8"),
                        // Whose page it is nobody knows.
                        .sandbox,
                    ], body: .bytes(bytes))
            },
            .get("/uuid") { request in
                json(200, ["uuid": .string(UUIDText.text(seed: seed(request, configuration)))])
            },
        ]
    }

    private static func generated(
        _ request: ServerRequest, _ configuration: ContentServerConfiguration,
        _ body: (UInt64, any ResponseBodySource) -> ResponseBody
    ) -> ServerResponse {
        guard let count = GeneratedAsset.size(request.match["count"]) else { return .plain(400) }
        let content = GeneratedContent(seed: seed(request, configuration))
        return ServerResponse(
            200, [ResponseField("Content-Type", "application/octet-stream")],
            body: body(count, GeneratedSource(content, range: 0..<count)))
    }

    static let stream = HttpbinRoute.get("/stream/:count") { request in
        guard let count = request.match.number("count"), count <= lineLimit else {
            return .plain(400)
        }
        return ServerResponse(
            200,
            [
                ResponseField("Content-Type", FileType.json),
                ResponseField("Trailer", "Line-Count"),
            ],
            body: .stream(
                length: nil, LineSource(count: Int(count), HttpbinReport(request).opening)))
    }

    /// The alphabet over and over, as httpbin has it, but with parts that are right and no limit.
    private static func range(_ request: ServerRequest) -> ServerResponse {
        guard let count = GeneratedAsset.size(request.match["count"]) else { return .plain(404) }
        return Representation(
            contentType: "application/octet-stream", length: count,
            validators: Validators(entityTag: EntityTag("range\(count)"), lastModified: nil)
        ) { range in
            RepeatedSource("abcdefghijklmnopqrstuvwxyz", range)
        }.response(to: request)
    }

    private static let lineLimit: UInt64 = 10_000_000

    private static func seed(
        _ request: ServerRequest, _ configuration: ContentServerConfiguration
    ) -> UInt64 {
        decimal(request.path.queryValue("seed") ?? []) ?? configuration.seed
    }
}

/// Streams lines of JSON with their numbers, each read one line, and counts them in a trailer.
private final class LineSource: ResponseBodySource {
    private let count: Int
    private let opening: [UInt8]
    private var next = 0
    private var line: [UInt8] = []
    private var offset = 0

    /// - Parameter opening: an object without its end.
    init(count: Int, _ opening: [UInt8]) {
        self.count = count
        self.opening = opening
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        if offset == line.count {
            guard next < count else { return 0 }
            line = opening + [UInt8](", \"id\": \(next)}\n".utf8)
            offset = 0
            next += 1
        }
        let written = buffer.appendFitting(line, from: offset)
        offset += written
        return written
    }

    var trailers: [ResponseField] { [ResponseField("Line-Count", String(next))] }
}

/// Streams `abc…zabc…` of any length.
