import Base
import Testing
import Traffic

@testable import CaptureStore

@Suite struct SchemaTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("a.sallyport") }

    struct HeadRow: Sendable, CustomTestStringConvertible {
        let name: String
        let head: String
        /// Position, name and value, parted by a bar.
        let fields: [String]
        var testDescription: String { name }
    }

    static let headRows = [
        HeadRow(name: "none", head: "", fields: []),
        HeadRow(name: "no field", head: "GET / HTTP/1.1\r\n\r\n", fields: []),
        HeadRow(
            name: "order and case", head: "GET / HTTP/1.1\r\nb: 1\r\nA: 2\r\nB: 3\r\n\r\n",
            fields: ["0|b|1", "1|A|2", "2|B|3"]),
        HeadRow(
            name: "space around and colons inside",
            head: "GET / HTTP/1.1\r\nA:\t x: \"y\" \\ \t\r\nEmpty:\r\n\r\n",
            fields: ["0|A|x: \"y\" \\", "1|Empty|"]),
        HeadRow(
            name: "bare line feeds", head: "GET / HTTP/1.1\nA: 1\nB: 2\n\n",
            fields: ["0|A|1", "1|B|2"]),
        HeadRow(
            name: "folded and nameless", head: "GET / HTTP/1.1\r\nA: 1\r\n 2: 3\r\nodd\r\n\r\n",
            fields: ["0|A|1", "1|-|2: 3", "2|-|odd"]),
        HeadRow(name: "cut short", head: "GET / HTTP/1.1\r\nA: 1\r\nB: 2", fields: ["0|A|1"]),
        HeadRow(name: "no line", head: "GET", fields: []),
    ]

    @Test(arguments: headRows)
    func headerViewSplits(_ row: HeadRow) throws {
        var exchange = makeExchange(1)
        exchange.requestHead = [UInt8](row.head.utf8)
        try record([.exchange(exchange), .exchange(makeExchange(2))], into: path)
        let database = try Database(path: path, access: .read)
        let statement = try database.prepare(
            "SELECT position, coalesce(name, '-'), value FROM header "
                + "WHERE exchange = 1 AND direction = 'request' ORDER BY position")
        var fields: [String] = []
        while try statement.next() {
            fields.append("\(statement.integer())|\(statement.text())|\(statement.text())")
        }
        #expect(fields == row.fields)
    }

    @Test func headerNamesCompareWithoutCase() throws {
        try record((1...3).map { .exchange(makeExchange($0)) }, into: path)
        let database = try Database(path: path, access: .read)
        let sql = "SELECT count(*) FROM header WHERE name = 'CONTENT-length' AND value = '5'"
        #expect(try database.integer(sql) == 3)
    }

    @Test(
        arguments: [
            ("GET /a?b HTTP/1.1", "https://origin.example/a?b"),
            ("OPTIONS * HTTP/1.1", "https://origin.example"),
            ("GET /a?b HTTP/2.0", "https://origin.example/a?b"),
            ("CONNECT /chat HTTP/2.0", "https://origin.example/chat"),
            ("CONNECT a.example:443 HTTP/1.1", "https://origin.example"),
            ("GET http://b.example/c HTTP/1.1", "http://b.example/c"), ("GET", ""),
        ])
    func flowHasTheURL(_ line: String, _ url: String) throws {
        var exchange = makeExchange(1)
        exchange.requestHead = [UInt8]("\(line)\r\n\r\n".utf8)
        try record([.exchange(exchange)], into: path)
        let statement = try Database(path: path, access: .read).prepare(
            "SELECT url, started FROM flow")
        #expect(try statement.next())
        #expect(statement.text() == url)
        #expect(statement.text() == "2023-11-14T22:13:20.000Z")
    }

    @Test func recentChunksForgetAndNeverMistake() {
        var recent = RecentChunks(capacity: 4)
        let digests = (1...9).map { [UInt8](repeating: UInt8($0), count: 32) }
        #expect(recent.chunk(for: digests[0]) == nil)
        for (index, digest) in digests.enumerated() {
            recent.remember(digest, chunk: Int64(index) + 1)
        }
        let known = digests.map { recent.chunk(for: $0) }
        #expect(known.compactMap { $0 }.count <= 4)
        #expect(known.last == 9)
        for (index, chunk) in known.enumerated() {
            #expect(chunk == nil || chunk == Int64(index) + 1)
        }
        #expect(recent.chunk(for: digests[8].dropLast() + [0]) == nil)
    }

    // MARK: Documentation

    @Test func theDocumentedQueriesRun() throws {
        try record(sample(), into: path)
        let database = try Database(path: path, access: .read)
        let queries = documentedQueries()
        #expect(queries.count >= 13)
        for query in queries {
            let statement = try database.prepare(query)
            #expect(try statement.next(), "no row: \(query)")
        }
    }

    @Test func theDocumentedColumnsAreThere() throws {
        try record([], into: path)
        let text = contents(of: documentationPath).text
        let database = try Database(path: path, access: .read)
        let statement = try database.prepare(
            "SELECT DISTINCT info.name FROM sqlite_schema AS entry, "
                + "pragma_table_info(entry.name) AS info WHERE entry.type IN ('table', 'view')")
        var count = 0
        while try statement.next() {
            let name = statement.text()
            #expect(text.contains("`\(name)`") || ["key", "value"].contains(name), "\(name)")
            count += 1
        }
        #expect(count > 60)
        let words =
            ConnectionRecord.Outcome.allCases.map(\.rawValue)
            + ConnectionRecord.Mode.allCases.map(\.rawValue)
            + MessageRecord.Kind.allCases.map(\.rawValue)
        for word in words { #expect(text.contains("`\(word)`"), "\(word)") }
    }

    private var documentationPath: String {
        let here = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        return "/\(here)/Documentation/capture-file.md"
    }

    private func documentedQueries() -> [String] {
        contents(of: documentationPath).text.split(separator: "```sql\n").dropFirst()
            .map { String($0.prefix { $0 != "`" }) }
    }

    /// A capture in which each documented query finds something.
    private func sample() -> [TrafficEvent] {
        var tls = TLSRecord()
        tls.sni = "origin.example"
        tls.ja4 = "t13d"
        tls.chain = [[1, 2], [3, 4]]
        tls.keyLog = ["CLIENT_RANDOM 00 01"]
        tls.alerts = [AlertRecord(sender: .peer, fatal: true, name: "unknown_ca")]
        var connection = makeConnection(1, outcome: .clientRefused)
        connection.clientTLS = tls
        var cookie = makeExchange(1)
        cookie.responseHead = [UInt8]("HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\n\r\n".utf8)
        var unfinished = makeExchange(3)
        unfinished.durationMicroseconds = nil
        connection.messageCount = 2
        connection.process = ProcessRecord(id: 7, executable: "/bin/a", commandLine: ["a"])
        connection.notes = [ConnectionNote("odd", "quite")]
        return [
            .connection(connection), .exchange(cookie), .exchange(makeExchange(2)),
            .exchange(unfinished), .message(makeMessage(1)),
            .message(makeMessage(2, exchange: 2)),
        ]
    }
}
