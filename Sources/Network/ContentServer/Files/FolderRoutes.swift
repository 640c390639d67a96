internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import HTTPServer

/// Serves the files of a folder, and of its folders their `index.html` or a list.
final class FolderRoutes: Sendable {
    private let folder: Folder
    private let configuration: ContentServerConfiguration
    private let digests = DigestCache<FileIdentity>()

    init(_ folder: Folder, _ configuration: ContentServerConfiguration) {
        self.folder = folder
        self.configuration = configuration
    }

    func answer(_ request: ServerRequest) async -> ServerResponse {
        let names = request.match.rest
        let asksForFolder = names.last?.isEmpty ?? true
        guard let entry = folder.entry(asksForFolder ? names.dropLast() : names[...]) else {
            return .plain(404)
        }
        switch entry {
        case .file(let file):
            guard !asksForFolder, let name = names.last else { return .plain(404) }
            return await answer(request, file, named: names, type: FileType.of(fileName: name))
        case .folder(let inner):
            guard asksForFolder else { return addSlash(request) }
            let index = Array(names.dropLast()) + [[UInt8]("index.html".utf8)]
            if case .file(let file)? = folder.entry(index) {
                return await answer(request, file, named: index, type: FileType.html)
            }
            return listing(inner, request).response(to: request)
        }
    }

    private func answer(
        _ request: ServerRequest, _ file: FileAsset, named names: [[UInt8]], type: String
    ) async -> ServerResponse {
        let now = request.receivedAt
        var representation = Representation(
            contentType: type, length: file.identity.size,
            validators: await validators(of: file, now: now)
        ) { range in
            FileSource(file, range: range)
        }
        representation.cacheControl = "no-cache"
        guard configuration.compresses, Representation.isCompressible(type) else {
            return representation.response(to: request)
        }
        representation.isNegotiated = true
        representation.isCompressed = file.identity.size >= Self.compressionMinimum
        // Nobody else pays for looking.
        if AcceptEncoding(request.fields).acceptsCodings {
            representation.coded = await coded(names, file, now: now)
        }
        return representation.response(to: request)
    }

    /// The files that hold the same content in a coding: `a.txt.gz` beside `a.txt`, unless it is
    /// older than that.
    private func coded(
        _ names: [[UInt8]], _ file: FileAsset, now: Timestamp
    ) async -> [Representation.Coded] {
        var found: [Representation.Coded] = []
        guard let name = names.last else { return found }
        for (coding, ending) in Self.endings {
            let path = names.dropLast() + [name + [UInt8](ending.utf8)]
            guard case .file(let packed)? = folder.entry(path),
                packed.identity.modified >= file.identity.modified
            else { continue }
            let validators = await validators(of: packed, now: now)
            found.append(
                Representation.Coded(
                    coding, length: packed.identity.size, validators: validators
                ) { range in
                    FileSource(packed, range: range)
                })
        }
        return found
    }

    private func validators(of file: FileAsset, now: Timestamp) async -> Validators {
        Validators(
            entityTag: await entityTag(of: file, now: now),
            lastModified: Self.lastModified(of: file, now: now))
    }

    /// The file's digest as a strong tag; its metadata where digesting takes too long.
    private func entityTag(of file: FileAsset, now: Timestamp) async -> EntityTag {
        let identity = file.identity
        let isSettled = Self.isSettled(identity, now: now)
        if let known = digests[identity] {
            return EntityTag(known.prefix(16).hex)
        }
        if identity.size <= configuration.tagDigestByteLimit {
            do {
                let hash = try await digest { FileSource(file, range: 0..<identity.size) }
                if file.isUnchanged {
                    if isSettled { digests.keep(hash, of: identity) }
                    return EntityTag(hash.prefix(16).hex)
                }
            } catch {
                return Self.metadataTag(identity, isWeak: true)
            }
        }
        return Self.metadataTag(identity, isWeak: !isSettled || !file.isUnchanged)
    }

    private static func metadataTag(_ identity: FileIdentity, isWeak: Bool) -> EntityTag {
        EntityTag(
            "file-\(identity.device)-\(identity.inode)-\(identity.size)"
                + "-\(identity.modified)-\(identity.changed)", isWeak: isWeak)
    }

    /// Whether the metadata tell this version from a later one: a file may change again within one
    /// tick of the file system's clock and look the same.
    private static func isSettled(_ identity: FileIdentity, now: Timestamp) -> Bool {
        max(identity.modified, identity.changed) / 1000 < now.microseconds - 2_000_000
    }

    /// The file's date, but only once its second is over: whoever holds a date that was sent knows
    /// that every later change bears another one, which makes it strong (RFC 9110 §8.8.2.2).
    private static func lastModified(of file: FileAsset, now: Timestamp) -> HTTPDate? {
        let date = HTTPDate(Timestamp(microseconds: file.identity.modified / 1000))
        return date < HTTPDate(now) ? date : nil
    }

    /// To the same path with a slash, so that relative links in the folder's page work.
    ///
    /// The path has no empty segment here, so it cannot be read as another host's.
    private func addSlash(_ request: ServerRequest) -> ServerResponse {
        let query = request.path.query.map { "?\(Self.location($0))" } ?? ""
        var response = ServerResponse.plain(301)
        response.fields.append(
            ResponseField("Location", "\(Self.location(request.path.raw))/\(query)"))
        return response
    }

    /// With the bytes encoded that stand in no URL: lenient clients send them, and a Location must not
    /// hold them.
    private static func location(_ target: some Sequence<UInt8>) -> String {
        PercentCoding.encoded(target) { $0 > 0x20 && $0 < 0x7F }.text
    }

    private func listing(_ folder: Folder, _ request: ServerRequest) -> Representation {
        let title = MarkupText.escaped("/" + request.match.rest.map(\.text).joined(separator: "/"))
        var page = "<!doctype html>\n<meta charset=utf-8>\n<title>\(title)</title>\n"
        page += "<h1>\(title)</h1>\n<ul>\n"
        for name in folder.names(limit: Self.listingLimit) {
            let isFolder = name.last == UInt8(ascii: "/")
            let link = PercentCoding.encoded(isFolder ? name.dropLast() : name[...]).text
            page += "<li><a href=\"./\(link)\(isFolder ? "/" : "")\">"
            page += "\(MarkupText.escaped(name.text))</a>\n"
        }
        page += "</ul>\n"
        return Representation(
            contentType: FileType.html, bytes: [UInt8](page.utf8),
            validators: Validators(entityTag: nil, lastModified: nil))
    }

    private static let endings: [(ContentCoding, String)] = [
        (.zstd, ".zst"), (.brotli, ".br"), (.gzip, ".gz"),
    ]
    /// How many names one list shows.
    private static let listingLimit = 10_000
    /// In bytes; below it the coding's own overhead eats the gain.
    private static let compressionMinimum: UInt64 = 256
}
