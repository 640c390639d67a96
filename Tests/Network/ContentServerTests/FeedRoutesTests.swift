import Base
import ContentServer
import Contents
import HTTPServer
import Testing

struct FeedRoutesTests {
    private let server = ContentServer(ContentServerConfiguration())

    private func answer(
        _ method: String, _ path: String, _ headers: [(String, String)] = []
    ) async throws -> ServerResponse {
        await server.answer(try request(method, path, headers), RequestBody([]))
    }

    @Test(arguments: [
        ("json", "application/feed+json"), ("atom", "application/atom+xml; charset=utf-8"),
        ("rss", "application/rss+xml; charset=utf-8"),
    ])
    func goesOn(_ format: String, _ type: String) async throws {
        let path = "/feeds/\(format)/news"
        let first = try await answer("GET", path)
        #expect(first.first("Content-Type") == type)
        let text = try await first.content().text
        #expect(text.contains("urn:sallyport:feed:news:11"))
        #expect(!text.contains("urn:sallyport:feed:news:12"))
        // Nothing new, then one more.
        let tag = try #require(first.first("ETag"))
        #expect(try await answer("GET", path, [("If-None-Match", tag)]).status == 304)
        let third = try await answer("GET", path, [("If-None-Match", tag)])
        #expect(third.status == 200)
        #expect(try await third.content().text.contains("urn:sallyport:feed:news:12"))
    }

    /// What items lead to is there.
    @Test(arguments: [("json", 2), ("atom", 1), ("rss", 1)])
    func hasMedia(_ format: String, _ count: Int) async throws {
        let plain = try await answer("GET", "/feeds/\(format)/a?steps=none").content().text
        #expect(!plain.contains("/assets/"))
        let text = try await answer("GET", "/feeds/\(format)/b?steps=none&media=1").content().text
        let marks = text.split(whereSeparator: { "\"\\".contains($0) }).filter {
            $0.contains("/assets/") || $0.contains("/gallery/")
        }
        #expect(marks.count == 10 * count)
        for mark in marks {
            let place = try #require(
                mark.firstRange(of: "/assets/") ?? mark.firstRange(of: "/gallery/"))
            let found = try await answer("GET", String(mark[place.lowerBound...]))
            #expect(found.status == 200, "\(mark)")
        }
    }

    /// Statuses of the polls, each with the validators of the one before; 200 with a star where
    /// the content is the same as before.
    @Test(arguments: [
        ("none", [200, 304, 304]), ("new", [200, 200, 200]), ("new,none", [200, 304, 200, 304]),
        ("none,fail,none", [200, 503, 304, 304]), ("none,gone,new", [200, 410, 410, 410]),
        ("none,flap", [200, 200, 200, 200]), ("none,duplicate", [200, 200, 200]),
        ("none,cut", [200, 200]),
    ])
    func follows(_ steps: String, _ statuses: [Int]) async throws {
        var tag: String?
        var found: [Int] = []
        for _ in statuses {
            let response = try await answer(
                "GET", "/feeds/json/a?steps=\(steps)", tag.map { [("If-None-Match", $0)] } ?? [])
            found.append(response.status)
            tag = response.first("ETag") ?? tag
        }
        #expect(found == statuses)
    }

    @Test func isTheSameOnEveryRun() async throws {
        var texts: Set<String> = []
        for _ in 0..<2 {
            var text = ""
            let server = ContentServer(ContentServerConfiguration())
            for _ in 0..<5 {
                let response = await server.answer(
                    try request("GET", "/feeds/json/a?steps=new,fail,flap,duplicate,none"),
                    RequestBody([]))
                text += try await response.content().text + (response.first("ETag") ?? "")
            }
            texts.insert(text)
        }
        #expect(texts.count == 1)
        let path = "/feeds/atom/a?steps=new"
        let first = try await answer("GET", path).content()
        #expect(try await answer("GET", path).content() != first)
        #expect(try await answer("DELETE", path).status == 204)
        #expect(try await answer("GET", path).content() == first)
    }

    @Test func faultsShowInTheContent() async throws {
        let plain = try await answer("GET", "/feeds/json/x?steps=none").content()
        let flapped = try await answer("GET", "/feeds/json/x?steps=flap").content()
        #expect(flapped == plain)
        let cut = try await answer("GET", "/feeds/json/x?steps=cut").content()
        #expect(JSONDocument(plain) != nil && JSONDocument(cut) == nil)
        let doubled = try #require(
            JSONDocument(try await answer("GET", "/feeds/json/x?steps=duplicate").content()))
        let items = doubled.elements(
            of: try #require(doubled.member("items", of: JSONDocument.root)))
        #expect(doubled.isEqual(items[0], doubled, items[1]))
    }

    @Test func goesThroughPages() async throws {
        var after = ""
        var ids: [String] = []
        while true {
            let response = try await answer(
                "GET", "/feeds/cursor/a?steps=none&limit=4\(after)")
            let page = try #require(JSONDocument(try await response.content()))
            let root = JSONDocument.root
            for item in page.elements(of: try #require(page.member("items", of: root))) {
                ids.append(page.spelling(of: try #require(page.member("id", of: item))).text)
            }
            let next = page.spelling(of: try #require(page.member("next", of: root)))
            after = "&after=\(next.filter { $0 != UInt8(ascii: "\"") }.text)"
            if page.spelling(of: try #require(page.member("more", of: root))).text == "false" {
                break
            }
        }
        #expect(ids.count == 10 && Set(ids).count == 10)
    }

    @Test(arguments: [
        ("/feeds/json/a?steps=other", 404), ("/feeds/json/a?steps=", 404),
        ("/feeds/xml/a", 404), ("/feeds/json/a%3C", 404), ("/feeds/cursor/a?limit=0", 404),
        ("/feeds/cursor/a?limit=21", 404), ("/feeds/cursor/a?after=x", 400),
        ("/feeds/cursor/a?after=18446744073709551615", 200),
    ])
    func refuses(_ path: String, _ status: Int) async throws {
        #expect(try await answer("GET", path).status == status)
    }

    /// Names that somebody makes up push no feed out: one that is gone stays gone.
    @Test func goesOnWhateverNamesCome() async throws {
        let old = "/feeds/json/old?steps=new,gone"
        #expect(try await answer("GET", old).status == 200)
        #expect(try await answer("GET", old).status == 410)
        for number in 1..<10_000 {
            #expect(try await answer("GET", "/feeds/cursor/n\(number)?limit=1").status == 200)
        }
        let new = try await answer("GET", "/feeds/rss/new")
        #expect(new.status == 503)
        #expect(new.first("Retry-After") != nil)
        #expect(try await answer("GET", "/feeds/cursor/new").status == 503)
        #expect(try await answer("GET", old).status == 410)
        #expect(try await answer("DELETE", "/feeds/json/n1").status == 204)
        #expect(try await answer("GET", "/feeds/rss/new").status == 200)
        #expect(try await answer("GET", old).status == 410)
    }
}
