internal import Base
internal import HTTPModel

/// How a feed is written.
enum FeedFormat: String {
    /// JSON Feed 1.1.
    case json
    /// RFC 4287.
    case atom
    /// RSS 2.0.
    case rss

    var contentType: String {
        switch self {
        case .json: "application/feed+json"
        case .atom: "application/atom+xml; charset=utf-8"
        case .rss: "application/rss+xml; charset=utf-8"
        }
    }

    /// - Parameters:
    ///   - items: the newest first.
    ///   - media: the origin at which each item has a picture and a file; `nil` for none.
    func document(
        _ name: String, _ items: [FeedItem], url: String, media: String?
    ) -> [UInt8] {
        let title = "Feed \(name)"
        switch self {
        case .json: return Self.json(title, items, url: url, media)
        case .atom: return Self.atom(name, title, items, url: url, media)
        case .rss: return Self.rss(title, items, url: url, media)
        }
    }

    private static func json(
        _ title: String, _ items: [FeedItem], url: String, _ media: String?
    ) -> [UInt8] {
        let feed: JSONText = [
            "version": "https://jsonfeed.org/version/1.1", "title": .string(title),
            "feed_url": .string(url), "items": .array(items.map { object($0, media) }),
        ]
        return feed.document
    }

    static func object(_ item: FeedItem, _ media: String? = nil) -> JSONText {
        var members = [
            JSONText.Member("id", .string(item.id)), JSONText.Member("title", .string(item.title)),
            JSONText.Member("content_text", .string(item.text)),
            JSONText.Member("date_published", .string(rfc3339(item.date))),
        ]
        if let media {
            let file: JSONText = [
                "url": .string(media + item.filePath), "mime_type": "application/octet-stream",
                "size_in_bytes": .integer(Int64(FeedItem.fileSize)),
            ]
            members += [
                JSONText.Member("image", .string(media + item.picturePath)),
                JSONText.Member("attachments", [file]),
            ]
        }
        return .object(members)
    }

    private static func atom(
        _ name: String, _ title: String, _ items: [FeedItem], url: String, _ media: String?
    ) -> [UInt8] {
        var text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
        text += "<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>\(escaped(title))</title>\n"
        text += "<id>urn:sallyport:feed:\(escaped(name))</id>\n"
        text += "<link rel=\"self\" href=\"\(escaped(url))\"/>\n"
        text += "<author><name>Sallyport</name></author>\n"
        if let newest = items.first { text += "<updated>\(rfc3339(newest.date))</updated>\n" }
        for item in items {
            text += "<entry><id>\(escaped(item.id))</id><title>\(escaped(item.title))</title>"
            text += "<updated>\(rfc3339(item.date))</updated>"
            if let media {
                text += "<link rel=\"enclosure\" href=\"\(escaped(media + item.filePath))\""
                text += " length=\"\(FeedItem.fileSize)\"/>"
            }
            text += "<content>\(escaped(item.text))</content></entry>\n"
        }
        return [UInt8]((text + "</feed>\n").utf8)
    }

    private static func rss(
        _ title: String, _ items: [FeedItem], url: String, _ media: String?
    ) -> [UInt8] {
        var text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel>\n"
        text += "<title>\(escaped(title))</title><link>\(escaped(url))</link>"
        text += "<description>\(escaped(title))</description>\n"
        for item in items {
            text += "<item><guid isPermaLink=\"false\">\(escaped(item.id))</guid>"
            text += "<title>\(escaped(item.title))</title><pubDate>\(item.date.text)</pubDate>"
            if let media {
                text += "<enclosure url=\"\(escaped(media + item.filePath))\""
                text += " length=\"\(FeedItem.fileSize)\" type=\"application/octet-stream\"/>"
            }
            text += "<description>\(escaped(item.text))</description></item>\n"
        }
        return [UInt8]((text + "</channel></rss>\n").utf8)
    }

    private static func escaped(_ text: String) -> String { MarkupText.escaped(text) }

    private static func rfc3339(_ date: HTTPDate) -> String {
        Timestamp(microseconds: date.seconds * 1_000_000).rfc3339
    }
}
