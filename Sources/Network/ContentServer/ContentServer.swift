internal import Base
package import HTTPServer

/// What the content server serves.
package struct ContentServerConfiguration: Sendable {
    /// The folder whose files are served beside the built-in routes; `nil` for none.
    package var folder: Folder?
    /// Whether text is sent as gzip to clients that take it.
    package var compresses = true
    /// What session cookies are derived from, so that a replay gets the same ones.
    package var seed: UInt64 = 1
    /// The largest asset that is digested on demand, in bytes: minutes of one core.
    package var digestByteLimit: UInt64 = 64 << 30
    /// The largest file whose tag is its digest, in bytes: what is read before its first answer.
    package var tagDigestByteLimit: UInt64 = 256 << 20
    /// The largest content that is digested before its first byte is sent, in bytes: a tenth of a
    /// second.
    package var aheadDigestByteLimit: UInt64 = 64 << 20
    /// The largest request body that is kept in memory, in bytes.
    package var bodyByteLimit = 1 << 20

    package init() {}
}

/// A fake origin: routes as values, in one table.
package struct ContentServer: Sendable {
    package let router: Router
    private let digests: ResponseDigests

    package init(_ configuration: ContentServerConfiguration) {
        var routes =
            AssetRoutes.routes(configuration) + GalleryRoutes.routes(configuration)
            + LoginRoutes.routes(configuration) + EchoRoutes.routes(configuration)
            + PackRoutes(configuration).routes + DigestLoginRoutes.routes(configuration)
            + TokenRoutes(configuration).routes + PortalRoutes.routes
            + FeedRoutes(configuration).routes + HttpbinRoutes.routes(configuration)
        if let folder = configuration.folder {
            let files = FolderRoutes(folder, configuration)
            routes.append(Route([.get], "/*") { request, _ in await files.answer(request) })
        } else {
            routes.append(.get("/") { IndexPage.representation(configuration).response(to: $0) })
        }
        router = Router(routes)
        digests = ResponseDigests(aheadByteLimit: configuration.aheadDigestByteLimit)
    }

    /// Answers one request.
    package func answer(_ request: ServerRequest, _ body: RequestBody) async -> ServerResponse {
        await digests.added(to: await router.answer(request, body), for: request)
    }
}
