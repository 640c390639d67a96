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

    /// - Parameter items: the newest first.
    func document(_ name: String, _ items: [FeedItem], url: String) -> [UInt8] {
        let title = "Feed \(name)"
        switch self {
        case .json: return Self.json(title, items, url: url)
        case .atom: return Self.atom(name, title, items, url: url)
        case .rss: return Self.rss(title, items, url: url)
        }
    }

    private static func json(_ title: String, _ items: [FeedItem], url: String) -> [UInt8] {
        let feed: JSONText = [
            "version": "https://jsonfeed.org/version/1.1", "title": .string(title),
            "feed_url": .string(url), "items": .array(items.map(object)),
        ]
        return feed.document
    }

    static func object(_ item: FeedItem) -> JSONText {
        [
            "id": .string(item.id), "title": .string(item.title),
            "content_text": .string(item.text), "date_published": .string(rfc3339(item.date)),
        ]
    }

    private static func atom(
        _ name: String, _ title: String, _ items: [FeedItem], url: String
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
            text += "<content>\(escaped(item.text))</content></entry>\n"
        }
        return [UInt8]((text + "</feed>\n").utf8)
    }

    private static func rss(_ title: String, _ items: [FeedItem], url: String) -> [UInt8] {
        var text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel>\n"
        text += "<title>\(escaped(title))</title><link>\(escaped(url))</link>"
        text += "<description>\(escaped(title))</description>\n"
        for item in items {
            text += "<item><guid isPermaLink=\"false\">\(escaped(item.id))</guid>"
            text += "<title>\(escaped(item.title))</title><pubDate>\(item.date.text)</pubDate>"
            text += "<description>\(escaped(item.text))</description></item>\n"
        }
        return [UInt8]((text + "</channel></rss>\n").utf8)
    }

    private static func escaped(_ text: String) -> String { MarkupText.escaped(text) }

    private static func rfc3339(_ date: HTTPDate) -> String {
        Timestamp(microseconds: date.seconds * 1_000_000).rfc3339
    }
}
