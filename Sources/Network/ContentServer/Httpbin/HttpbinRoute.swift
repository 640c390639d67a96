internal import Base
internal import HTTPServer

/// A route of httpbin, below the prefix that it gets.
struct HttpbinRoute {
    private let methods: [RequestMethod]
    private let path: String
    private let answer: Answer

    init(_ methods: [RequestMethod], _ path: String, answer: @escaping Answer) {
        self.methods = methods
        self.path = path
        self.answer = answer
    }

    static func get(
        _ path: String, _ answer: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) -> HttpbinRoute {
        HttpbinRoute([.get], path) { request, _ in answer(request) }
    }

    /// For paths that are asked for with any method.
    static func any(
        _ path: String, _ answer: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) -> HttpbinRoute {
        HttpbinRoute([.get, .post, .put, .patch, .delete], path) { request, _ in answer(request) }
    }

    func below(_ prefix: String) -> Route {
        Route(methods, PathPattern(prefix + path), answer: answer)
    }
}

/// The routes of httpbin, so that suites of tests that know it run here unchanged.
enum HttpbinRoutes {
    /// Below `/httpbin`, and at the root unless a folder is served there: its files come first, but
    /// for the two that have always been there.
    static func routes(_ configuration: ContentServerConfiguration) -> [Route] {
        let routes =
            HttpbinRequestRoutes.routes(configuration) + HttpbinPaceRoutes.routes(configuration)
            + HttpbinRedirectRoutes.routes
            + HttpbinCookieRoutes.routes + HttpbinLoginRoutes.routes(configuration)
            + HttpbinContentRoutes.routes + HttpbinDataRoutes.routes(configuration)
            + HttpbinCacheRoutes.routes
        let own = HttpbinStatusRoutes(configuration).routes + [HttpbinDataRoutes.stream]
        let atRoot = configuration.folder == nil ? routes + own : own
        return (routes + own).map { $0.below("/httpbin") } + atRoot.map { $0.below("") }
    }
}

extension ServerRequest {
    /// The path ahead of httpbin's routes: redirects stay below it.
    var httpbinPrefix: String {
        path.segments.first?.elementsEqual("httpbin".utf8) == true ? "/httpbin" : ""
    }
}
