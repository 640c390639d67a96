import Testing
import Traffic

@testable import Replay

struct VolatilePartsTests {
    @Test func proposesWhatChanges() throws {
        let captures = [("111111", "t1", "Mon"), ("222222", "t2", "Tue")].map {
            (nonce, time, date) in
            let source = MemorySource()
            source.add(
                "POST /a?nonce=\(nonce)&x=1 HTTP/1.1\nhost: example.com\nauthorization: \(time)\n"
                    + "cookie: \(nonce)\nx-request-id: \(time)\n"
                    + "content-type: application/json\n\n",
                [UInt8](#"{"items":[{"at":"\#(time)"},{"at":"\#(time)x"}]}"#.utf8),
                to: "example.com", "HTTP/1.1 200 OK\nDate: \(date)\nX-Day: \(date)\n\n",
                [UInt8](#"{"nonce":"\#(nonce)"}"#.utf8))
            source.add("GET /same HTTP/1.1\nhost: example.com\n\n")
            return source
        }
        let lesson = try VolatileParts.lesson(captures[0], captures[1]) { part, value in
            part == .header("cookie") ? "***" : value
        }
        let proposals = lesson.proposals
        #expect(
            proposals.map(\.rule.text) == [
                "substitute query nonce", "ignore header authorization",
                "substitute header cookie", "ignore body $.items[*].at",
                "ignore response header x-day", "ignore response body $.nonce",
            ])
        #expect(proposals[0].reason == "differs once: 111111, then 222222")
        #expect(proposals[1].reason.hasSuffix("answers a request without it, too"))
        #expect(proposals[2].reason == "differs once: in what is masked")
        #expect(proposals[3].reason.hasPrefix("differs 2 times"))
        #expect(lesson.pairCount == 2)
        #expect(lesson.singleCount == 0)
    }

    @Test func countsWhatItDidNotCompare() throws {
        let captures = [["/a", "/b", "/b"], ["/b", "/c"]].map { paths in
            let source = MemorySource()
            for path in paths { source.add("GET \(path) HTTP/1.1\nhost: example.com\n\n") }
            return source
        }
        let lesson = try VolatileParts.lesson(captures[0], captures[1]) { $1 }
        #expect(lesson.proposals.isEmpty)
        #expect(lesson.pairCount == 1)
        #expect(lesson.singleCount == 3)
    }

    @Test(arguments: [
        ("a", "b", "a, then b"),
        (
            String(repeating: "x", count: 50) + "1", String(repeating: "x", count: 50) + "2",
            "…xxxxxxxxxx1, then …xxxxxxxxxx2"
        ),
        (String(repeating: "1", count: 50), "2", String(repeating: "1", count: 40) + "…, then 2"),
    ])
    func showsWhereValuesDiffer(_ left: String, _ right: String, _ expected: String) throws {
        let captures = [left, right].map { value in
            let source = MemorySource()
            source.add("GET /a?v=\(value) HTTP/1.1\nhost: example.com\n\n")
            return source
        }
        let lesson = try VolatileParts.lesson(captures[0], captures[1]) { $1 }
        #expect(lesson.proposals.map(\.reason) == ["differs once: " + expected])
    }

    struct Content: CustomTestStringConvertible, Sendable {
        let name: String
        var type = "text/html"
        var contents = ["a", "b"]
        var trailers = ["", ""]
        var fields = ""
        var rules: [String] = []
        var partialCount = 0

        var testDescription: String { name }
    }

    static let contents = [
        Content(name: "a page", rules: ["ignore response body"]),
        Content(
            name: "an event stream", type: "Text/Event-Stream; charset=utf-8",
            contents: ["data: a\n\n", "data: b\n\n"], partialCount: 1),
        Content(
            name: "a long content", type: "application/json",
            contents: ["1", "2"].map {
                "[\"" + String(repeating: "a", count: 1 << 20) + $0 + "\"]"
            },
            partialCount: 1),
        Content(
            name: "trailers", contents: ["a", "a"],
            trailers: ["X-Sum: 1\r\n\r\n", "x-sum: 2\r\n\r\n"],
            rules: ["ignore response trailer x-sum"]),
        Content(
            name: "a WebSocket", contents: ["", ""],
            fields: "connection: upgrade\nupgrade: websocket\n", partialCount: 1),
    ]

    @Test(arguments: contents)
    func tellsWhatItDidNotLookAt(_ row: Content) throws {
        let captures = [0, 1].map { index in
            let source = MemorySource()
            source.add(
                "GET /a HTTP/1.1\nhost: example.com\n\(row.fields)\n", to: "example.com",
                "HTTP/1.1 200 OK\ncontent-type: \(row.type)\n\n", Array(row.contents[index].utf8))
            source.exchangeRecords[0].responseBody.trailers = Array(row.trailers[index].utf8)
            return source
        }
        let lesson = try VolatileParts.lesson(captures[0], captures[1]) { $1 }
        #expect(lesson.proposals.map(\.rule.text) == row.rules)
        #expect(lesson.pairCount == 1)
        #expect(lesson.partialCount == row.partialCount)
    }
}
