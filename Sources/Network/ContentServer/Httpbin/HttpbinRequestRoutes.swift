internal import Base
internal import HTTPModel
internal import HTTPServer

/// The request back, in httpbin's shapes.
enum HttpbinRequestRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [HttpbinRoute] {
        [
            .get("/get") { HttpbinReport($0).response },
            with([.post], "/post", configuration), with([.put], "/put", configuration),
            with([.patch], "/patch", configuration), with([.delete], "/delete", configuration),
            with(all, "/anything/*", configuration, namesMethod: true),
            with(all, "/anything", configuration, namesMethod: true),
            .get("/headers") { json(200, ["headers": HttpbinReport.headers($0)]) },
            .get("/ip") { json(200, ["origin": .string($0.connection.host)]) },
            .get("/user-agent") {
                let agent = $0.fields.first(named: "user-agent")
                return json(200, ["user-agent": agent.map { .bytes([UInt8]($0)) } ?? .null])
            },
        ]
    }

    private static func with(
        _ methods: [RequestMethod], _ path: String, _ configuration: ContentServerConfiguration,
        namesMethod: Bool = false
    ) -> HttpbinRoute {
        HttpbinRoute(methods, path) { request, body in
            do throws(Failure) {
                let content = try await body.collect(byteLimit: configuration.bodyByteLimit)
                return HttpbinReport(request, content: content, namesMethod: namesMethod).response
            } catch {
                return .unreadable(error)
            }
        }
    }

    private static let all: [RequestMethod] = [.get, .post, .put, .patch, .delete]
}
