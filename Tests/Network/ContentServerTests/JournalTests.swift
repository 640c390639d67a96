import Base
import HTTPModel
import HTTPServer
import Sockets
import Testing
import Transport

@testable import ContentServer

struct JournalTests {
    /// What clients have done, put into a journal by hand.
    struct Act: Sendable {
        var client = "a"
        var target = "/f"
        var scheme = ServerRequest.Scheme.https
        var range: String?
        var condition: (String, String)?
        var status = 200
        var label: String?
        var tag: String? = "\"v1\""
        var length: UInt64 = 1000
        var sent: UInt64 = 1000
    }

    private static func records(_ acts: [Act]) throws -> [JournalRecord] {
        let journal = Journal()
        for act in acts {
            let headers =
                (act.range.map { [("Range", $0)] } ?? []) + (act.condition.map { [$0] } ?? [])
            let id = journal.begin(
                try request("GET", act.target, headers, scheme: act.scheme), client: act.client)
            var fields = act.tag.map { [ResponseField("ETag", $0)] } ?? []
            if let label = act.label { fields.append(ResponseField("Content-Range", label)) }
            journal.note(
                id,
                ServerResponse(
                    act.status, fields, body: .stream(length: act.length, BytesSource([]))),
                faults: [], received: 0)
            journal.end(id, SentResponse(end: .whole, count: act.sent, acknowledged: nil))
        }
        return journal.contents().records
    }

    private static func rest(
        _ from: UInt64, _ condition: (String, String)? = ("If-Range", "\"v1\"")
    ) -> Act {
        Act(
            range: "bytes=\(from)-", condition: condition, status: 206,
            label: "bytes \(from)-999/1000", length: 1000 - from, sent: 1000 - from)
    }

    private static func part(_ bytes: Range<UInt64>) -> Act {
        Act(
            range: "bytes=\(bytes.lowerBound)-\(bytes.upperBound - 1)", status: 206,
            label: "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/1000",
            length: UInt64(bytes.count), sent: UInt64(bytes.count))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let assertion: String
        let acts: [Act]
        let outcome: JournalAssertion.Verdict.Outcome
        let explanation: String?

        init(
            _ name: String, _ assertion: String, _ acts: [Act],
            _ outcome: JournalAssertion.Verdict.Outcome, _ explanation: String? = nil
        ) {
            testDescription = name
            self.assertion = assertion
            self.acts = acts
            self.outcome = outcome
            self.explanation = explanation
        }
    }

    private static let cut = Act(sent: 400)
    private static let cutByURL = Act(target: "/faults/cut:400/f", sent: 400)
    private static var otherRest: Act {
        var act = rest(400)
        act.tag = "\"v2\""
        return act
    }

    static let rows = [
        Row("nothing seen", "no-byte-twice", [], .unseen),
        Row("a resumption", "no-byte-twice", [cut, rest(400)], .passed),
        Row(
            "an overlap", "no-byte-twice", [cut, rest(384)], .failed,
            "bytes 384-399 of /f went out twice, in request 1 of a and request 2 of a"),
        Row("another client's", "no-byte-twice", [Act(), Act(client: "b")], .passed),
        Row("with If-Range", "if-range", [cut, rest(400)], .passed),
        Row(
            "without", "if-range", [cut, rest(400, nil)], .failed,
            "request 2 of a goes on at byte 400 of /f without If-Range"),
        Row(
            "another condition", "if-range", [cut, rest(400, ("If-Match", "\"v1\""))], .failed,
            "request 2 of a goes on at byte 400 of /f without If-Range (it has If-Match: \"v1\")"),
        Row(
            "a weak tag", "if-range", [cut, rest(400, ("If-Range", "W/\"v1\""))], .failed,
            "request 2 of a goes on at byte 400 of /f with a weak tag, which never matches"),
        Row(
            "another version's", "if-range", [cut, rest(400, ("If-Range", "\"v0\""))], .failed,
            "request 2 of a goes on at byte 400 of /f with If-Range \"v0\","
                + " but request 1 of a got \"v1\""),
        Row("a first part", "if-range", [rest(400, nil)], .unseen),
        Row("nothing to go on with", "if-range", [Act()], .unseen),
        Row("no content", "no-byte-twice", [Act(status: 404)], .unseen),
        Row(
            "behind a URL with faults", "if-range", [cutByURL, rest(400, nil)], .failed,
            "request 2 of a goes on at byte 400 of /f without If-Range"),
        Row("of both URLs", "whole", [cutByURL, rest(400)], .passed),
        Row(
            "another version's rest", "whole", [cut, otherRest], .failed,
            "of the 1000 bytes of /f under \"v2\", 0-399 are missing"),
        Row("another version's whole", "whole", [cut, Act(tag: "\"v2\"")], .passed),
        Row("few retries", "retries:1", [cut, rest(400)], .passed),
        Row(
            "many retries", "retries:1", [cut, cut, cut], .failed,
            "a asked 3 times for /f, that is 2 retries where 1 are allowed"),
        Row("hasty retries", "retries:5:1h", [cut, cut], .failed, nil),
        Row("secure", "no-cleartext", [Act()], .passed),
        Row(
            "in the clear", "no-cleartext", [Act(), Act(scheme: .http)], .failed,
            "request 2 of a went to http://origin.test/f"),
        Row("one by one", "parallel:1", [cut, rest(400)], .passed),
        Row(
            "not at once", "parallel:2", [cut, rest(400)], .failed,
            "a had 1 requests at once at most, where 2 are asked for"),
        Row("all of it", "whole", [cut, rest(400)], .passed),
        Row(
            "a gap", "whole", [cut, rest(401)], .failed,
            "of the 1000 bytes of /f, 400-400 are missing"),
        Row(
            "gaps and an end", "whole", [part(100..<200), part(300..<400)], .failed,
            "of the 1000 bytes of /f, 0-99, 200-299, those from 400 on are missing"),
        Row(
            "an end that is missing", "whole", [cut], .failed,
            "of the 1000 bytes of /f, those from 400 on are missing"),
    ]

    @Test(arguments: rows)
    func judges(_ row: Row) throws {
        let assertion = try #require(JournalAssertion(row.assertion))
        let verdict = assertion.judge(try Self.records(row.acts))
        #expect(verdict.outcome == row.outcome)
        if let explanation = row.explanation { #expect(verdict.explanations == [explanation]) }
    }

    /// So that hosts with TLS can be told apart.
    @Test func listsOrigins() throws {
        let secure = try #require(try Self.records([Act()]).first)
        let clear = try #require(try Self.records([Act(scheme: .http)]).first)
        #expect(secure.text(ownHost: secure.host).contains("GET https://\(secure.host)/f"))
        #expect(clear.text(ownHost: clear.host).contains("GET /f"))
        #expect(clear.text(ownHost: "other").contains("GET http://\(clear.host)/f"))
    }

    @Test(arguments: ["", "whole:1", "retries", "retries:x", "retries:1:5", "nothing"])
    func knowsNoOthers(_ text: String) {
        #expect(JournalAssertion(text) == nil)
    }

    /// No secret gets in, by any field or parameter.
    @Test func holdsNoSecrets() throws {
        let journal = Journal()
        let secret = "s3cr3t-7f9a"
        let id = journal.begin(
            try request(
                "GET", "/f?access_token=\(secret)&page=2",
                [
                    ("Authorization", "Bearer \(secret)"), ("Cookie", "session=\(secret)"),
                    ("Proxy-Authorization", "Basic \(secret)"),
                ]), client: "a")
        journal.note(
            id, ServerResponse(200, [ResponseField("Set-Cookie", "a=\(secret)")]), faults: [],
            received: 0)
        let contents = journal.contents()
        #expect(contents.records.count == 1)
        let text = contents.canonical.text + contents.records.map { $0.json.line.text }.joined()
        #expect(!text.contains(secret))
        #expect(text.contains("access_token=***&page=2"))
    }

    /// Other machines, and pages that have our address under their own name, get nothing.
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1", nil, 200), ("127.0.0.1", "localhost", nil, 200),
        ("127.0.0.1", "rebound.example", nil, 403), ("192.0.2.1", "127.0.0.1", nil, 403),
        ("127.0.0.1", "127.0.0.1", "http://evil.example", 403),
    ])
    func tellsThisMachineAlone(
        _ peer: String, _ host: String, _ origin: String?, _ status: Int
    ) async throws {
        let request = ServerRequest(
            method: .get, path: try #require(RequestPath("/.sallyport/journal".utf8)), host: host,
            version: .http11, fields: fields(origin.map { [("Origin", $0)] } ?? []),
            connection: ClientConnection(number: 1, peer: peer, host: peer),
            receivedAt: Timestamp(microseconds: 0))
        let response = await ContentServer(ContentServerConfiguration()).answer(
            request, RequestBody([]))
        #expect(response.status == status)
    }

    @Test func countsWhatGoesOnAtOnce() throws {
        let journal = Journal()
        let numbers = try ["a", "a", "b", "a"].map { client in
            journal.begin(try request("GET", "/f"), client: client)
        }
        for number in numbers {
            journal.end(number, SentResponse(end: .whole, count: 0, acknowledged: nil))
        }
        _ = journal.begin(try request("GET", "/f"), client: "a")
        let records = journal.contents().records
        #expect(records.map(\.alongside) == [0, 1, 2, 0, 0])
        let three = JournalAssertion("parallel:3")
        #expect(three?.judge(records.filter { $0.client == "a" }).outcome == .passed)
        #expect(three?.judge(records).explanations.count == 1)
    }

    // MARK: Two runs

    /// One request for each verb, with the faults at which it draws something.
    private static let faults = [
        "cut:any", "cut:any:truncate", "reset:any", "stall:any:5ms", "delay:5ms", "slow-head:64k",
        "rate:1m", "slow-body:20ms", "drip:1k:8ms", "jitter:9ms", "profile:4g", "length:+3",
        "length:-3", "no-last-chunk", "until-close", "goaway:any", "rst-stream:any",
        "withhold:0:5ms", "flip",
        "upload-cut:any", "upload-offset:+7", "no-interim",
        "duplicate:ETag", "duplicate:Content-Length:7", "status:503:1", "redirect:2", "loop",
        "downgrade", "digest", "version:2:bigger", "splice:any:2", "range-shift:-16",
        "range-lie:+16", "range-short:5", "range-long:5", "range-unlabelled", "range-star",
        "range-total:+9", "range-ignored", "range-gzip", "range-page", "416",
    ]

    /// Every verb, over real connections, from two clients at once: the same seed writes the same
    /// journal, another seed another one.
    @Test func isTheSameForTheSameSeed() async throws {
        #expect(Set(Self.faults.map { $0.prefix { $0 != ":" } }).count == FaultVerb.all.count)
        let first = try await Self.run(seed: 42)
        #expect(first.split(separator: "\n").count == Self.faults.count * 4)
        #expect(!first.contains("\"end\":\"open\""))
        #expect(try await Self.run(seed: 42) == first)
        #expect(try await Self.run(seed: 43) != first)
    }

    private static func run(seed: UInt64) async throws -> String {
        var configuration = ContentServerConfiguration()
        configuration.seed = seed
        var text = ""
        for (index, fault) in faults.enumerated() {
            text += "[rule]\nname = \(fault)\npath = /assets/\(index)/*\nfault = \(fault)\n"
            text += "odds = 90%\n"
        }
        configuration.scenario = try Scenario.read([UInt8](text.utf8), path: "s")
        let content = ContentServer(configuration)
        let loop = try EventLoop(index: 0)
        startThread(named: "test loop") { loop.run() }
        defer { loop.stop() }
        let local = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        let server = try HTTPServer(
            ports: [HTTPServer.Port(local)], loops: [loop], answer: content.answer)
        async let ended = server.run()
        let address = server.addresses[0]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in ["a", "b"] {
                group.addTask(executorPreference: loop) {
                    for index in faults.indices {
                        for range in ["", "Range: bytes=100-\r\n"] {
                            try await fetch(
                                "GET /assets/\(index)/5000 HTTP/1.1\r\nHost: a\r\n\(range)"
                                    + "Sallyport-Client: \(client)\r\nConnection: close\r\n\r\n",
                                from: address, on: loop)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        server.stop()
        _ = await ended
        return content.journal.contents().canonical.text
    }

    /// Sends a request and reads until the connection ends, however.
    private static func fetch(
        _ text: String, from address: SocketAddress, on loop: EventLoop
    ) async throws {
        let channel = try await Channel.connect(to: address, on: loop, deadline: loop.now + 60_000)
        let stream = PlainStream(channel)
        defer { stream.close() }
        stream.readDeadline = loop.now + 60_000
        stream.writeDeadline = loop.now + 60_000
        let buffer = ByteBuffer(capacity: 16_384)
        buffer.append([UInt8](text.utf8))
        try await stream.write(buffer)
        do throws(StreamFailure) {
            while try await stream.read(into: buffer) > 0 { buffer.removeAll() }
        } catch {
            #expect(error == .reset)
        }
    }
}
