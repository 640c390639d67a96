package import Base
internal import Contents

/// What a fetch client keeps in a folder: the state of its feeds, the items, those that came while
/// the folder's own class was closed, and thumbnails. Files are 0600, and each is replaced as a whole
/// or only added to.
///
/// `@unchecked Sendable`: used by one task at a time, on the client's loop.
package final class RefreshStore: @unchecked Sendable {
    package let folder: String
    private var feeds: [String: FeedState] = [:]
    /// Feeds that are being fetched for the first time, for which room is held.
    private var awaited: Set<String> = []
    /// Feeds that are to be kept up to date: where one needs room, another is forgotten for it. `nil` if
    /// nobody has said which, and none is forgotten.
    package var configured: Set<String>?
    /// What was found wrong when it was opened, for people.
    package private(set) var notes: [String] = []
    private let items: ItemFile
    private let pending: ItemFile
    /// `nil` before one is kept.
    private var thumbnails: ThumbnailFolder?

    package static let stateSchema = "sallyport.refresh-state/1"
    /// In bytes: some thousands of feeds.
    private static let stateLimit = 64 << 20
    package static let feedLimit = 256

    /// Opens a folder, which is made if it is not there. A state that is torn is put aside, and
    /// everything is fetched anew.
    ///
    /// Errors: `file-unreadable`, `file-unwritable`, `state-version` for a state that a later version
    /// has written, which stays as it is.
    package init(folder: String) throws(Failure) {
        self.folder = folder
        try Files.makeFolder(folder)
        items = try ItemFile("\(folder)/items.jsonl")
        pending = try ItemFile("\(folder)/pending.jsonl")
        if items.wasTooLong || pending.wasTooLong {
            notes.append("the items in \(folder) were too many: the older ones are left out")
        }
        switch try CheckedFile.read(
            statePath, schema: Self.stateSchema, byteLimit: Self.stateLimit)
        {
        case .absent: break
        case .whole(let content): feeds = Self.feeds(content)
        case .damaged:
            notes.append("\(statePath) was torn: it is put aside, and all feeds are fetched anew")
            guard Files.move(statePath, to: statePath + ".damaged") else {
                throw Failure("file-unwritable", party: .tool, "cannot move \(statePath) aside")
            }
        case .otherSchema(let schema):
            throw Failure(
                "state-version", party: .tool,
                "\(statePath) has the schema \(schema.withoutUnseen), and not \(Self.stateSchema)",
                hint: "name another folder, or move the file away")
        }
    }

    private var statePath: String { "\(folder)/state" }

    // MARK: State

    package func state(of url: String) -> FeedState { feeds[url] ?? FeedState(url) }

    /// Holds room for a feed before it is fetched: what cannot be kept is not to be fetched, nor its
    /// files handed over. Of those that are not configured the one that was current longest ago is
    /// forgotten if there is none.
    ///
    /// Errors: `too-many-feeds`.
    func holdRoom(for url: String) throws(Failure) {
        guard feeds[url] == nil, !awaited.contains(url) else { return }
        try makeRoom()
        awaited.insert(url)
    }

    /// A feed was fetched, and kept or not.
    func releaseRoom(for url: String) { awaited.remove(url) }

    private func makeRoom() throws(Failure) {
        while feeds.count + awaited.count >= Self.feedLimit {
            let others = feeds.values.filter { configured?.contains($0.url) == false }
            guard let oldest = others.min(by: { ($0.currentAt, $0.url) < ($1.currentAt, $1.url) })
            else {
                throw Failure(
                    "too-many-feeds", party: .client,
                    "more than \(Self.feedLimit) feeds in \(folder)")
            }
            feeds[oldest.url] = nil
        }
    }

    /// Keeps what was fetched, the items before the state: what ends in between brings the same
    /// items again, and they are known by their identifiers.
    ///
    /// Errors: `file-unwritable`, `too-many-feeds`.
    package func commit(_ state: FeedState, _ new: [KeptItem], aside: Bool) throws(Failure) {
        if feeds[state.url] == nil, awaited.remove(state.url) == nil { try makeRoom() }
        if !new.isEmpty { try (aside ? pending : items).append(new) }
        guard feeds[state.url] != state else { return }
        feeds[state.url] = state
        let sorted = feeds.values.sorted { $0.url < $1.url }
        let content: JSONText = ["feeds": .array(sorted.map(\.json))]
        try CheckedFile.write(statePath, schema: Self.stateSchema, content.document)
    }

    private static func feeds(_ content: [UInt8]) -> [String: FeedState] {
        let states = (JSONObject(content)?.objects("feeds") ?? []).compactMap(FeedState.init)
        return Dictionary(states.map { ($0.url, $0) }) { first, _ in first }
    }

    // MARK: Items

    /// What a folder holds, of what came while the device was locked, too; nothing is made or
    /// changed.
    ///
    /// Errors: `file-unreadable`.
    package static func items(in folder: String) throws(Failure) -> [KeptItem] {
        try ItemFile.read("\(folder)/items.jsonl") + ItemFile.read("\(folder)/pending.jsonl")
    }

    /// Takes what came while the device was locked to the other items, once each.
    ///
    /// - Returns: how many there were.
    ///
    /// Errors: `file-unreadable`, `file-unwritable`.
    package func merge() throws(Failure) -> Int {
        let waiting = try pending.read()
        guard !waiting.isEmpty else { return 0 }
        let known = Set(try items.read().map(\.key))
        let new = waiting.filter { !known.contains($0.key) }
        if !new.isEmpty { try items.append(new) }
        pending.remove()
        return new.count
    }

    /// Keeps a small picture.
    ///
    /// - Returns: its name in the folder `thumbnails`.
    ///
    /// Errors: `file-unwritable`.
    func keepThumbnail(_ url: String, _ bytes: [UInt8]) throws(Failure) -> String {
        if let thumbnails { return try thumbnails.keep(url, bytes) }
        let used = try (items.read() + pending.read()).flatMap(\.thumbnails)
        let opened = try ThumbnailFolder("\(folder)/thumbnails", used: used)
        thumbnails = opened
        return try opened.keep(url, bytes)
    }
}

extension FeedState {
    fileprivate var json: JSONText {
        [
            "url": .string(url), "etag": .optional(entityTag),
            "lastModified": .optional(lastModified), "cursor": .optional(cursor),
            "gone": .boolean(isGone), "notBeforeMs": .integer(notBefore),
            "flaps": .integer(Int64(flapCount)), "duplicates": .integer(Int64(duplicateCount)),
            "currentMs": .integer(currentAt), "known": .array(known.map { .string($0) }),
        ]
    }

    fileprivate init?(_ row: JSONObject) {
        guard let url = row.text("url"), let known = row.texts("known") else { return nil }
        self.init(url)
        entityTag = row.text("etag")
        lastModified = row.text("lastModified")
        // An earlier version kept longer ones, with which no request could be made.
        cursor = row.text("cursor").flatMap { $0.utf8.count <= Self.markLimit ? $0 : nil }
        isGone = row.boolean("gone") ?? false
        notBefore = row.integer("notBeforeMs") ?? 0
        flapCount = Int(clamping: row.integer("flaps") ?? 0)
        duplicateCount = Int(clamping: row.integer("duplicates") ?? 0)
        currentAt = row.integer("currentMs") ?? 0
        self.known = known.suffix(FeedState.knownLimit)
    }
}
