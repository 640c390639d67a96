import Base
import Testing
import Traffic

@testable import CaptureStore

/// Captures of the first version of the schema.
@Suite struct MigrationTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("a.sallyport") }

    /// A step that was released is never edited; what is new is a step of its own.
    @Test func theFirstStepIsAsReleased() {
        let digest = standInDigest([UInt8](Schema.migrations[0].utf8))
        #expect(digest.hex == "9706d61a9bedbb9a32e71c41ccb3bdc4")
    }

    @Test func isReadAsItIs() throws {
        try makeVersion1()
        let before = contents(of: path)
        let reader = try CaptureReader(path: path)
        try checkRecords(reader)
        #expect(try reader.allMessages(ofConnection: 1).isEmpty)
        #expect(try reader.wholeBody(of: 1, .response) == [1, 2, 3])
        #expect(try reader.verify() == [])
        #expect(contents(of: path) == before)
    }

    @Test func migratesForWriting() throws {
        try makeVersion1()
        let writer = try CaptureWriter(path: path, configuration: quick)
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
    }

    /// A file that was migrated has the columns of one that was made anew, in their order.
    @Test func columnsAreTheSameEitherWay() throws {
        try makeVersion1()
        try record([], into: path)
        let fresh = folder.file("b.sallyport")
        try record([], into: fresh)
        let migrated = try columns(of: path)
        #expect(try columns(of: fresh) == migrated)
        let tables = [
            "connection": Schema.connectionColumns, "exchange": Schema.exchangeColumns,
            "message": Schema.messageColumns,
        ]
        for (table, expected) in tables {
            let names = migrated.filter { $0.hasPrefix("\(table).") }
            #expect(names == expected.map { "\(table).\($0)" })
        }
    }

    /// A reader from before a writer's migration goes on.
    @Test func readerOutlivesTheMigration() throws {
        try makeVersion1()
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

    private func makeVersion1() throws {
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
                    AS BLOB), NULL);
            PRAGMA user_version = 1;
            """)
    }
}
