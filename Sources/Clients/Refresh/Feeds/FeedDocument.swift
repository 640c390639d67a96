package import Base
internal import Origins
internal import TLS

/// One item of a feed.
package struct FeedEntry: Sendable, Equatable {
    /// What names it from one document to the next; never empty.
    package var id: String
    package var title: String
    /// `nil` if it has none that can be read.
    package var date: Timestamp?
    /// Small pictures, fetched with the feed: as they are written.
    package var thumbnails: [String] = []
    /// Whole files, left to transfers.
    package var assets: [Asset] = []

    package struct Asset: Sendable, Equatable {
        /// As it is written.
        package var url: String
        /// In bytes, as the feed has it; `nil` if it says nothing.
        package var size: Int64?

        package init(url: String, size: Int64?) {
            self.url = url
            self.size = size
        }
    }

    package init(id: String, title: String = "", date: Timestamp? = nil) {
        self.id = id
        self.title = title
        self.date = date
    }

    /// With its texts as long as they are kept: a title is shortened, a longer identifier is known by
    /// its digest, and a longer reference leads nowhere.
    var bounded: FeedEntry {
        var entry = self
        if id.utf8.count > Self.idLimit {
            entry.id = "sha256:" + Digests.sha256([UInt8](id.utf8)).hex
        }
        if title.unicodeScalars.count > Self.titleLimit {
            var kept = String.UnicodeScalarView()
            kept.append(contentsOf: title.unicodeScalars.prefix(Self.titleLimit))
            entry.title = String(kept)
        }
        entry.thumbnails.removeAll { $0.utf8.count > OriginLocation.byteLimit }
        entry.assets.removeAll { $0.url.utf8.count > OriginLocation.byteLimit }
        return entry
    }

    /// In bytes.
    static let idLimit = 1024
    /// In Unicode scalars: a character may be made of any number of them.
    static let titleLimit = 512
}

/// A feed as it was served: JSON Feed 1.1, Atom (RFC 4287), RSS 2.0, JSON with a cursor, or the
/// manifest of a pack.
package struct FeedDocument: Sendable, Equatable {
    package enum Format: String, Sendable, CaseIterable {
        case jsonFeed = "json-feed"
        case atom
        case rss
        case cursor
        case manifest
    }

    package var format: Format
    /// In the document's order, each once.
    package var entries: [FeedEntry]
    /// How many items came again in the same document.
    package var duplicateCount: Int
    /// Where to go on; `nil` for what has no cursor.
    package var next: String?
    /// Whether there is more there now.
    package var hasMore: Bool

    init(_ format: Format, _ entries: [FeedEntry], next: String? = nil, hasMore: Bool = false) {
        self.format = format
        self.next = next
        self.hasMore = hasMore
        var known: Set<String> = []
        self.entries = entries.map(\.bounded).filter { known.insert($0.id).inserted }
        duplicateCount = entries.count - self.entries.count
    }

    /// How many items of one document are looked at.
    static let entryLimit = 1000
    /// Thumbnails, and whole files, of one item.
    static let mediaLimit = 16
}
