internal import Base
internal import HTTPModel
internal import HTTPServer

/// The request back, with every field as it came.
enum EchoRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [Route] {
        [
            Route([.get, .post, .put, .patch, .delete], "/api/echo") { request, body in
                await echo(request, body, byteLimit: configuration.bodyByteLimit)
            }
        ]
    }

    private static func echo(
        _ request: ServerRequest, _ body: RequestBody, byteLimit: Int
    ) async -> ServerResponse {
        let content: [UInt8]
        do throws(Failure) {
            content = try await body.collect(byteLimit: byteLimit)
        } catch {
            return .unreadable(error)
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
