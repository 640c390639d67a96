internal import Base
internal import HTTPModel
internal import HTTPServer
internal import Synchronization

/// `/feeds/<format>/<name>`: feeds that go on with every poll, as `?steps=` has it.
final class FeedRoutes: Sendable {
    private let configuration: ContentServerConfiguration
    /// How often each feed was polled.
    private let polls = Mutex<[[UInt8]: UInt64]>([:])

    init(_ configuration: ContentServerConfiguration) {
        self.configuration = configuration
    }

    var routes: [Route] {
        [
            .get("/feeds/cursor/:name", cursor),
            .get("/feeds/:format/:name", feed),
            Route([.delete], "/feeds/:format/:name") { request, _ in
                self.polls.withLock { $0[request.match["name"]] = nil }
                return ServerResponse(204)
            },
        ]
    }

    private func feed(_ request: ServerRequest) -> ServerResponse {
        guard let format = FeedFormat(rawValue: request.match["format"].text),
            let name = Self.name(request), let script = FeedScript(Self.steps(request))
        else { return Self.unknown }
        guard let ordinal = poll(request) else { return Self.full }
        let (step, count) = script.poll(ordinal)
        switch step {
        case .gone: return .plain(410)
        case .fail: return Self.unavailable
        case .new, .none, .flap, .duplicate, .cut: break
        }
        var items = self.items(name, newest: count, limit: Self.shownCount)
        if step == .duplicate { items.insert(items[0], at: 0) }
        var bytes = format.document(
            name, items, url: request.base + request.path.raw.text,
            media: request.path.queryValue("media") == nil ? nil : request.base)
        if step == .cut { bytes.removeLast(bytes.count / 3) }
        var version = "feed-\(count)"
        var date = items[0].date
        if step != .new, step != .none { version += "-\(step.rawValue)-\(ordinal)" }
        if step == .flap {
            date = HTTPDate(seconds: date.seconds + Int64(clamping: ordinal % 3600))
        }
        var representation = Representation(
            contentType: format.contentType, bytes: bytes,
            validators: Validators(entityTag: EntityTag(version), lastModified: date))
        representation.cacheControl = "no-cache"
        representation.isCompressed = configuration.compresses
        return representation.response(to: request)
    }

    /// The items oldest first, so many at once: `next` is where to go on, and stays the same while
    /// there is nothing new.
    private func cursor(_ request: ServerRequest) -> ServerResponse {
        let after = request.path.queryValue("after") ?? []
        let limit = decimal(request.path.queryValue("limit") ?? []) ?? 10
        guard let name = Self.name(request), let script = FeedScript(Self.steps(request)),
            (1...UInt64(Self.shownCount)).contains(limit)
        else { return Self.unknown }
        guard let first = after.isEmpty ? 0 : decimal(after) else { return .plain(400) }
        guard let ordinal = poll(request) else { return Self.full }
        let (step, count) = script.poll(ordinal)
        if step == .gone { return .plain(410) }
        if step == .fail { return Self.unavailable }
        let end = first < count ? first + min(limit, count - first) : first
        let items = (first..<end).map {
            FeedItem($0 + 1, feed: name, seed: configuration.seed)
        }
        return json(
            200,
            [
                "items": .array(items.map { FeedFormat.object($0) }), "next": .string(String(end)),
                "more": .boolean(end < count),
            ])
    }

    /// The newest first.
    private func items(_ name: String, newest: UInt64, limit: Int) -> [FeedItem] {
        (0..<min(UInt64(limit), newest)).map {
            FeedItem(newest - $0, feed: name, seed: configuration.seed)
        }
    }

    /// The number of this poll; HEAD looks at what the next one will find.
    ///
    /// - Returns: `nil` for one feed too many: those that there are go on, whatever names come.
    private func poll(_ request: ServerRequest) -> UInt64? {
        polls.withLock { polls in
            let name = request.match["name"]
            let ordinal = polls[name] ?? 0
            guard request.method == .get else { return ordinal }
            guard ordinal > 0 || polls.count < Self.feedLimit else { return nil }
            polls[name] = ordinal + 1
            return ordinal
        }
    }

    private static func steps(_ request: ServerRequest) -> [UInt8]? {
        request.path.queryValue("steps")
    }

    private static func name(_ request: ServerRequest) -> String? {
        let name = request.match["name"]
        let isName = name.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-")
        }
        return isName && name.count <= 64 ? name.text : nil
    }

    private static var unavailable: ServerResponse {
        var response = ServerResponse.plain(503)
        response.fields.append(ResponseField("Retry-After", "1"))
        return response
    }

    private static var full: ServerResponse {
        var response = ServerResponse(
            503, type: "text/plain; charset=utf-8",
            "\(feedLimit) feeds are polled already: end some by DELETE\n")
        response.fields.append(ResponseField("Retry-After", "60"))
        return response
    }

    private static var unknown: ServerResponse {
        let steps = FeedScript.Step.allCases.map(\.rawValue).joined(separator: ",")
        return ServerResponse(
            404, type: "text/plain; charset=utf-8",
            "a feed is /feeds/<json, atom, rss or cursor>/<name>, with ?steps=<some of \(steps)>\n")
    }

    /// Items in one document.
    private static let shownCount = 20
    /// How many feeds are counted; each takes some 150 bytes.
    private static let feedLimit = 10_000
}
