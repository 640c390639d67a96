internal import Base

/// Answers one request; hosts, authentication and faults are functions around such a function.
package typealias Answer = @Sendable (ServerRequest, RequestBody) async -> ServerResponse

/// A route as a value: which methods, which paths, what answer.
package struct Route: Sendable {
    package let methods: [RequestMethod]
    package let pattern: PathPattern
    package let answer: Answer

    package init(
        _ methods: [RequestMethod], _ pattern: PathPattern, answer: @escaping Answer
    ) {
        self.methods = methods
        self.pattern = pattern
        self.answer = answer
    }

    /// A route that only looks at the head, and answers GET (and so HEAD).
    package static func get(
        _ pattern: PathPattern, _ answer: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) -> Route {
        Route([.get], pattern) { request, _ in answer(request) }
    }

    /// A route with GET answers HEAD too (RFC 9110 §9.3.2).
    fileprivate func accepts(_ method: RequestMethod) -> Bool {
        methods.contains(method) || (method == .head && methods.contains(.get))
    }
}

/// Routes in order: the first that matches path and method answers.
package struct Router: Sendable {
    package let routes: [Route]
    /// Those that may match a path, by its first segment, so that many routes cost no more than few.
    private let byFirstSegment: [[UInt8]: [Route]]
    /// Those that may match a path with any other first segment.
    private let others: [Route]

    package init(_ routes: [Route]) {
        self.routes = routes
        others = routes.filter { $0.pattern.firstSegment == nil }
        let segments = Set(routes.compactMap(\.pattern.firstSegment))
        byFirstSegment = Dictionary(
            uniqueKeysWithValues: segments.map { segment in
                (segment, routes.filter { [nil, segment].contains($0.pattern.firstSegment) })
            })
    }

    /// Answers with the first route that matches.
    ///
    /// A path that no route knows is 404; one that no route knows with this method is 405 with
    /// Allow, or for OPTIONS 204 with Allow; `OPTIONS *` tells the methods of all routes.
    package func answer(_ request: ServerRequest, _ body: RequestBody) async -> ServerResponse {
        var matching: [Route] = []
        for route in candidates(request.path) {
            if request.path.isAsterisk {
                matching.append(route)
                continue
            }
            guard let match = route.pattern.match(request.path.segments) else { continue }
            if route.accepts(request.method) {
                var routed = request
                routed.match = match
                return await route.answer(routed, body)
            }
            matching.append(route)
        }
        guard !matching.isEmpty else { return .plain(404) }
        let allow = ResponseField("Allow", Self.allow(matching))
        if request.method == .options { return ServerResponse(204, [allow]) }
        guard !request.path.isAsterisk else { return .plain(400) }
        var refusal = ServerResponse.plain(405)
        refusal.fields.append(allow)
        return refusal
    }

    private func candidates(_ path: RequestPath) -> [Route] {
        guard !path.isAsterisk else { return routes }
        return path.segments.first.flatMap { byFirstSegment[$0] } ?? others
    }

    private static func allow(_ routes: [Route]) -> String {
        var methods = routes.flatMap(\.methods)
        if methods.contains(.get) { methods.append(.head) }
        methods.append(.options)
        return Set(methods.map(\.text)).sorted().joined(separator: ", ")
    }
}
