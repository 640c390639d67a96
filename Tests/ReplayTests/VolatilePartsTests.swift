import Testing

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
}
