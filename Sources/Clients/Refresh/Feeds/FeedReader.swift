internal import Base
internal import Contents

/// Reads feeds of any format by what they hold, whatever type the server gives them.
package enum FeedReader {
    /// Reads a whole document; `nil` for what is none, or ends in its middle.
    package static func read(_ bytes: [UInt8]) -> FeedDocument? {
        let start = bytes.drop { $0 <= 0x20 || $0 >= 0x80 }
        if start.first == UInt8(ascii: "<") { return MarkupFeedReader.read(bytes) }
        return JSONObject(bytes).flatMap(read)
    }

    private static func read(_ row: JSONObject) -> FeedDocument? {
        if row.text("schema")?.hasPrefix("sallyport.pack/") ?? false {
            guard let assets = row.objects("assets") else { return nil }
            return FeedDocument(.manifest, assets.prefix(FeedDocument.entryLimit).compactMap(asset))
        }
        guard let items = row.objects("items") else { return nil }
        let entries = items.prefix(FeedDocument.entryLimit).compactMap(entry)
        if row.text("version")?.contains("jsonfeed.org/version/") ?? false {
            return FeedDocument(.jsonFeed, entries)
        }
        guard row.has("next") else { return nil }
        return FeedDocument(
            .cursor, entries, next: row.text("next"), hasMore: row.boolean("more") ?? false)
    }

    /// JSON Feed 1.1; an identifier that is a number counts as its text.
    private static func entry(_ row: JSONObject) -> FeedEntry? {
        guard let id = row.text("id") ?? row.integer("id").map(String.init), !id.isEmpty else {
            return nil
        }
        var entry = FeedEntry(
            id: id, title: row.text("title") ?? "",
            date: (row.text("date_published") ?? row.text("date_modified")).flatMap {
                Timestamp(iso8601: [UInt8]($0.utf8))
            })
        entry.thumbnails = [row.text("image")].compactMap(\.self)
        entry.assets = (row.objects("attachments") ?? []).prefix(FeedDocument.mediaLimit)
            .compactMap { row in
                row.text("url").map { FeedEntry.Asset(url: $0, size: row.integer("size_in_bytes")) }
            }
        return entry
    }

    /// A file of a pack is new when its version is.
    private static func asset(_ row: JSONObject) -> FeedEntry? {
        guard let name = row.text("name"), let url = row.text("url"), !name.isEmpty else {
            return nil
        }
        var entry = FeedEntry(id: "\(name) \(row.text("version") ?? "")", title: name)
        if row.text("rendition") == "thumbnail" {
            entry.thumbnails = [url]
        } else {
            entry.assets = [FeedEntry.Asset(url: url, size: row.integer("bytes"))]
        }
        return entry
    }
}
