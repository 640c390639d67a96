import Base
import HTTPCodecs
import HTTPModel
import Testing
import Traffic

@testable import Replay

/// What requests are answered with, for a table of captures.
struct ReplayRecordingTests {
    /// A request, and the content that answers it; `nil` for a miss.
    struct Ask: Sendable {
        let head: String
        let content: String
        let answer: String?

        init(_ head: String, _ content: String = "", _ answer: String?) {
            self.head = head
            self.content = content
            self.answer = answer
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let recorded: [(head: String, content: String, answer: String)]
        let asked: [Ask]
        var order = ReplayOrder.sequence
        var rules = ""
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(
            name: "in sequence, then none", recorded: [("GET /a", "", "1"), ("GET /a", "", "2")],
            asked: [Ask("GET /a", "1"), Ask("GET /a", "2"), Ask("GET /a", nil)]),
        Row(
            name: "in sequence, then the last",
            recorded: [("GET /a", "", "1"), ("GET /a", "", "2")],
            asked: [Ask("GET /a", "1"), Ask("GET /a", "2"), Ask("GET /a", "2")], order: .stay),
        Row(
            name: "in a circle", recorded: [("GET /a", "", "1"), ("GET /a", "", "2")],
            asked: [Ask("GET /a", "1"), Ask("GET /a", "2"), Ask("GET /a", "1")], order: .cycle),
        Row(
            name: "the first", recorded: [("GET /a", "", "1"), ("GET /a", "", "2")],
            asked: [Ask("GET /a", "1"), Ask("GET /a", "1")], order: .first),
        Row(
            name: "the last", recorded: [("GET /a", "", "1"), ("GET /a", "", "2")],
            asked: [Ask("GET /a", "2"), Ask("GET /a", "2")], order: .last),
        Row(
            name: "a query in another order", recorded: [("GET /a?x=1&y=2&x=0", "", "1")],
            asked: [Ask("GET /a?y=2&x=0&x=1", "1")]),
        Row(
            name: "a query that counts twice", recorded: [("GET /a?x=1&x=1", "", "1")],
            asked: [Ask("GET /a?x=1", nil)]),
        Row(
            name: "another spelling of a query", recorded: [("GET /a?x=%41+b", "", "1")],
            asked: [Ask("GET /a?x=A%20b", "1")]),
        Row(name: "another method", recorded: [("GET /a", "", "1")], asked: [Ask("PUT /a", nil)]),
        Row(
            name: "an ignored query", recorded: [("GET /a?x=1&t=1", "", "1")],
            asked: [Ask("GET /a?x=1&t=2", "1"), Ask("GET /a?x=1", nil)], rules: "ignore query t"),
        Row(
            name: "an ignored path", recorded: [("GET /a", "", "1")], asked: [Ask("GET /b", "1")],
            rules: "ignore path"),
        Row(
            name: "ids in paths that are ignored",
            recorded: [("PUT /items/17", "", "1"), ("PUT /items/17/x", "", "2")],
            asked: [
                Ask("PUT /items/9/x", nil), Ask("PUT /items/9", "1"), Ask("PUT /users/17", nil),
            ],
            rules: "ignore at /items/* path"),
        Row(
            name: "an ignored query of one path",
            recorded: [("GET /a?t=1", "", "1"), ("GET /b?t=1", "", "2")],
            asked: [Ask("GET /a?t=2", "1"), Ask("GET /b?t=2", nil)],
            rules: "ignore at example.com/a query t"),
        Row(
            name: "a header that does not count",
            recorded: [("GET /a\nuser-agent: x", "", "1")],
            asked: [Ask("GET /a\nuser-agent: y", "1")]),
        Row(
            name: "a header that is to count", recorded: [("GET /a\nx-tenant: x", "", "1")],
            asked: [Ask("GET /a\nX-Tenant: y", nil), Ask("GET /a\nX-Tenant: x", "1")],
            rules: "match header x-tenant"),
        Row(
            name: "authorization is there or not, whatever it is",
            recorded: [("GET /a\nauthorization: Bearer 1", "", "1")],
            asked: [Ask("GET /a", nil), Ask("GET /a\nauthorization: Bearer 2", "1")]),
        Row(
            name: "the wanted kind of content is preferred",
            recorded: [("GET /a\naccept: a/b", "", "1"), ("GET /a\naccept: c/d", "", "2")],
            asked: [Ask("GET /a\naccept: c/d", "2"), Ask("GET /a", "1"), Ask("GET /a", nil)]),
        Row(
            name: "JSON laid out anew",
            recorded: [("POST /a\ncontent-type: application/json", #"{"a":1,"b":2}"#, "1")],
            asked: [
                Ask("POST /a\ncontent-type: application/json", #"{"b": 3, "a": 1}"#, nil),
                Ask(
                    "POST /a\ncontent-type: application/json; charset=utf-8", #"{"b": 2, "a": 1}"#,
                    "1"),
            ]),
        Row(
            name: "an ignored member of JSON",
            recorded: [("POST /a\ncontent-type: application/json", #"{"a":1,"l":[{"t":2}]}"#, "1")],
            asked: [Ask("POST /a\ncontent-type: application/json", #"{"a":1,"l":[{"t":9}]}"#, "1")],
            rules: "ignore body $.l[*].t"),
        Row(
            name: "ignored contents without pieces",
            recorded: [
                ("POST /a\ncontent-type: application/json", #"{"a":1}"#, "1"),
                ("POST /b\ncontent-type: text/xml", "<a>", "2"),
            ],
            asked: [
                Ask("POST /a\ncontent-type: application/json", #"{"a":2}"#, nil),
                Ask("POST /b\ncontent-type: text/xml", "<b>", "2"),
            ],
            rules: "ignore body"),
        Row(
            name: "a value that the response has, too",
            recorded: [("GET /a?nonce=abcdef", "", "{\"nonce\":\"abcdef\"}")],
            asked: [Ask("GET /a?nonce=uvw", "{\"nonce\":\"uvw\"}")], rules: "substitute query nonce"
        ),
    ]

    @Test(arguments: rows)
    func answers(_ row: Row) throws {
        let source = MemorySource()
        for (index, exchange) in row.recorded.enumerated() {
            source.add(
                request(exchange.head), [UInt8](exchange.content.utf8), to: "example.com",
                "HTTP/1.1 200 OK\nContent-Length: \(exchange.answer.utf8.count)\n\n",
                [UInt8](exchange.answer.utf8), at: Int64(index))
        }
        var options = ReplayOptions()
        options.order = row.order
        options.rules = try ReplayRules(text: row.rules)
        let recording = try ReplayRecording(source, options: options, digests: .forTests)
        for ask in row.asked {
            #expect(
                try recording.answer(to: request(ask.head), [UInt8](ask.content.utf8)) == ask.answer
            )
        }
    }

    /// One origin of this machine is found by its name and by its addresses, if no other is meant.
    @Test(
        arguments: [
            (["localhost:8080"], "127.0.0.1:8080", "0"),
            (["127.0.0.1:8080"], "localhost:8080", "0"),
            (["[::1]:8080"], "localhost:8080", "0"),
            (["localhost:8080", "127.0.0.1:8080"], "127.0.0.1:8080", "1"),
            (["localhost:8080"], "127.0.0.1:8081", nil), (["127.0.0.2"], "127.0.0.1", nil),
            (["a.localhost"], "b.localhost", nil), (["localhost"], "example.com", nil),
            (["example.com"], "localhost", nil),
        ] as [([String], String, String?)])
    func answersByAnotherNameOfLoopback(
        _ recorded: [String], _ asked: String, _ answer: String?
    ) throws {
        let source = MemorySource()
        for (index, authority) in recorded.enumerated() {
            source.add(
                request("GET /a"), to: authority, "HTTP/1.1 200 OK\nContent-Length: 1\n\n",
                Array("\(index)".utf8))
        }
        let recording = try ReplayRecording(source, options: ReplayOptions(), digests: .forTests)
        let other = try recording.ask(request("GET /b"), authority: asked)
        other.noteEnd()
        guard case .miss(let miss) = other.next() else { return #expect(Bool(false)) }
        let parts = try #require(miss.nearest).differences.map(\.part)
        #expect(parts == (answer == nil ? [.authority, .path] : [.path]))
        #expect(try recording.answer(to: request("GET /a"), from: asked) == answer)
    }

    /// The same of what is no HTTP.
    @Test(
        arguments: [
            ("127.0.0.1", "localhost", true), ("127.0.0.2", "localhost", true),
            ("db.localhost", "127.0.0.1", true), ("::ffff:127.0.0.1", "localhost", true),
            ("127.0.0.2", "127.0.0.1", false), ("db.example", "localhost", false),
        ])
    func knowsDialoguesByAnotherNameOfLoopback(
        _ recorded: String, _ asked: String, _ isKnown: Bool
    ) throws {
        var connection = ConnectionRecord(
            id: 1, openedAt: Timestamp(microseconds: 0), client: "c", listener: "l",
            mode: .explicit)
        (connection.originHost, connection.originPort) = (recorded, 6379)
        connection.clientTLS = TLSRecord()
        connection.clientTLS?.alpn = "redis"
        let source = MemorySource()
        source.connectionRecords = [connection]
        let recording = try ReplayRecording(source, options: ReplayOptions(), digests: .forTests)
        #expect(recording.protocols(of: asked, 6379) == (isKnown ? ["redis"] : []))
    }

    private func request(_ head: String) -> String {
        let lines = head.split(separator: "\n", maxSplits: 1)
        let rest = lines.count > 1 ? "\n" + lines[1] : ""
        return "\(lines[0]) HTTP/1.1\nhost: example.com\(rest)\n\n"
    }
}

extension ReplayRecordingTests.Ask {
    init(_ head: String, _ answer: String?) {
        self.init(head, "", answer)
    }
}

extension ReplayDigests {
    static let forTests = ReplayDigests(makeSHA256: { SummingDigest() }, sha1: { $0 })
}

private final class SummingDigest: RunningDigest {
    private var sum = 0
    func update(_ bytes: [UInt8]) { sum = bytes.reduce(sum) { $0 &* 31 &+ Int($1) } }
    func finish() -> [UInt8] { Array(String(sum).utf8) }
}

extension ReplayRecording {
    /// Asks, and returns the content of the answer; `nil` for a miss.
    func answer(
        to head: String, _ content: [UInt8] = [], from authority: String = "example.com"
    ) throws -> String? {
        let exchange = try ask(head, authority: authority)
        if !content.isEmpty { exchange.receive(content.span) }
        exchange.noteEnd()
        var answer: [UInt8] = []
        while true {
            switch exchange.next() {
            case .head(_, isAll: true), .end: return answer.text
            case .head, .interim: continue
            case .content(let bytes): answer += bytes
            case .miss: return nil
            case .needMore, .pause, .switching, .broken: return "(something else)"
            }
        }
    }

    func ask(_ text: String, authority: String = "example.com") throws -> ReplayExchange {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let bytes = Array(lines.joined(separator: "\r\n").utf8)
        let head = try #require(try RequestReader.read(bytes.span)?.head)
        return ReplayExchange(
            self,
            RequestFacts(
                method: head.method.text, isSecure: true, authority: authority,
                target: head.target, fields: head.fields,
                opensWebSocket: head.fields.contains(.upgrade, token: "websocket")))
    }
}
