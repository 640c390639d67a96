internal import Base
internal import Refresh

extension FuzzedReader {
    /// What a fetch client reads of strangers: feeds, traces and what happens to a device, and the
    /// dictionary of a management server.
    static let refreshes: [FuzzedReader] = [feeds, traces, managed]

    private static let feeds = FuzzedReader(
        "feed", lengthLimit: 4096, isCut: false,
        words: [
            "<rss>", "<item>", "</item>", "<entry>", "<guid>", "<enclosure url=\"", "&amp;", "&#9;",
            "<![CDATA[", "]]>", "\"items\":[", "\"id\":", "\"next\":", "\"more\":true",
        ],
        seeds: {
            [
                "<rss version=\"2.0\"><channel><item><guid>1</guid><title>a &amp; b</title>"
                    + "<pubDate>Mon, 02 Mar 2026 08:00:00 GMT</pubDate>"
                    + "<enclosure url=\"/a\" length=\"7\"/></item></channel></rss>",
                "<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry><id>1</id><title>a</title>"
                    + "<updated>2026-03-02T08:00:00Z</updated></entry></feed>",
                "{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[{\"id\":1,"
                    + "\"attachments\":[{\"url\":\"/a\",\"size_in_bytes\":7}]}]}",
                "{\"items\":[{\"id\":\"1\"}],\"next\":\"c\",\"more\":true}",
            ].map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            guard let feed = FeedReader.read(bytes) else { return transcript.note("none") }
            transcript.note("entries", feed.entries.count, feed.duplicateCount)
            let count = feed.entries.count + feed.duplicateCount
            if count > bytes.count { Oracle.fail("\(count) entries of \(bytes.count) bytes") }
            for entry in feed.entries {
                if entry.id.isEmpty { Oracle.fail("an entry without an identifier") }
                transcript.note("entry", entry.thumbnails.count, entry.assets.count)
            }
        })

    private static let traces = FuzzedReader(
        "refresh-trace", lengthLimit: 2048, isCut: false,
        words: [
            "\"at\":", "\"event\":", "\"open\"", "\"push\"", "\"publish\"", "\"app\":\"news\"",
            "\n",
            "\"lifetimeMs\":", "\"interval\":\"", "9223372036854775807", "-1", "1e9",
        ],
        seeds: { [Self.trace + Self.events, Self.trace].map { Array($0.utf8) } },
        run: { bytes, _, transcript in
            do throws(Failure) {
                let trace = try RefreshTraceReader.read(bytes, name: "trace")
                transcript.note("events", trace.events.count)
                guard try RefreshTraceReader.read(trace.lines, name: "again") == trace else {
                    Oracle.fail("a trace that is written anew is another one")
                }
            } catch { transcript.note("violation", text: error.detail) }
            do throws(Failure) {
                _ = try RefreshTraceReader.deviceEvent(
                    bytes, apps: ["news"], name: "events", number: 1)
                transcript.note("event")
            } catch { transcript.note("violation", text: error.detail) }
        })

    private static let trace =
        "{\"schema\":\"sallyport.refresh-trace/1\",\"startAt\":\"2026-03-02T00:00:00Z\","
        + "\"apps\":[{\"name\":\"news\",\"interval\":\"minimum\"}]}"
    private static let events =
        "\n{\"at\":0,\"event\":\"open\",\"app\":\"news\"}"
        + "\n{\"at\":7,\"event\":\"push\",\"app\":\"news\",\"kind\":\"silent\",\"lifetimeMs\":9}"

    private static let managed = FuzzedReader(
        "managed-configuration", lengthLimit: 1024, isCut: false,
        words: [
            "\"interval\":", "\"feeds\":[", "\"allowsCellular\":", "\"token\":", "{", "]", "null",
        ],
        seeds: {
            [
                "{\"interval\":600,\"feeds\":[\"https://a.example/f\"],\"allowsCellular\":false}",
                "{\"interval\":\"never\",\"more\":{\"a\":[1,{\"b\":null}]}}",
            ].map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            do throws(Failure) {
                let read = try ManagedConfiguration(bytes, from: "a.example")
                transcript.note(
                    "read", read.feeds?.count ?? 0, read.ignoredCount, read.wrongCount)
            } catch { transcript.note("violation", text: error.code) }
        })
}
