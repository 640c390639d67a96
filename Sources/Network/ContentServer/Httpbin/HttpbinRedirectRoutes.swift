internal import Base
internal import HTTPModel
internal import HTTPServer

/// Redirects in chains, and to where a request says.
enum HttpbinRedirectRoutes {
    static let routes: [HttpbinRoute] = [
        .get("/redirect/:count") { request in
            let isAbsolute = request.path.queryValue("absolute").map {
                $0.text.lowercased() == "true"
            }
            return isAbsolute == true
                ? chain(request, "absolute-redirect", base: request.base)
                : chain(request, "relative-redirect", base: "")
        },
        .get("/relative-redirect/:count") { chain($0, "relative-redirect", base: "") },
        .get("/absolute-redirect/:count") { chain($0, "absolute-redirect", base: $0.base) },
        .any("/redirect-to", to),
    ]

    private static func chain(
        _ request: ServerRequest, _ name: String, base: String
    ) -> ServerResponse {
        guard let count = request.match.number("count"), count > 0 else { return .plain(404) }
        let next =
            count == 1
            ? "\(request.httpbinPrefix)/get" : "\(request.httpbinPrefix)/\(name)/\(count - 1)"
        return ServerResponse(302, [ResponseField("Location", base + next)])
    }

    private static func to(_ request: ServerRequest) -> ServerResponse {
        guard let url = request.path.queryValue("url") else { return .plain(400) }
        let status = decimal(request.path.queryValue("status_code") ?? []) ?? 302
        guard (300...308).contains(status), status != 304 else { return .plain(400) }
        let target = PercentCoding.encoded(url) { $0 > 0x20 && $0 < 0x7F }.text
        return ServerResponse(Int(status), [ResponseField("Location", target)])
    }
}
