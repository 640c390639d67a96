internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import HTTPServer

/// Contents of known kinds and codings.
enum HttpbinContentRoutes {
    static let routes: [HttpbinRoute] =
        [
            coded("/gzip", .gzip, "gzipped"), coded("/deflate", .deflate, "deflated"),
            coded("/brotli", .brotli, "brotli"), coded("/zstd", .zstd, "zstd"),
            .get("/links/:count/:place", links),
            .get("/links/:count") { request in
                ServerResponse(
                    302,
                    [
                        ResponseField(
                            "Location",
                            "\(request.httpbinPrefix)/links/\(request.match.number("count") ?? 1)/0"
                        )
                    ])
            },
            .get("/image") { request in
                image(request.fields.first(named: "accept").map(\.text) ?? "image/png")
            },
            .get("/image/:kind") { image("image/\($0.match["kind"].text)") },
        ] + HttpbinPages.routes

    private static func coded(
        _ path: String, _ coding: ContentCoding, _ name: String
    ) -> HttpbinRoute {
        .get(path) { request in
            let text = JSONText.object([
                JSONText.Member(name, true),
                JSONText.Member("headers", HttpbinReport.headers(request)),
                JSONText.Member("method", .bytes(request.method.name)),
                JSONText.Member("origin", .string(request.connection.host)),
            ]).document
            return ServerResponse(
                200,
                [
                    ResponseField("Content-Type", FileType.json),
                    ResponseField("Content-Encoding", coding.rawValue),
                ], body: .bytes(ContentEncoder.encode(text, coding)))
        }
    }

    private static func links(_ request: ServerRequest) -> ServerResponse {
        guard let count = request.match.number("count"),
            let place = request.match.number("place")
        else { return .plain(404) }
        let links = (0..<min(max(count, 1), 200)).map { number in
            number == place
                ? "\(number)"
                : "<a href='\(request.httpbinPrefix)/links/\(count)/\(number)'>\(number)</a>"
        }
        return ServerResponse(
            200, type: FileType.html,
            "<html><head><title>Links</title></head><body>\(links.joined(separator: " "))"
                + " </body></html>")
    }

    /// The first kind there is that a client names.
    private static func image(_ accepted: String) -> ServerResponse {
        for name in accepted.split(separator: ",") {
            let found: (type: String, bytes: [UInt8])? =
                switch name.prefix(while: { $0 != ";" }).filter({ $0 != " " }) {
                case "image/png", "image/*", "*/*": ("image/png", PixelImage.png(color: 0x336699))
                case "image/jpeg": ("image/jpeg", SmallImages.jpeg)
                case "image/webp": ("image/webp", SmallImages.webP)
                case "image/svg", "image/svg+xml":
                    ("image/svg+xml", [UInt8](SmallImages.svg.utf8))
                default: nil
                }
            if let found {
                return ServerResponse(
                    200, [ResponseField("Content-Type", found.type)], body: .bytes(found.bytes))
            }
        }
        return json(406, ["message": "Client did not request a supported media type."])
    }
}
