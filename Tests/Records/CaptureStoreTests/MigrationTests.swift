import Base
import Synchronization
import Testing
import Traffic

@testable import CaptureStore

/// Captures of earlier versions of the schema.
@Suite struct MigrationTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("a.sallyport") }

    /// A step that was released is never edited; what is new is a step of its own.
    @Test(arguments: [
        (0, "9706d61a9bedbb9a32e71c41ccb3bdc4"), (1, "9808135fa896b41f69599ccb511476dd"),
    ])
    func theStepsAreAsReleased(_ index: Int, _ released: String) {
        let digest = standInDigest([UInt8](Schema.migrations[index].utf8))
        #expect(digest.hex == released)
    }

    @Test(arguments: [1, 2])
    func isReadAsItIs(_ version: Int) throws {
        try make(version)
        let before = contents(of: path)
        let reader = try CaptureReader(path: path)
        try checkRecords(reader)
        #expect(try reader.allMessages(ofConnection: 1).isEmpty)
        #expect(try reader.wholeBody(of: 1, .response) == [1, 2, 3])
        #expect(try reader.verify() == [])
        #expect(try reader.identity == nil)
        #expect(try reader.lastChange == 0)
        try checkSummaries(reader)
        #expect(contents(of: path) == before)
    }

    @Test(arguments: [1, 2])
    func migratesForWriting(_ version: Int) throws {
        try make(version)
        let told = Mutex<[Int64]>([])
        var configuration = quick
        configuration.progress = { done, total in told.withLock { $0 += [done, total] } }
        let writer = try CaptureWriter(path: path, configuration: configuration)
        #expect(told.withLock { $0 } == [1, 1])
        #expect(writer.nextConnectionID == 3)
        #expect(writer.nextExchangeID == 2)
        var added = makeExchange(2)
        added.stream = 5
        writer.submit([.exchange(added), .message(makeMessage(1, exchange: 2))])
        try writer.close()
        let reader = try CaptureReader(path: path)
        #expect(try reader.database.integer("PRAGMA user_version") == Schema.version)
        try checkRecords(reader)
        #expect(try reader.exchange(2)?.stream == 5)
        #expect(try reader.allMessages(ofConnection: 1).map(\.bytes.text) == ["hello"])
        #expect(try reader.verify() == [])
        #expect(try reader.identity != nil)
        try checkSummaries(reader)
        try checkCut(reader)
    }

    /// What a crash leaves of the heads is cut when the file is opened again, and read until then.
    @Test func goesOnBehindACrash() throws {
        let count: Int64 = 4500
        try record((1...count).map { .exchange(makeExchange($0)) }, into: path)
        let database = try Database(path: path, access: .write)
        try database.execute(
            "UPDATE exchange SET content_type = NULL, method = '' WHERE id > 2000; "
                + "INSERT INTO meta VALUES('cut_behind', 2000)")
        try checkSummaries(try CaptureReader(path: path))
        let told = Mutex<[Int64]>([])
        var configuration = quick
        configuration.progress = { done, _ in told.withLock { $0.append(done) } }
        try record([], into: path, configuration)
        #expect(told.withLock { $0 } == [4000, 4500])
        let reader = try CaptureReader(path: path)
        try checkSummaries(reader)
        try checkCut(reader)
        try record([], into: path, configuration)
        #expect(told.withLock { $0.count } == 2)
    }

    private func checkCut(_ reader: CaptureReader) throws {
        let uncut = "SELECT count(*) FROM exchange WHERE content_type IS NULL OR method = ''"
        #expect(try reader.database.integer(uncut) == 0)
        let due = "SELECT count(*) FROM meta WHERE key = 'cut_behind'"
        #expect(try reader.database.integer(due) == 0)
    }

    /// A file that was migrated has the columns of one that was made anew, in their order.
    @Test func columnsAreTheSameEitherWay() throws {
        try make(1)
        try record([], into: path)
        let fresh = folder.file("b.sallyport")
        try record([], into: fresh)
        let migrated = try columns(of: path)
        #expect(try columns(of: fresh) == migrated)
        let tables = [
            "connection": Schema.connections.columns.map(\.name),
            "exchange": Schema.exchanges.columns.map(\.name),
            "message": Schema.messages.columns.map(\.name),
            "client_tls": Schema.clientTLS.columns.map(\.name),
            "origin_tls": Schema.originTLS.columns.map(\.name),
        ]
        for (table, expected) in tables {
            let names = migrated.filter { $0.hasPrefix("\(table).") }
            #expect(names == expected.map { "\(table).\($0)" })
        }
    }

    /// A reader from before a writer's migration goes on.
    @Test func readerOutlivesTheMigration() throws {
        try make(1)
        let reader = try CaptureReader(path: path)
        try checkRecords(reader)
        try record([.exchange(makeExchange(2))], into: path)
        try checkRecords(reader)
        #expect(try reader.exchange(2)?.authority == "origin.example")
    }

    private func checkRecords(_ reader: CaptureReader) throws {
        let connections = try reader.allConnections()
        #expect(connections.map(\.id) == [1, 2])
        #expect(connections.map(\.outcome) == [.completed, .refused])
        #expect(connections.allSatisfy { $0.messageCount == 0 && $0.upgrade == nil })
        #expect(connections.allSatisfy { $0.process == nil && $0.notes.isEmpty })
        let exchange = try #require(try reader.exchange(1))
        #expect(exchange.requestHead.text == "GET / HTTP/1.1\r\n\r\n")
        #expect(exchange.stream == 0)
        #expect(exchange.originProtocolName == nil)
    }

    private func columns(of path: String) throws -> [String] {
        let statement = try Database(path: path, access: .read).prepare(
            "SELECT entry.name || '.' || info.name FROM sqlite_schema AS entry, "
                + "pragma_table_info(entry.name) AS info WHERE entry.type IN ('table', 'view') "
                + "ORDER BY entry.name, info.cid")
        var names: [String] = []
        while try statement.next() { names.append(statement.text()) }
        return names
    }

    private func make(_ version: Int) throws {
        write([], to: path)
        let database = try Database(path: path, access: .write)
        try database.execute("PRAGMA page_size = 16384")
        try database.execute("PRAGMA application_id = \(Schema.applicationID)")
        try database.execute("PRAGMA journal_mode = WAL")
        try database.execute(Schema.migrations[0])
        try database.execute(
            """
            INSERT INTO meta VALUES('created_us', '1');
            INSERT INTO connection VALUES
                (1, 10, 20, 'c', 'l', 'explicit', 'h', 443, NULL, 0, 1, 2, 3, 4, 'http/1.1', 1,
                    'completed', '', 'client'),
                (2, 10, 20, 'c', 'l', 'reverse', 'h', 443, NULL, 0, 1, 2, 3, 4, '', 0,
                    'refused', 'why', NULL);
            INSERT INTO chunk VALUES(1, x'00', 3, 0, x'010203');
            INSERT INTO exchange VALUES
                (1, 1, 11, 5, 4, 'https', 'h', 'GET', '/', 200, 'HTTP/1.1', 0, 3, 0, 0, 0, 0, NULL,
                    1, NULL, NULL, 0, 0, NULL, NULL, CAST('GET / HTTP/1.1' || char(13, 10, 13, 10)
                    AS BLOB), CAST('HTTP/1.1 200 OK' || char(13, 10)
                    || 'Content-Type: image/png' || char(13, 10, 13, 10) AS BLOB));
            """)
        for step in Schema.migrations[1..<version] { try database.execute(step) }
        try database.execute("PRAGMA user_version = \(version)")
    }
}
