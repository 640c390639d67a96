package import Base
internal import Contents

/// An item as it is kept.
package struct KeptItem: Sendable, Equatable {
    package let feed: String
    package let id: String
    package let title: String
    /// In milliseconds since 1970; `nil` if the feed gave none.
    package let date: Int64?
    /// Names in the folder `thumbnails`.
    package var thumbnails: [String] = []
    /// What was left to transfers.
    package var assets: [String] = []

    init(_ entry: FeedEntry, of feed: String) {
        self.feed = feed
        id = entry.id
        title = entry.title
        date = entry.date.map { $0.microseconds / 1000 }
    }

    var key: String { "\(feed) \(id)" }
}

/// Items one a line, to which is only added; what is cut off at its end is not counted.
final class ItemFile {
    private let path: String
    private var size = 0
    /// In bytes: beyond, the older half is left out.
    static let byteLimit = 16 << 20

    /// Cuts off a line that was not written to its end.
    ///
    /// Errors: `file-unreadable`, `file-unwritable`.
    init(_ path: String) throws(Failure) {
        self.path = path
        guard Files.exists(path) else { return }
        let bytes = try Files.read(path, byteLimit: 2 * Self.byteLimit)
        let end = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        size = end
        if end < bytes.count { try Files.replace(path, Array(bytes[..<end])) }
    }

    func append(_ items: [KeptItem]) throws(Failure) {
        var lines: [UInt8] = []
        for item in items { lines += item.json.line + [0x0A] }
        if size + lines.count > Self.byteLimit { try shorten() }
        try Files.append(path, lines)
        size += lines.count
    }

    func read() throws(Failure) -> [KeptItem] { try Self.read(path) }

    static func read(_ path: String) throws(Failure) -> [KeptItem] {
        guard Files.exists(path) else { return [] }
        return try Files.read(path, byteLimit: 2 * byteLimit).split(separator: 0x0A)
            .compactMap { line in JSONDocument(Array(line)).flatMap { KeptItem(JSONRow($0)) } }
    }

    func remove() {
        Files.remove(path)
        size = 0
    }

    private func shorten() throws(Failure) {
        let bytes = try Files.read(path, byteLimit: 2 * Self.byteLimit)
        let half = bytes[(bytes.count / 2)...]
        let kept = Array(half.drop { $0 != 0x0A }.dropFirst())
        try Files.replace(path, kept)
        size = kept.count
    }
}

extension KeptItem {
    package static let schema = "sallyport.refresh-item/1"

    var json: JSONText { json { $0 } }

    /// - Parameter shown: what is told of a URL.
    package func json(_ shown: (String) -> String) -> JSONText {
        let date = date.map { Timestamp(microseconds: $0 * 1000) }
        return [
            "schema": .string(Self.schema), "feed": .string(shown(feed)), "id": .string(id),
            "title": .string(title), "publishedAt": .optional(date?.rfc3339),
            "thumbnails": .array(thumbnails.map { .string($0) }),
            "assets": .array(assets.map { .string(shown($0)) }),
        ]
    }

    fileprivate init?(_ row: JSONRow) {
        guard let feed = row.text("feed"), let id = row.text("id") else { return nil }
        self.feed = feed
        self.id = id
        title = row.text("title") ?? ""
        date = row.text("publishedAt").flatMap { Timestamp(iso8601: Array($0.utf8)) }
            .map { $0.microseconds / 1000 }
        thumbnails = row.texts("thumbnails") ?? []
        assets = row.texts("assets") ?? []
    }
}
