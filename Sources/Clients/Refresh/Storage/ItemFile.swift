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
    private let byteLimit: Int
    private var size = 0
    /// Whether older ones were left out when it was opened.
    private(set) var wasTooLong = false
    /// In bytes.
    static let usualLimit = 16 << 20

    /// Cuts off a line that was not written to its end, and leaves out the older ones of a file that
    /// is longer than one gets here.
    ///
    /// - Parameter byteLimit: beyond, the older ones are left out, down to half of it, of which each feed
    ///   has its share; as much is added at once at most.
    ///
    /// Errors: `file-unreadable`, `file-unwritable`.
    init(_ path: String, byteLimit: Int = usualLimit) throws(Failure) {
        self.path = path
        self.byteLimit = byteLimit
        guard Files.exists(path) else { return }
        let (bytes, isWhole) = try Self.tail(path, byteLimit: byteLimit)
        guard isWhole else {
            wasTooLong = true
            try shorten()
            return
        }
        let end = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        size = end
        if end < bytes.count { try Files.replace(path, Array(bytes[..<end])) }
    }

    /// Adds items, of too many the newest.
    ///
    /// Errors: `file-unreadable`, `file-unwritable`.
    func append(_ items: [KeptItem]) throws(Failure) {
        let lines = lines(items)
        guard !lines.isEmpty else { return }
        if size + lines.count > byteLimit { try shorten() }
        try Files.append(path, lines)
        size += lines.count
    }

    private func lines(_ items: [KeptItem]) -> [UInt8] {
        var room = byteLimit / 2
        var kept: [(index: Int, line: [UInt8])] = []
        // The same date, and none, as in the document, which begins with the newest.
        let order = items.indices.sorted {
            (items[$1].date ?? .min, $0) < (items[$0].date ?? .min, $1)
        }
        for index in order {
            let line = items[index].json.line + [0x0A]
            guard line.count <= room else { break }
            room -= line.count
            kept.append((index, line))
        }
        return kept.sorted { $0.index < $1.index }.flatMap(\.line)
    }

    func read() throws(Failure) -> [KeptItem] { try Self.read(path, byteLimit) }

    static func read(
        _ path: String, _ byteLimit: Int = usualLimit
    ) throws(Failure) -> [KeptItem] {
        guard Files.exists(path) else { return [] }
        let items = try tail(path, byteLimit: byteLimit).bytes.split(separator: 0x0A)
            .compactMap { line in JSONObject(Array(line)).flatMap { KeptItem($0) } }
        // What was added before a crash and not counted as known is added once more.
        var last: [String: Int] = [:]
        for (index, item) in items.enumerated() { last[item.key] = index }
        return items.enumerated().filter { last[$1.key] == $0 }.map(\.element)
    }

    func remove() {
        Files.remove(path)
        size = 0
    }

    private func shorten() throws(Failure) {
        size = 0
        guard Files.exists(path) else { return }
        let (bytes, _) = try Self.tail(path, byteLimit: byteLimit)
        let end = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let kept = Self.newest(
            of: bytes[..<end].split(separator: 0x0A), byteLimit: byteLimit / 2)
        try Files.replace(path, kept)
        size = kept.count
    }

    /// The newest lines of each feed in an equal share of the room, so that none pushes out what others
    /// have brought, and in what is left the newest of all.
    private static func newest(of lines: [ArraySlice<UInt8>], byteLimit: Int) -> [UInt8] {
        let feeds = lines.map { JSONObject(Array($0))?.text("feed") ?? "" }
        let share = byteLimit / max(1, Set(feeds).count)
        var (room, used, isKept) = (byteLimit, [String: Int](), Set<Int>())
        for (index, feed) in feeds.enumerated().reversed() {
            let (count, before) = (lines[index].count + 1, used[feed] ?? 0)
            let fits = before + count <= share
            used[feed] = fits ? before + count : share
            guard fits else { continue }
            isKept.insert(index)
            room -= count
        }
        for index in lines.indices.reversed() where !isKept.contains(index) {
            guard lines[index].count < room else { break }
            isKept.insert(index)
            room -= lines[index].count + 1
        }
        return lines.indices.filter(isKept.contains).flatMap { lines[$0] + [0x0A] }
    }

    /// Reads the whole lines at the end of a file of any length, and what follows the last.
    ///
    /// - Returns: the bytes, and whether they are all.
    private static func tail(
        _ path: String, byteLimit: Int
    ) throws(Failure) -> (bytes: [UInt8], isWhole: Bool) {
        let file = try InputFile(path: path)
        var bytes: [UInt8] = []
        var isWhole = true
        while true {
            let piece = try file.read()
            guard !piece.isEmpty else { break }
            bytes += piece
            guard bytes.count > 2 * byteLimit else { continue }
            bytes.removeFirst(bytes.count - byteLimit)
            isWhole = false
        }
        guard !isWhole || bytes.count > byteLimit else { return (bytes, true) }
        bytes.removeFirst(max(0, bytes.count - byteLimit))
        let start = bytes.firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
        return (Array(bytes[start...]), false)
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

    fileprivate init?(_ row: JSONObject) {
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
