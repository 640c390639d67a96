internal import Base
internal import HTTPServer

/// Generated assets: `/assets/<seed>/<size>` and the digest of each.
enum AssetRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [Route] {
        [
            .get("/assets/:seed/:size", asset),
            .get("/assets/:seed/:size/sha256") { digest($0, configuration) },
        ]
    }

    /// Answers with another version than the path names; `nil` for what is no asset.
    static func answer(
        _ request: ServerRequest, _ version: AssetVersion,
        _ configuration: ContentServerConfiguration, _ draws: inout FaultDraws
    ) -> ServerResponse? {
        let segments = request.path.segments
        guard request.method.isRetrieval, (3...4).contains(segments.count),
            segments[0].elementsEqual("assets".utf8),
            let asset = GeneratedAsset(seed: segments[1], size: segments[2])
        else { return nil }
        if segments.count == 4 {
            guard segments[3].elementsEqual("sha256".utf8) else { return nil }
            return digest(of: version.asset(of: asset), request, configuration)
        }
        return version.representation(
            of: asset, contentType: "application/octet-stream", &draws
        ).response(to: request)
    }

    private static func asset(_ request: ServerRequest) -> ServerResponse {
        guard let asset = named(in: request) else { return unknown }
        var contentType = "application/octet-stream"
        if let type = request.path.queryValue("type") {
            guard isMediaType(type) else { return .plain(400) }
            contentType = type.text
        }
        var response = asset.representation(contentType: contentType).response(to: request)
        response.isSteady = true
        return response
    }

    private static func digest(
        _ request: ServerRequest, _ configuration: ContentServerConfiguration
    ) -> ServerResponse {
        guard let asset = named(in: request) else { return unknown }
        return digest(of: asset, request, configuration)
    }

    private static func digest(
        of asset: GeneratedAsset, _ request: ServerRequest,
        _ configuration: ContentServerConfiguration
    ) -> ServerResponse {
        guard asset.size <= configuration.digestByteLimit else {
            return ServerResponse(
                422, type: "text/plain; charset=utf-8",
                "digests are made of up to \(configuration.digestByteLimit) bytes\n")
        }
        switch configuration.digestSlots.take(asset.size, for: request) {
        case .refused(let response): return response
        case .granted(let slot):
            let source = DigestSource(slot) {
                GeneratedSource(asset.content, range: 0..<asset.size)
            }
            return ServerResponse(
                200, [ResponseField("Content-Type", "text/plain; charset=utf-8")],
                body: .stream(length: DigestSource.length, source))
        }
    }

    private static func named(in request: ServerRequest) -> GeneratedAsset? {
        GeneratedAsset(seed: request.match["seed"], size: request.match["size"])
    }

    private static var unknown: ServerResponse {
        ServerResponse(
            404, type: "text/plain; charset=utf-8",
            "an asset is /assets/<seed below 2^64>/<bytes below 2^63, or with k, m, g, t>\n")
    }

    /// `type/subtype` in token characters, with parameters that need no quotes.
    private static func isMediaType(_ text: [UInt8]) -> Bool {
        guard text.count <= 100, text.filter({ $0 == UInt8(ascii: "/") }).count == 1,
            text.first != UInt8(ascii: "/")
        else { return false }
        return text.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || "/+-._; =".utf8.contains($0)
        }
    }
}
