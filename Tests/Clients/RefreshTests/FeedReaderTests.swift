import Base
import Testing

@testable import Refresh

struct FeedReaderTests {
    private static let atom = """
        <?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>
        <id>feed</id><link rel="self" href="/f"/>
        <entry><id>a&amp;1</id><title>One <![CDATA[<b>]]></title>
        <updated>2026-03-02T07:00:00Z</updated><link rel="enclosure" href="/x?a=1&amp;b=2"
        length="12"/><link href="/one"/><author><name>N</name><id>no</id></author></entry>
        <entry><link href="/two"/><title>Two</title></entry>
        <entry><title>neither id nor link</title></entry></feed>
        """
    private static let rss = """
        <rss version="2.0"><channel><title>T</title><link>http://h/</link>
        <item><guid isPermaLink="false">g1</guid><title>One</title>
        <pubDate>Mon, 02 Mar 2026 07:00:00 GMT</pubDate><enclosure url="/e.mp3" length="9"
        type="audio/mpeg"/><media:thumbnail url="/t.png"/></item>
        <item><link>/two</link></item><item><guid>g1</guid></item></channel></rss>
        """
    private static let json = """
        {"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","title":"One",
        "date_published":"2026-03-02T08:00:00+01:00","image":"/i.png","attachments":[
        {"url":"/a","size_in_bytes":5},{"mime_type":"x"}]},{"id":2},{"id":""},{"title":"no"}]}
        """

    private static let moment: Int64 = 1_772_434_800_000_000

    @Test func readsAtom() throws {
        let feed = try #require(FeedReader.read([UInt8](Self.atom.utf8)))
        #expect(feed.format == .atom)
        #expect(feed.entries.map(\.id) == ["a&1", "/two"])
        #expect(feed.entries[0].title == "One <b>")
        #expect(feed.entries[0].date?.microseconds == Self.moment)
        #expect(feed.entries[0].assets == [FeedEntry.Asset(url: "/x?a=1&b=2", size: 12)])
    }

    @Test func readsRSS() throws {
        let feed = try #require(FeedReader.read([UInt8](Self.rss.utf8)))
        #expect(feed.format == .rss)
        #expect(feed.entries.map(\.id) == ["g1", "/two"])
        #expect(feed.duplicateCount == 1)
        #expect(feed.entries[0].date?.microseconds == Self.moment)
        #expect(feed.entries[0].assets == [FeedEntry.Asset(url: "/e.mp3", size: 9)])
        #expect(feed.entries[0].thumbnails == ["/t.png"])
    }

    @Test func readsJSONFeed() throws {
        let feed = try #require(FeedReader.read([UInt8](Self.json.utf8)))
        #expect(feed.format == .jsonFeed)
        #expect(feed.entries.map(\.id) == ["1", "2"])
        #expect(feed.entries[0].date?.microseconds == Self.moment)
        #expect(feed.entries[0].thumbnails == ["/i.png"])
        #expect(feed.entries[0].assets == [FeedEntry.Asset(url: "/a", size: 5)])
    }

    /// What is cut anywhere is no feed, and never a shorter one.
    @Test(arguments: [atom, rss, json])
    func refusesEveryCut(_ text: String) {
        let bytes = [UInt8](text.utf8)
        for count in 0..<bytes.count {
            #expect(FeedReader.read(Array(bytes.prefix(count))) == nil, "cut at \(count)")
        }
    }

    @Test(arguments: [
        "", "{}", "[]", "null", #"{"items":[]}"#, #"{"items":[1],"next":"3"}"#, "<html></html>",
        "<feed>", "</feed>", #"{"schema":"sallyport.pack/1"}"#, "text", "<rss",
    ])
    func refusesOthers(_ text: String) {
        #expect(FeedReader.read([UInt8](text.utf8)) == nil)
    }

    /// Of one item; two long identifiers are not taken for the same.
    @Test func boundsTexts() throws {
        let long = String(repeating: "i", count: 3900)
        let text =
            #"{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"\#(long)1","title":"\#(long)"},"#
            + #"{"id":"\#(long)2","attachments":[{"url":"\#(long)\#(long)\#(long)"}]}]}"#
        let feed = try #require(FeedReader.read([UInt8](text.utf8)))
        #expect(feed.entries.count == 2)
        #expect(feed.entries.allSatisfy { $0.id.utf8.count <= FeedEntry.idLimit })
        #expect(feed.entries.map(\.title.count) == [FeedEntry.titleLimit, 0])
        #expect(feed.entries[1].assets.isEmpty)
    }

    @Test func looksAtSoManyItems() throws {
        let item = "<item><guid>N</guid></item>"
        let items = (0..<3000).map { item.replacing("N", with: String($0)) }.joined()
        let feed = try #require(FeedReader.read([UInt8]("<rss>\(items)</rss>".utf8)))
        #expect(feed.entries.count == FeedDocument.entryLimit)
    }
}
