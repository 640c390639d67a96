import Base
import Testing
import Traffic

@testable import CaptureStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct CaptureReaderTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("a.sallyport") }

    // MARK: Connections

    struct ConnectionRow: Sendable, CustomTestStringConvertible {
        let name: String
        let edit: @Sendable (inout ConnectionRecord) -> Void
        var testDescription: String { name }
    }

    static let connectionRows = [
        ConnectionRow(name: "nothing known") { _ in },
        ConnectionRow(name: "plain") { record in
            record.closedAt = Timestamp(microseconds: 5)
            record.originHost = "origin.example"
            record.originPort = 65_535
            record.originAddress = "[2001:db8::1]:443"
            record.originReused = true
            record.clientBytes = ByteCount(received: 1, sent: 2)
            record.originBytes = ByteCount(received: 3, sent: RecordedNumber.limit)
            record.protocolName = "http/1.1"
            record.exchangeCount = 7
            record.outcome = .refused
            record.cause =
                "it's \"quoted\", ütf-8 and\nlong: \(String(repeating: "x", count: 20_000))"
            record.closedBy = .origin
        },
        ConnectionRow(name: "a process, an upgrade, notes and messages") { record in
            record.messageCount = 12
            record.upgrade = "STARTTLS"
            record.process = ProcessRecord(
                id: .max, executable: "/usr/bin/python3.11",
                commandLine: ["python3", "", "-c", "print(\"\\\n\u{1}ü\")"])
            record.notes = [
                ConnectionNote("http3-advertisement-removed", "h3=\":443\""),
                ConnectionNote("odd", ""),
            ]
        },
        ConnectionRow(name: "a process of which little is known") { record in
            record.process = ProcessRecord(id: 1, executable: "", commandLine: [])
        },
        ConnectionRow(name: "captured") { record in
            record = ConnectionRecord(
                id: 3, openedAt: record.openedAt, client: "a", listener: "b", mode: .captured)
            record.outcome = .completed
        },
        ConnectionRow(name: "empty TLS") { $0.clientTLS = TLSRecord() },
        ConnectionRow(name: "TLS on both legs") { record in
            var tls = TLSRecord()
            tls.version = "TLSv1.3"
            tls.cipher = "TLS_AES_128_GCM_SHA256"
            tls.alpn = "h2"
            tls.sni = "origin.example"
            tls.ja3 = "a"
            tls.ja4 = "b"
            tls.resumed = true
            tls.handshakeCompleted = true
            tls.verifyError = "self-signed certificate"
            tls.chain = [[1, 2, 3], [4, 5], [1, 2, 3], []]
            tls.keyLog = ["CLIENT_RANDOM a b", "", "SERVER c d"]
            tls.alerts = [
                AlertRecord(sender: .peer, fatal: true, name: "unknown_ca"),
                AlertRecord(sender: .tool, fatal: false, name: "odd \" \\ \n ü"),
            ]
            tls.clientHello = [UInt8](0...255)
            record.clientTLS = tls
            tls.chain = [[4, 5], [UInt8](repeating: 9, count: 30_000)]
            tls.clientHello = []
            tls.resumed = false
            record.originTLS = tls
        },
    ]

    @Test(arguments: connectionRows)
    func connectionComesBack(_ row: ConnectionRow) throws {
        var connection = makeConnection(3)
        row.edit(&connection)
        try record([.connection(connection)], into: path)
        let read = try CaptureReader(path: path).allConnections()
        #expect(read.map { dump($0) } == [dump(connection)])
        #expect(try CaptureReader(path: path).connection(3).map { dump($0) } == dump(connection))
        #expect(try CaptureReader(path: path).connection(2).map { dump($0) } == nil)
    }

    @Test(arguments: ConnectionRecord.Outcome.allCases.filter { $0 != .open })
    func outcomeComesBack(_ outcome: ConnectionRecord.Outcome) throws {
        try record([.connection(makeConnection(1, outcome: outcome))], into: path)
        #expect(try CaptureReader(path: path).allConnections().map(\.outcome) == [outcome])
    }

    // MARK: Exchanges

    struct ExchangeRow: Sendable, CustomTestStringConvertible {
        let name: String
        let edit: @Sendable (inout ExchangeRecord) -> Void
        var testDescription: String { name }
    }

    static let exchangeRows = [
        ExchangeRow(name: "nothing known") { record in
            record = ExchangeRecord(
                id: 9, connection: 0, startedAt: Timestamp(microseconds: 0), scheme: .http,
                authority: "")
        },
        ExchangeRow(name: "usual") { _ in },
        ExchangeRow(name: "malformed head") { $0.requestHead = [0, 0xFF, 0x0A, 0x20] },
        ExchangeRow(name: "all of it") { record in
            record.error = "origin-closed"
            record.errorDetail = "ended at byte 7"
            record.answeredByTool = true
            record.protocolName = "HTTP/2"
            record.originProtocolName = "HTTP/1.1"
            record.stream = .max
            record.interimHeads = [
                [UInt8]("HTTP/1.1 100 Continue\r\n\r\n".utf8),
                [UInt8]("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".utf8),
            ]
            record.requestBody.size = 12
            record.requestBody.isTruncated = true
            record.requestBody.trailers = [UInt8]("A: b\r\n\r\n".utf8)
            record.responseBody.isTruncated = true
            record.responseBody.trailers = [UInt8]("C: d\r\n\r\n".utf8)
            record.requestBody.chunkCount = 0
        },
        ExchangeRow(name: "head larger than a page") { record in
            record.requestHead = [UInt8]("GET /".utf8) + [UInt8](repeating: 0x61, count: 70_000)
        },
    ]

    @Test(arguments: exchangeRows)
    func exchangeComesBack(_ row: ExchangeRow) throws {
        var exchange = makeExchange(9)
        row.edit(&exchange)
        try record([.exchange(exchange)], into: path)
        let reader = try CaptureReader(path: path)
        let body = exchange.responseBody.bytes
        exchange.responseBody.bytes = []
        #expect(try reader.allExchanges().map { dump($0) } == [dump(exchange)])
        #expect(try reader.exchange(9).map { dump($0) } == dump(exchange))
        #expect(try reader.wholeBody(of: 9, .response) == body)
        #expect(try reader.exchange(8).map { dump($0) } == nil)
    }

    @Test func visitsEndWhenToldTo() throws {
        let events: [TrafficEvent] = (1...5).flatMap { id in
            [.connection(makeConnection(id)), .exchange(makeExchange(id))]
        }
        try record(events, into: path)
        let reader = try CaptureReader(path: path)
        var seen: [Int64] = []
        try reader.connections { record in
            seen.append(record.id)
            return record.id < 2
        }
        try reader.exchanges { record in
            seen.append(record.id * 10)
            // A visit may ask the reader again.
            let size = try reader.wholeBody(of: record.id, .response).count
            #expect(size == 5)
            return record.id < 3
        }
        #expect(seen == [1, 2, 10, 20, 30])
        let counts = CaptureCounts(connections: 5, exchanges: 5, unfinishedExchanges: 0)
        #expect(try reader.counts() == counts)
    }

    @Test func bodyOfNoExchangeIsAFailure() throws {
        try record([], into: path)
        let reader = try CaptureReader(path: path)
        let failure = #expect(throws: Failure.self) { try reader.wholeBody(of: 1, .request) }
        #expect(failure?.code == "no-such-exchange")
    }

    // MARK: Files

    @Test func readsWhileItIsWritten() throws {
        let writer = try CaptureWriter(path: path, configuration: quick)
        let reader = try CaptureReader(path: path)
        #expect(try reader.counts().exchanges == 0)
        writer.submit([.exchange(makeExchange(1))])
        try writer.close()
        #expect(try reader.counts().exchanges == 1)
    }

    @Test func leavesNothingBeside() throws {
        try record([.exchange(makeExchange(1))], into: path)
        #expect(folder.names == ["a.sallyport"])
        do {
            let reader = try CaptureReader(path: path)
            #expect(try reader.counts().exchanges == 1)
        }
        #expect(folder.names == ["a.sallyport"])
    }

    @Test func readsInAReadOnlyFolder() throws {
        try record([.exchange(makeExchange(1))], into: path)
        unsafe chmod(folder.path, 0o500)
        defer { unsafe chmod(folder.path, 0o700) }
        #expect(try CaptureReader(path: path).counts().exchanges == 1)
    }

    @Test func frozenAccessReadsNamesWithMeaning() throws {
        let odd = folder.file("a?b#c%41.sallyport")
        try record([.exchange(makeExchange(1))], into: odd)
        let database = try Database(path: odd, access: .frozen)
        #expect(try database.integer("SELECT count(*) FROM exchange") == 1)
    }

    struct ForeignRow: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]?
        let code: String
        var testDescription: String { name }
    }

    static let foreignRows = [
        ForeignRow(name: "no file", bytes: nil, code: "capture-unreadable"),
        ForeignRow(name: "empty", bytes: [], code: "capture-not-a-capture"),
        ForeignRow(name: "text", bytes: [UInt8]("hello".utf8), code: "capture-not-a-capture"),
        ForeignRow(
            name: "long text", bytes: [UInt8](repeating: 0x61, count: 100_000),
            code: "capture-not-a-capture"),
        ForeignRow(
            name: "another database", bytes: foreignDatabase(), code: "capture-not-a-capture"),
    ]

    @Test(arguments: foreignRows)
    func refuses(_ row: ForeignRow) throws {
        if let bytes = row.bytes { write(bytes, to: path) }
        let failure = #expect(throws: Failure.self) { try CaptureReader(path: path) }
        #expect(failure?.code == row.code)
        #expect(failure?.detail.contains(path) == true)
        #expect(failure?.hint != nil)
        #expect(contents(of: path) == row.bytes ?? [])
        #expect(folder.names == (row.bytes == nil ? [] : ["a.sallyport"]))
    }

    @Test func damageIsToldAndDoesNotCrash() throws {
        try record(
            (1...400).map { .exchange(makeExchange($0)) }
                + (1...400).map { .message(makeMessage($0)) }, into: path)
        let whole = contents(of: path)
        var failures = 0
        for page in 1..<whole.count / 16_384 {
            var damaged = whole
            for offset in 0..<600 { damaged[page * 16_384 + offset] ^= 0x5A }
            write(damaged, to: path)
            do {
                let reader = try CaptureReader(path: path)
                _ = try reader.allExchanges()
                _ = try reader.allMessages(ofConnection: 1)
                if try !reader.verify().isEmpty { failures += 1 }
            } catch let failure as Failure {
                #expect(failure.code == "capture-unreadable")
                failures += 1
            }
        }
        #expect(failures > 5)
    }

    // MARK: Verify

    struct DamageRow: Sendable, CustomTestStringConvertible {
        let sql: String
        let problem: String
        var testDescription: String { sql }
    }

    static let damageRows = [
        DamageRow(
            sql: "DELETE FROM chunk WHERE id = 1",
            problem: "exchange 1 refers to content that is missing"),
        DamageRow(
            sql: "UPDATE exchange SET response_body = 1 WHERE id = 2",
            problem: "exchange 2 has content in one piece and in parts"),
        DamageRow(
            sql: "DELETE FROM exchange WHERE id = 2",
            problem: "exchange 2 has content and is missing"),
        DamageRow(
            sql: "DELETE FROM part WHERE sequence = 0",
            problem: "exchange 2 lacks parts of its content"),
        DamageRow(
            sql: "UPDATE exchange SET response_size = 1 WHERE id = 1",
            problem: "exchange 1 has more or less content than passed"),
        DamageRow(
            sql: "UPDATE chunk SET bytes = x'00' WHERE id = 1",
            problem: "chunk 1 is not as long as it says"),
        DamageRow(
            sql: "DELETE FROM connection", problem: "connection 1 has TLS and is missing"),
        DamageRow(
            sql: "DELETE FROM certificate",
            problem: "connection 1 refers to a certificate that is missing"),
    ]

    @Test(arguments: damageRows)
    func verifyFinds(_ row: DamageRow) throws {
        var connection = makeConnection(1)
        var tls = TLSRecord()
        tls.chain = [[1]]
        connection.clientTLS = tls
        var chunked = makeExchange(2, body: [])
        chunked.responseBody.chunkCount = 2
        chunked.responseBody.size = 4
        try record(
            [
                .connection(connection), .exchange(makeExchange(1)),
                .bodyChunk(exchange: 2, direction: .response, sequence: 0, bytes: [1, 2]),
                .bodyChunk(exchange: 2, direction: .response, sequence: 1, bytes: [3, 4]),
                .exchange(chunked),
            ], into: path)
        #expect(try CaptureReader(path: path).verify() == [])
        try Database(path: path, access: .write).execute(row.sql)
        #expect(try CaptureReader(path: path).verify().contains(row.problem))
    }

    /// What nobody can have counted comes back as what somebody might have.
    @Test(arguments: [Int64.min, -1, .max])
    func numbersComeBackWithinBounds(_ number: Int64) throws {
        try record(
            [.connection(makeConnection(1)), .exchange(makeExchange(1))], into: path)
        let database = try Database(path: path, access: .write)
        try database.execute(
            "UPDATE exchange SET started_us = \(number), duration_us = \(number), "
                + "response_size = \(number), status = \(number)")
        try database.execute(
            "UPDATE connection SET opened_us = \(number), client_sent = \(number), "
                + "exchanges = \(number)")
        let reader = try CaptureReader(path: path)
        let exchange = try #require(try reader.exchange(1))
        let connection = try #require(try reader.connection(1))
        let bounded = number < 0 ? 0 : RecordedNumber.limit
        #expect(exchange.durationMicroseconds == bounded)
        #expect(exchange.responseBody.size == bounded)
        #expect((0...999).contains(exchange.status))
        #expect(connection.clientBytes.sent == bounded)
        #expect(connection.exchangeCount == bounded)
        for moment in [exchange.startedAt, connection.openedAt] {
            #expect(RecordedNumber.moments.contains(moment.microseconds))
            #expect(moment.rfc3339.utf8.count == 24)
        }
    }

    @Test func wordsOfALaterVersionAreTold() throws {
        try record([.connection(makeConnection(1))], into: path)
        try Database(path: path, access: .write).execute("UPDATE connection SET outcome = 'new'")
        let reader = try CaptureReader(path: path)
        let failure = #expect(throws: Failure.self) { try reader.allConnections() }
        #expect(failure?.code == "capture-newer")
    }
}

/// The bytes of an SQLite file that is no capture.
func foreignDatabase() -> [UInt8] {
    let folder = TemporaryFolder()
    let path = folder.file("foreign.db")
    write([], to: path)
    do {
        let database = try Database(path: path, access: .write)
        try database.execute("CREATE TABLE mine(a); INSERT INTO mine VALUES(1)")
    } catch {
        preconditionFailure("a database can be made")
    }
    return contents(of: path)
}
