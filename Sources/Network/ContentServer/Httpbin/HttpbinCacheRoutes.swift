internal import Base
internal import HTTPModel
internal import HTTPServer

/// Conditions, caches, and fields by request.
enum HttpbinCacheRoutes {
    static let routes: [HttpbinRoute] = [
        .get("/cache") { request in
            let isConditional =
                !request.fields.all(named: "if-modified-since").isEmpty
                || !request.fields.all(named: "if-none-match").isEmpty
            guard !isConditional else { return ServerResponse(304) }
            var response = HttpbinReport(request).response
            response.fields += [
                ResponseField("Last-Modified", request.date.text),
                ResponseField("ETag", "\"\(request.date.seconds)\""),
            ]
            return response
        },
        .get("/cache/:seconds") { request in
            guard let seconds = request.match.number("seconds") else { return .plain(404) }
            var response = HttpbinReport(request).response
            response.fields.append(
                ResponseField("Cache-Control", "public, max-age=\(seconds)"))
            return response
        },
        .get("/etag/:tag") { request in
            let report = HttpbinReport(request).response
            guard case .bytes(let bytes) = report.body else { return report }
            let tag = request.match["tag"].filter { $0 > 0x20 && $0 != 0x22 && $0 < 0x7F }
            return Representation(
                contentType: FileType.json, bytes: bytes,
                validators: Validators(entityTag: EntityTag(tag.text), lastModified: nil)
            ).response(to: request)
        },
        HttpbinRoute([.get, .post], "/response-headers") { request, _ in
            responseHeaders(request)
        },
    ]

    private static func responseHeaders(_ request: ServerRequest) -> ServerResponse {
        let items = (request.path.query.map { FormItem.parse($0[...]) } ?? []).prefix(limit)
        var response = json(
            200, .object(items.map { JSONText.Member($0.name.text, .bytes($0.value)) }))
        for item in items where isToken(item.name) {
            if item.name.text.lowercased() == "content-type" {
                response.fields.removeAll { $0.name == "Content-Type" }
                response.fields.append(.sandbox)
            }
            response.fields.append(ResponseField(item.name.text, item.value.text))
        }
        return response
    }

    /// A field's name (RFC 9110 §5.6.2).
    private static func isToken(_ name: [UInt8]) -> Bool {
        !name.isEmpty
            && name.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains($0)
            }
    }

    private static let limit = 64
}
