import Base
import HTTPModel
import HTTPServer
import Testing

@testable import ContentServer

/// What the journal says of clients, which must neither be accused nor be cleared wrongly.
struct JournalVerdictTests {
    /// One request to a content server, and what became of its answer.
    struct Ask: Sendable {
        var target: String
        var range: String?
        var condition: String?
        var fields: [(String, String)] = []
        var method = "GET"
        var end = SentResponse.End.whole
        /// Bytes of content that went out; `nil` for all.
        var sent: UInt64?
        var acknowledged: UInt64?
        /// Whether the client breaks off the connection behind the answer.
        var breaksOff = false
        /// Whether it ends behind all others.
        var lasts = false
        /// Whether it goes on while it is judged.
        var isOpen = false
    }

    private static func play(_ asks: [Ask]) async throws -> ContentServer {
        let server = ContentServer(ContentServerConfiguration())
        var late: [() -> Void] = []
        for ask in asks {
            let headers =
                (ask.range.map { [("Range", $0)] } ?? [])
                + (ask.condition.map { [("If-Range", $0)] } ?? []) + ask.fields
            let response = await server.answer(
                try request(ask.method, ask.target, headers), RequestBody([]))
            let count = ask.method == "HEAD" ? 0 : ask.sent ?? response.body.length ?? 500
            var sent = SentResponse(end: ask.end, count: count, acknowledged: ask.acknowledged)
            let end = {
                response.onEnd?(sent)
                sent.isDoubtful = true
                if ask.breaksOff { response.onEnd?(sent) }
            }
            if ask.lasts { late.append(end) } else if !ask.isOpen { end() }
        }
        for end in late { end() }
        return server
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let assertion: String
        let asks: [Ask]
        let outcome: JournalAssertion.Verdict.Outcome
        let path: String?

        init(
            _ name: String, _ assertion: String, _ outcome: JournalAssertion.Verdict.Outcome,
            _ asks: [Ask], path: String? = nil
        ) {
            testDescription = "\(assertion): \(name)"
            self.assertion = assertion
            self.outcome = outcome
            self.asks = asks
            self.path = path
        }
    }

    private static let kilobyte = "/assets/7/1k"
    private static let tag = "\"generated-1-7-1024\""
    private static let secondTag = "\"generated-1-16616101746815609346-1024\""
    private static let cut = Ask(
        target: "/faults/cut:500\(kilobyte)", end: .cut, sent: 500, acknowledged: 500)
    private static var cutAndLeft: Ask {
        var ask = cut
        ask.breaksOff = true
        return ask
    }
    private static let whole = Ask(target: kilobyte)

    private static func leftUnread(_ faults: String = "") -> Ask {
        Ask(target: faults + kilobyte, end: .left, sent: 500, acknowledged: 0)
    }

    private static func rest(
        _ faults: String = "", from: Int = 500, _ condition: String? = tag
    ) -> Ask {
        Ask(target: faults + kilobyte, range: "bytes=\(from)-", condition: condition)
    }

    private static let large = "/assets/7/32m"
    private static func left(_ sent: UInt64, acknowledged: UInt64?) -> Ask {
        Ask(target: large, end: .left, sent: sent, acknowledged: acknowledged)
    }
    private static let resumption = Ask(
        target: large, range: "bytes=20223-", condition: "\"generated-1-7-33554432\"")

    private static let inPlace = [
        Row("a page in place of the rest", "whole", .failed, [cut, rest("/faults/range-page")]),
        Row(
            "a page in place of the rest", "no-byte-twice", .passed,
            [cut, rest("/faults/range-page")]),
        Row(
            "a part in place of the rest", "whole", .failed,
            [cut, rest("/faults/range-page:206")]),
        Row("a status in place of the rest", "whole", .failed, [cut, rest("/faults/status:200")]),
        Row("a status alone", "whole", .failed, [Ask(target: "/faults/status:200\(kilobyte)")]),
        Row("a page meanwhile", "if-range", .passed, [cut, rest("/faults/range-page"), rest()]),
        Row(
            "other bytes under the right label", "whole", .failed,
            [cut, rest("/faults/range-lie:+16")]),
        Row("a wrong total", "whole", .passed, [cut, rest("/faults/range-total:+9")]),
        Row("a part without a label", "whole", .passed, [cut, rest("/faults/range-unlabelled")]),
        Row("a part that is coded", "whole", .failed, [cut, rest("/faults/range-gzip")]),
        Row("another version's whole", "no-byte-twice", .passed, [cut, rest("/faults/version:2")]),
    ]

    private static let leavers = [
        Row(
            "left, and went on", "no-byte-twice", .passed,
            [left(400_000, acknowledged: 0), resumption]),
        Row("left, and went on", "whole", .passed, [left(400_000, acknowledged: 0), resumption]),
        Row(
            "left, over HTTP/2", "no-byte-twice", .passed,
            [left(400_000, acknowledged: nil), resumption]),
        Row(
            "left what its system had", "no-byte-twice", .passed,
            [left(400_000, acknowledged: 90_000), resumption]),
        Row(
            "left, and began anew", "no-byte-twice", .unseen,
            [left(400_000, acknowledged: 0), Ask(target: large)]),
        Row(
            "left far behind, and began anew", "no-byte-twice", .failed,
            [left(30 << 20, acknowledged: 20 << 20), Ask(target: large)]),
        Row("left, with all sent", "whole", .unseen, [left(32 << 20, acknowledged: 0)]),
        Row("left, with less sent", "whole", .failed, [left(400_000, acknowledged: 0)]),
        Row(
            "broke off, and went on", "no-byte-twice", .passed,
            [Ask(target: large, breaksOff: true), resumption]),
        Row("broke off", "whole", .unseen, [Ask(target: large, breaksOff: true)]),
        Row("had all, and went on", "no-byte-twice", .failed, [Ask(target: large), resumption]),
        Row(
            "left a part, whose end is no place of another", "whole", .unseen,
            [
                Ask(target: kilobyte, range: "bytes=0-499", end: .left, sent: 500, acknowledged: 0),
                rest(),
            ]),
        Row("went on too early", "no-byte-twice", .failed, [cut, rest(from: 499)]),
        Row(
            "broke off behind a cut, and went on", "no-byte-twice", .passed,
            [cutAndLeft, rest(from: 300)]),
        Row(
            "broke off behind a cut, and went on", "whole", .passed,
            [cutAndLeft, rest(from: 300)]),
        Row(
            "broke off behind a cut, and began anew", "no-byte-twice", .unseen,
            [cutAndLeft, whole]),
    ]

    private static let parts = [
        Row(
            "the same parts", "no-byte-twice", .failed,
            [
                Ask(target: kilobyte, range: "bytes=0-99,200-299"),
                Ask(target: kilobyte, range: "bytes=0-99,200-299"),
                Ask(target: kilobyte, range: "bytes=500-599"),
            ]),
        Row(
            "parts between", "no-byte-twice", .passed,
            [
                Ask(target: kilobyte, range: "bytes=0-99,200-299"),
                Ask(target: kilobyte, range: "bytes=100-199"),
            ]),
        Row(
            "a part twice in one answer", "no-byte-twice", .failed,
            [
                Ask(target: kilobyte, range: "bytes=0-99,50-149")
            ]),
        Row(
            "all by parts", "whole", .passed,
            [
                Ask(target: kilobyte, range: "bytes=0-99,100-1023"),
                Ask(target: kilobyte, method: "HEAD"),
            ]),
        Row(
            "parts with a gap", "whole", .failed,
            [
                Ask(target: kilobyte, range: "bytes=0-99,101-1023")
            ]),
        Row(
            "parts that were cut", "whole", .failed,
            [
                Ask(target: kilobyte, range: "bytes=0-99,100-1023", end: .cut, sent: 700)
            ]),
        Row(
            "goes on with several parts", "if-range", .failed,
            [
                cut, Ask(target: kilobyte, range: "bytes=500-700,701-1023"),
            ]),
        Row(
            "goes on by a suffix", "if-range", .failed,
            [
                cut, Ask(target: kilobyte, range: "bytes=-524"),
            ]),
    ]

    private static let conditions = [
        Row(
            "an empty one", "if-range", .failed,
            [
                Ask(target: "/httpbin/range/1000"),
                Ask(target: "/httpbin/range/1000", range: "bytes=100-", condition: ""),
            ]),
        Row(
            "of a version of which it has no bytes", "if-range", .failed,
            [
                cut, Ask(target: "/faults/version:2\(kilobyte)", method: "HEAD"),
                rest("/faults/version:2", secondTag),
            ]),
        Row(
            "of a version whose head alone came", "if-range", .passed,
            [
                cut, Ask(target: "/faults/version:2|cut:0\(kilobyte)", end: .cut, sent: 0), rest(),
            ]),
        Row(
            "of what it has, behind an answer that it left", "if-range", .passed,
            [cut, leftUnread("/faults/version:2"), rest()]),
        Row(
            "of what it left", "if-range", .passed,
            [cut, leftUnread("/faults/version:2"), rest("/faults/version:2", secondTag)]),
        Row(
            "of neither", "if-range", .failed,
            [cut, leftUnread("/faults/version:2"), rest("", "\"other\"")]),
        Row(
            "of none that it surely got", "if-range", .unseen,
            [leftUnread(), rest("", "\"other\"")]),
        Row("none, and nothing surely got", "if-range", .unseen, [leftUnread(), rest("", nil)]),
        Row(
            "behind others that mean nothing", "if-range", .passed,
            [
                whole,
                Ask(
                    target: kilobyte, range: "bytes=5-",
                    fields: (0..<8).map { ("If-x00000\($0)", "1") } + [("If-Range", tag)]),
            ]),
        Row(
            "behind others of one name", "if-range", .passed,
            [
                whole,
                Ask(
                    target: kilobyte, range: "bytes=5-",
                    fields: (0..<9).map { _ in ("If-Match", tag) } + [("If-Range", tag)]),
            ]),
    ]

    private static let stalled = Ask(target: "/httpbin/get", isOpen: true)
    private static let atOnce = [
        Row(
            "two", "parallel:2", .passed,
            [
                Ask(target: kilobyte, lasts: true), Ask(target: "/assets/8/1k"),
            ]),
        Row(
            "left by its client", "parallel:2", .unseen,
            [
                Ask(target: kilobyte, end: .left, lasts: true), Ask(target: "/assets/8/1k"),
            ]),
        Row(
            "broken off by its client", "parallel:2", .unseen,
            [
                Ask(target: kilobyte, breaksOff: true, lasts: true), Ask(target: "/assets/8/1k"),
            ]),
        Row(
            "asked before the other was left", "parallel:2", .passed,
            [
                Ask(target: kilobyte, lasts: true),
                Ask(target: "/assets/8/1k", end: .left, lasts: true),
            ]),
        Row("other paths", "parallel:2", .failed, [stalled, whole], path: "/assets/*"),
        Row("both paths", "parallel:2", .passed, [stalled, whole]),
    ]

    private static let long = "/httpbin/base64/" + String(repeating: "A", count: 596)
    private static let targets = [
        Row(
            "long ones", "no-byte-twice", .passed,
            [
                Ask(target: long + "QUFB"), Ask(target: long + "QkJC"),
            ]),
        Row(
            "one long one", "no-byte-twice", .failed,
            [
                Ask(target: long + "QUFB"), Ask(target: long + "QUFB"),
            ]),
        Row(
            "in UTF-8", "no-byte-twice", .passed,
            [
                Ask(target: "/httpbin/anything/ä"), Ask(target: "/httpbin/anything/ö"),
            ]),
        Row(
            "secrets that differ", "no-byte-twice", .passed,
            [
                Ask(target: "/httpbin/get?token=a"), Ask(target: "/httpbin/get?token=b"),
            ]),
        Row(
            "spelled differently", "no-byte-twice", .failed,
            [
                whole, Ask(target: "/assets/7/1%6b"),
            ]),
        Row(
            "with faults that are spelled differently", "whole", .passed,
            [
                Ask(target: "/%66aults/cut:500\(kilobyte)", end: .cut, sent: 500), rest(),
            ]),
        Row(
            "content of two requests", "no-byte-twice", .unseen,
            [
                Ask(target: "/httpbin/post", method: "POST"),
                Ask(target: "/httpbin/post", method: "POST"),
            ]),
        Row(
            "content of two requests", "retries:0", .passed,
            [
                Ask(target: "/httpbin/post", method: "POST"),
                Ask(target: "/httpbin/post", method: "POST"),
            ]),
        Row(
            "content that was refused", "retries:0", .failed,
            [
                Ask(target: "/faults/status:503/httpbin/post", method: "POST"),
                Ask(target: "/httpbin/post", method: "POST"),
            ]),
        Row(
            "a question ahead", "retries:0", .passed,
            [
                Ask(target: kilobyte, method: "HEAD"), whole,
            ]),
    ]

    private static let gzip = [("Accept-Encoding", "gzip")]
    private static let others = [
        Row("coded on the fly", "whole", .passed, [Ask(target: "/", fields: gzip)]),
        Row(
            "coded on the fly, and cut", "whole", .failed,
            [
                Ask(target: "/", fields: gzip, end: .cut, sent: 100)
            ]),
        Row(
            "coded on the fly, and plain", "no-byte-twice", .passed,
            [
                Ask(target: "/", fields: gzip), Ask(target: "/"),
            ]),
        Row(
            "not modified", "whole", .unseen,
            [
                Ask(target: kilobyte, fields: [("If-None-Match", tag)])
            ]),
        Row(
            "two that go on", "no-byte-twice", .unseen,
            [
                Ask(target: large, isOpen: true), Ask(target: large, isOpen: true),
            ]),
        Row("one that goes on", "whole", .unseen, [Ask(target: large, isOpen: true)]),
        Row(
            "one that goes on, and others", "no-byte-twice", .failed,
            [
                Ask(target: kilobyte, isOpen: true), whole, whole,
            ]),
    ]

    @Test(
        arguments: inPlace + leavers + parts + conditions + atOnce + targets + others)
    func judges(_ row: Row) async throws {
        let server = try await Self.play(row.asks)
        var filter = JournalFilter()
        filter.path = row.path
        let verdict = try #require(JournalAssertion(row.assertion)).judge(
            server.journal.contents(filter).records)
        #expect(verdict.outcome == row.outcome, "\(verdict.explanations)")
    }

    /// All pairs are counted without a look at each, and a few are named.
    @Test(.timeLimit(.minutes(10)))
    func judgesManyRequests() async throws {
        let journal = Journal()
        let asked = try request("GET", "/f?\(String(repeating: "x", count: 480))")
        for _ in 0..<20_000 {
            let entry = journal.begin(asked, client: "a")
            journal.note(
                entry, ServerResponse(200, body: .bytes([1])), faults: [], received: 0)
            journal.end(entry, SentResponse(end: .whole, count: 1, acknowledged: nil))
        }
        let verdict = JournalAssertion.noByteTwice.judge(journal.contents().records)
        #expect(verdict.outcome == .failed)
        #expect(verdict.explanations.count == 21)
        #expect(verdict.explanations.last == "and 199989980 more")
    }

    /// No number of requests hides those behind it.
    @Test func judgesBehindManyRequests() async throws {
        let parts = (0..<1000).map { Ask(target: "/assets/7/2k", range: "bytes=\($0)-\($0)") }
        let again = Ask(target: "/assets/7/2k", range: "bytes=1500-1600")
        let few = try await Self.play(parts + [again]).journal.contents().records
        #expect(JournalAssertion.noByteTwice.judge(few).outcome == .passed)
        let many = try await Self.play(parts + [again, again]).journal.contents().records
        #expect(JournalAssertion.noByteTwice.judge(many).outcome == .failed)
    }

    /// Answers of many parts that were all broken off are judged in no time.
    @Test(.timeLimit(.minutes(10)))
    func judgesManyBrokenOff() async throws {
        let list = (0..<64).map { "\($0 * 4)-\($0 * 4)" }.joined(separator: ",")
        let parts = Ask(target: "/assets/7/20k", range: "bytes=\(list)", breaksOff: true)
        let first = Ask(target: "/assets/7/20k", breaksOff: true)
        let asks = [first] + Array(repeating: parts, count: 1000)
        let records = try await Self.play(asks).journal.contents().records
        #expect(JournalAssertion.coversWhole.judge(records).outcome == .unseen)
    }

    // MARK: What is asked

    @Test(arguments: [
        (Array(repeating: "rule=whole", count: 16).joined(separator: "&"), 200, "16"),
        (Array(repeating: "rule=whole", count: 17).joined(separator: "&"), 400, nil),
        ("rule=whole&rule=%zz", 400, nil), ("rule=whole&rules=if-range", 400, nil),
        ("rule=whole&client=a&path=/f&range=*&format=text", 200, "1"), ("rule=wholle", 400, nil),
    ])
    func judgesAllThatIsAsked(_ query: String, _ status: Int, _ judged: String?) async throws {
        let response = await ContentServer(ContentServerConfiguration()).answer(
            try request(
                "GET", "/.sallyport/assert?\(query)", host: "127.0.0.1", from: "127.0.0.1"),
            RequestBody([]))
        #expect(response.status == status)
        #expect(response.first("Sallyport-Judged") == judged)
    }

    // MARK: What is written

    @Test(arguments: [
        "/f?%74oken=SEC", "/f?url=http://h/?token=SEC", "/f?url=http%3A%2F%2Fh%2F%3Ftoken%3DSEC",
        "/f;token=SEC", "/f?a=1;token=SEC", "/f?access%5ftoken=SEC", "/f/eyJhbGciOiJ9.SEC.x",
        "/f?\(String(repeating: "a&", count: 100))token=SEC", "/faults/cut:5/f?%74oken=SEC",
    ])
    func hidesSecrets(_ target: String) async throws {
        let ask = Ask(target: target, fields: [("If-Auth-Token", "SEC")])
        let server = try await Self.play([ask])
        server.note(
            RefusedRequest(
                status: 414, head: [UInt8]("GET \(target) HTTP/1.1\r\n".utf8), version: .http11,
                connection: try request("GET", "/").connection))
        let contents = server.journal.contents()
        #expect(contents.records.count == 2)
        let text = contents.canonical.text + contents.records.map { $0.json.line.text }.joined()
        #expect(!text.contains("SEC"), "\(text)")
    }

    /// Nobody's verdict is spoilt by a page of another site that knows the label.
    @Test(arguments: [
        ([("Sec-Fetch-Site", "cross-site")], "127.0.0.1"), ([("Sec-Fetch-Site", "same-site")], "v"),
        ([("Sec-Fetch-Site", "none")], "v"), ([("Origin", "http://evil.example")], "127.0.0.1"),
        ([("Sec-Fetch-Site", "same-site"), ("Origin", "http://evil.example")], "127.0.0.1"),
        ([("Sec-Fetch-Site", ""), ("Origin", "http://evil.example")], "127.0.0.1"),
        ([("Referer", "http://evil.example/page")], "127.0.0.1"),
        ([("Referer", "http://origin.test:8081/page?x")], "v"),
        ([("Origin", "http://origin.test"), ("Referer", "http://a.example/")], "127.0.0.1"),
        ([("Origin", "null")], "127.0.0.1"), ([("Origin", "http://origin.test:8081")], "v"),
        ([], "v"),
    ])
    func ignoresLabelsOfOtherSites(_ fields: [(String, String)], _ client: String) async throws {
        let server = ContentServer(ContentServerConfiguration())
        let path = "/assets/7/10?sallyport-client=v"
        _ = await server.answer(
            try request("GET", path, fields, from: "127.0.0.1"), RequestBody([]))
        #expect(server.journal.contents().records.map(\.client) == [client])
    }

    /// A label may be the address of another client.
    @Test func keepsLabelsOfRepetitions() async throws {
        let server = ContentServer(ContentServerConfiguration())
        for (label, expected) in [("127.0.0.1", "127.0.0.1"), (nil, "127.0.0.2")] {
            server.journal.reset()
            let response = await server.answer(
                try request(
                    "GET", "/assets/9/2k", label.map { [("Sallyport-Client", $0)] } ?? [],
                    from: "127.0.0.1"), RequestBody([]))
            let repetition = try #require(response.repetition)
            let other = ClientConnection(number: 2, peer: "127.0.0.2:9", host: "127.0.0.2")
            let end = try #require(repetition(other))
            end(SentResponse(end: .whole, count: 2048, acknowledged: nil))
            #expect(server.journal.contents().records.map(\.client) == ["127.0.0.1", expected])
        }
    }
}
