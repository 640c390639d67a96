internal import Base
internal import HTTPModel
internal import HTTPServer

/// Packs: `/packs/<seed>/manifest.json` and the assets that it names.
struct PackRoutes: Sendable {
    private let configuration: ContentServerConfiguration
    /// By entity tag.
    private let digests = DigestCache<[UInt8]>()

    init(_ configuration: ContentServerConfiguration) {
        self.configuration = configuration
    }

    var routes: [Route] {
        [
            Route([.get], "/packs/:seed/manifest.json") { request, _ in await manifest(request) },
            .get("/packs/:seed/*", asset),
        ]
    }

    private func asset(_ request: ServerRequest) -> ServerResponse {
        let name = [UInt8](request.match.rest.joined(separator: [0x2F]))
        guard let asset = Pack(request)?.asset(named: name) else { return Self.unknown }
        return asset.representation(compresses: configuration.compresses).response(to: request)
    }

    private func manifest(_ request: ServerRequest) async -> ServerResponse {
        guard let pack = Pack(request) else { return Self.unknown }
        let largest = pack.assets.filter { digests[$0.entityTag.opaque] == nil }
            .map(\.content.size).filter { $0 <= configuration.digestByteLimit }.max()
        switch configuration.digestSlots.take(largest ?? 0, for: request) {
        case .refused(let response): return response
        case .granted(let slot):
            let response = await manifest(of: pack, request)
            return withExtendedLifetime(slot) { response }
        }
    }

    private func manifest(of pack: Pack, _ request: ServerRequest) async -> ServerResponse {
        var assets: [JSONText] = []
        var size: UInt64 = 0
        do throws(ResponseInterruption) {
            for asset in pack.assets {
                size = size.addingReportingOverflow(asset.content.size).partialValue
                assets.append(try await json(asset, of: pack))
            }
        } catch {
            return .plain(500)
        }
        let manifest: JSONText = [
            "schema": "sallyport.pack/1", "seed": .string(String(pack.seed)),
            "version": .string(String(pack.version)), "bytes": .integer(Int64(clamping: size)),
            "assets": .array(assets),
        ]
        var page = smallPage(FileType.json, manifest.document, configuration)
        page.cacheControl = "no-cache"
        return page.response(to: request)
    }

    private func json(
        _ asset: PackAsset, of pack: Pack
    ) async throws(ResponseInterruption) -> JSONText {
        let digest = try await sha256(of: asset)
        return [
            "name": .string(asset.name),
            "url": .string("/packs/\(pack.seed)/\(asset.name)?\(pack.query(asset))"),
            "type": .string(asset.kind.contentType),
            "bytes": .integer(Int64(clamping: asset.content.size)),
            "sha256": .optional(digest?.hex), "version": .string(String(asset.version)),
            "rendition": .string(asset.kind == .thumbnail ? "thumbnail" : "full"),
            "selectors": [
                "device": .optional(asset.device), "scale": .optional(asset.scale),
                "language": .optional(asset.language),
            ],
            "policy": .string(asset.policy), "sequence": .integer(Int64(asset.level)),
            // All of it can be downloaded again; what the app cannot start without is kept.
            "storage": ["backup": false, "purgeable": .boolean(asset.policy != "essential")],
        ]
    }

    /// `nil` for one that is too large to digest.
    private func sha256(of asset: PackAsset) async throws(ResponseInterruption) -> [UInt8]? {
        let content = asset.content
        guard content.size <= configuration.digestByteLimit else { return nil }
        if let known = digests[asset.entityTag.opaque] { return known }
        let made = try await digest { PackSource(content, range: 0..<content.size) }
        digests.keep(made, of: asset.entityTag.opaque)
        return made
    }

    private static var unknown: ServerResponse {
        ServerResponse(
            404, type: "text/plain; charset=utf-8",
            "a pack is /packs/<seed below 2^64>/manifest.json, with ?version=<n>, ?large=<size> and"
                + " ?defects=<duplicates,text,media,cache>; it names the assets\n")
    }
}
