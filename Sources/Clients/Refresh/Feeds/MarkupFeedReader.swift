internal import Base
internal import Contents
internal import HTTPModel

/// Reads Atom (RFC 4287) and RSS 2.0.
struct MarkupFeedReader {
    private enum Shape {
        case atom
        case rss

        var item: String { self == .atom ? "entry" : "item" }
    }

    private let bytes: [UInt8]
    private var shape: Shape?
    private var isWhole = false
    private var entries: [FeedEntry] = []
    /// The item that is open, as far as it is read.
    private var fields: Fields?
    /// The element whose text is read, and the text.
    private var element = ""
    private var text: [UInt8] = []
    /// How many elements are open within the item.
    private var depth = 0

    private struct Fields {
        var id = ""
        var link = ""
        var title = ""
        var date: Timestamp?
        var entry = FeedEntry(id: "")
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Returns: `nil` for what is neither, or does not come to its end.
    static func read(_ bytes: [UInt8]) -> FeedDocument? {
        var reader = MarkupFeedReader(bytes)
        var tokens = MarkupTokenizer(bytes)
        while let token = tokens.next() {
            guard token.isWhole else { return nil }
            guard reader.take(token) else { return nil }
        }
        guard let shape = reader.shape, reader.isWhole else { return nil }
        return FeedDocument(shape == .atom ? .atom : .rss, reader.entries)
    }

    /// - Returns: whether it may be a feed.
    private mutating func take(_ token: MarkupToken) -> Bool {
        switch token.kind {
        case .startTag: return open(token)
        case .endTag: close(name(token))
        case .text where !element.isEmpty:
            append(CharacterReferences.decoded(bytes[token.content]))
        case .section where !element.isEmpty: append(Array(bytes[token.content]))
        case .text, .section, .comment, .instruction, .declaration: break
        }
        return true
    }

    private mutating func append(_ more: [UInt8]) {
        text += more.prefix(max(0, Self.textLimit - text.count))
    }

    private func name(_ token: MarkupToken) -> String {
        let name = bytes[token.content].map(\.asciiLowercased).text
        // A prefix is of no interest where there is one: `media:thumbnail` is kept apart below.
        return name.hasPrefix("atom:") ? String(name.dropFirst(5)) : name
    }

    private mutating func open(_ token: MarkupToken) -> Bool {
        let name = name(token)
        guard let shape else {
            self.shape = name == "feed" ? .atom : name == "rss" ? .rss : nil
            return self.shape != nil
        }
        if name == shape.item, fields == nil {
            fields = Fields()
            depth = 0
            return true
        }
        guard fields != nil else { return true }
        note(name, token)
        guard !token.isEmpty else { return true }
        depth += 1
        if depth == 1 { (element, text) = (name, []) }
        return true
    }

    /// What attributes say.
    private mutating func note(_ name: String, _ token: MarkupToken) {
        let link = value("href", of: token) ?? value("url", of: token)
        guard depth == 0, let link, !link.isEmpty else { return }
        let assets = fields?.entry.assets.count ?? 0
        switch name {
        case "link" where value("rel", of: token) == "enclosure", "enclosure":
            guard assets < FeedDocument.mediaLimit else { return }
            let size = value("length", of: token).flatMap { Int64($0) }
            fields?.entry.assets.append(FeedEntry.Asset(url: link, size: size))
        case "media:thumbnail":
            guard fields?.entry.thumbnails.count ?? 0 < FeedDocument.mediaLimit else { return }
            fields?.entry.thumbnails.append(link)
        case "link" where ["alternate", nil].contains(value("rel", of: token)):
            fields?.link = link
        default: break
        }
    }

    private func value(_ name: String, of token: MarkupToken) -> String? {
        let found = token.attributes.first { bytes[$0.name].elementsEqual(name.utf8) }
        return found?.value.map { CharacterReferences.decoded(bytes[$0]).text }
    }

    private mutating func close(_ name: String) {
        guard let shape else { return }
        if name == (shape == .atom ? "feed" : "rss"), fields == nil {
            isWhole = true
            return
        }
        guard fields != nil else { return }
        if name == shape.item, depth == 0 {
            endItem()
        } else {
            if depth == 1, name == element { endElement() }
            depth = max(0, depth - 1)
            if depth == 0 { element = "" }
        }
    }

    private mutating func endElement() {
        let value = text.trimmed.text
        switch element {
        case "id", "guid": fields?.id = value
        case "title": fields?.title = value
        case "link" where !value.isEmpty: fields?.link = value
        case "updated", "published":
            if let date = Timestamp(iso8601: [UInt8](value.utf8)) { fields?.date = date }
        case "pubdate":
            // RFC 822's date is that of HTTP where the zone is GMT.
            let epoch = HTTPDate(seconds: 0)
            fields?.date = HTTPDate([UInt8](value.utf8)[...], now: epoch).map {
                Timestamp(microseconds: $0.seconds * 1_000_000)
            }
        default: break
        }
    }

    private mutating func endItem() {
        defer { fields = nil }
        guard let fields, entries.count < FeedDocument.entryLimit else { return }
        var entry = fields.entry
        entry.id = fields.id.isEmpty ? fields.link : fields.id
        entry.title = fields.title
        entry.date = fields.date
        if !entry.id.isEmpty { entries.append(entry) }
    }

    /// In bytes, of one element.
    private static let textLimit = 4096
}
