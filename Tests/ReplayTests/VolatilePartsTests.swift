import Testing

@testable import Replay

struct VolatilePartsTests {
    @Test func proposesWhatChanges() throws {
        let captures = [("111111", "t1", "Mon"), ("222222", "t2", "Tue")].map {
            (nonce, time, date) in
            let source = MemorySource()
            source.add(
                "POST /a?nonce=\(nonce)&x=1 HTTP/1.1\nhost: example.com\n"
                    + "content-type: application/json\n\n",
                [UInt8](#"{"items":[{"at":"\#(time)"},{"at":"\#(time)x"}]}"#.utf8),
                to: "example.com", "HTTP/1.1 200 OK\nDate: \(date)\n\n",
                [UInt8](#"{"nonce":"\#(nonce)"}"#.utf8))
            source.add("GET /same HTTP/1.1\nhost: example.com\n\n")
            return source
        }
        let proposals = try VolatileParts.proposals(captures[0], captures[1])
        #expect(
            proposals.map(\.rule.text) == [
                "substitute query nonce", "ignore body $.items[*].at",
                "ignore response header date", "ignore response body $.nonce",
            ])
        #expect(proposals[0].reason == "differs once: 111111, then 222222")
        #expect(proposals[1].reason.hasPrefix("differs 2 times"))
    }
}
