internal import Base
internal import HTTPModel
package import HTTPServer
package import TLS

/// What the content server serves.
package struct ContentServerConfiguration: Sendable {
    /// The folder whose files are served beside the built-in routes; `nil` for none.
    package var folder: Folder?
    /// Whether text is sent as gzip to clients that take it.
    package var compresses = true
    /// What session cookies are derived from, and what faults are drawn from, so that a replay gets
    /// the same ones.
    package var seed: UInt64 = 1
    /// What goes wrong for whom.
    package var scenario = Scenario()
    /// The largest asset that is digested on demand, in bytes: minutes of one core.
    package var digestByteLimit: UInt64 = 64 << 30
    /// The largest file whose tag is its digest, in bytes: what is read before its first answer.
    package var tagDigestByteLimit: UInt64 = 256 << 20
    /// The largest content that is digested before its first byte is sent, in bytes: a tenth of a
    /// second.
    package var aheadDigestByteLimit: UInt64 = 64 << 20
    /// What bounds the digests that take longer.
    var digestSlots = DigestSlots(freeByteLimit: 64 << 20)
    /// The largest request body that is kept in memory, in bytes.
    package var bodyByteLimit = 1 << 20
    /// What keeps uploads; `nil` to take none.
    package var uploads: UploadStore?

    /// What profiles name and are signed by; `nil` for none.
    package var authority: CertificateAuthority?
    /// Lists the TLS hosts; `nil` for none.
    package var hosts: (@Sendable () async -> [ContentHost])?
    /// Issues a certificate for clients with its key, in PEM; `nil` if none is to be had.
    package var issueClientCertificate: (@Sendable () -> [UInt8]?)?

    package init() {}
}

/// A fake origin: routes as values, in one table, with what goes wrong around them and a journal
/// around all of it.
package final class ContentServer: Sendable {
    private let router: Router
    package let journal: Journal
    private let faults: FaultLayer
    private let ownRoutes: JournalRoutes

    package init(_ configuration: ContentServerConfiguration, journal: Journal = Journal()) {
        var routes =
            AssetRoutes.routes(configuration) + GalleryRoutes.routes(configuration)
            + LoginRoutes.routes(configuration) + EchoRoutes.routes(configuration)
            + PackRoutes(configuration).routes + DigestLoginRoutes.routes(configuration)
            + TokenRoutes(configuration).routes + PortalRoutes.routes
            + FeedRoutes(configuration).routes + HostRoutes.routes(configuration)
            + HttpbinRoutes.routes(configuration)
        if let store = configuration.uploads {
            routes += UploadRoutes(store, configuration).routes
        }
        let pushes = PushService(configuration)
        routes += PushRoutes(service: pushes).routes
        let managed = ManagedRoutes()
        routes +=
            NegotiateRoutes().routes + managed.routes + ProxyScriptRoutes.routes
            + ProfileRoutes(authority: configuration.authority, managed: managed).routes
        if let folder = configuration.folder {
            let files = FolderRoutes(folder, configuration)
            routes.append(Route([.get], "/*") { request, _ in await files.answer(request) })
        } else {
            routes.append(.get("/") { IndexPage.representation(configuration).response(to: $0) })
        }
        router = Router(routes)
        self.journal = journal
        let schedule = FaultSchedule(configuration.scenario, seed: configuration.seed)
        faults = FaultLayer(
            schedule: schedule, configuration: configuration,
            digests: ResponseDigests(aheadByteLimit: configuration.aheadDigestByteLimit))
        ownRoutes = JournalRoutes(
            journal: journal, schedule: schedule, pushes: pushes, managed: managed,
            authority: configuration.authority?.certificate,
            issueClientCertificate: configuration.issueClientCertificate)
    }

    private func answerAsHost(
        _ request: ServerRequest, _ body: RequestBody
    ) async -> ServerResponse {
        if let refusal = HostRoutes.refusal(of: request.connection, to: request.host) {
            return refusal
        }
        return await router.answer(request, body)
    }

    /// Answers one request.
    package func answer(_ request: ServerRequest, _ body: RequestBody) async -> ServerResponse {
        if request.path.segments.first?.elementsEqual(".sallyport".utf8) == true {
            return await ownRoutes.answer(request)
        }
        let client = ClientLabel.of(request)
        let entry = journal.begin(request, client: client)
        var (response, wrong) = await faults.answer(
            request, body, client: client, next: answerAsHost)
        journal.note(entry, response, faults: wrong, received: body.count)
        response.onEnd = { [journal] in journal.end(entry, $0) }
        if response.isSteady {
            response.repetition = repetition(of: entry, request, client)
        }
        return response
    }

    /// Takes note of a request that was refused ahead of any route.
    package func note(_ refused: RefusedRequest) { journal.note(refused) }

    /// What an answer does that is sent again: each one is a record of its own.
    private func repetition(
        of entry: JournalEntry, _ request: ServerRequest, _ client: String
    ) -> Repetition {
        // A label may be an address as well.
        let isLabelled = ClientLabel.given(request)?.elementsEqual(client.utf8) == true
        return { [journal, host = request.host] connection in
            guard HostRoutes.refusal(of: connection, to: host) == nil else { return nil }
            let entry = journal.begin(
                again: entry, client: isLabelled ? nil : connection.host, connection.number)
            return { journal.end(entry, $0) }
        }
    }
}
