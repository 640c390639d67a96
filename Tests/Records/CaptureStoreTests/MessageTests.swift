import Base
import Testing
import Traffic

@testable import CaptureStore

@Suite struct MessageTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("a.sallyport") }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let edit: @Sendable (inout MessageRecord) -> Void
        var testDescription: String { name }
    }

    static let rows =
        [
            Row(name: "usual") { _ in },
            Row(name: "nothing") { $0.setContent([]) },
            Row(name: "one byte") { $0.setContent([0]) },
            Row(name: "last that is inline") { $0.setContent(.init(repeating: 1, count: 3584)) },
            Row(name: "first that is a chunk") { $0.setContent(.init(repeating: 1, count: 3585)) },
            Row(name: "1 MiB") { $0.setContent(.init(repeating: 1, count: 1 << 20)) },
            Row(name: "of an exchange's body") { record in
                record = makeMessage(1, exchange: .max, bytes: [])
                record.size = 12
                record.offset = RecordedNumber.limit
            },
            Row(name: "truncated") { record in
                record.size = RecordedNumber.limit
                record.isTruncated = true
                record.detail = "1001: going \"away\" ü\0"
            },
        ]
        + MessageRecord.Kind.allCases.map { kind in
            Row(name: kind.rawValue) { record in
                record = MessageRecord(
                    connection: 1, exchange: nil, number: 1, at: record.at, direction: .response,
                    kind: kind)
            }
        }

    @Test(arguments: rows)
    func comesBack(_ row: Row) throws {
        var message = makeMessage(1)
        row.edit(&message)
        try record([.message(message)], into: path)
        let reader = try CaptureReader(path: path)
        #expect(try reader.allMessages(ofConnection: 1).map { dump($0) } == [dump(message)])
        #expect(try reader.verify() == [])
    }

    @Test func partsComeInOrder() throws {
        var events: [TrafficEvent] = []
        for number in [2, 1, 3] as [Int64] {
            for part in [0, 2, 1] {
                var message = makeMessage(number, bytes: [UInt8(number), UInt8(part)])
                message.part = part
                message.isLast = part == 2
                events.append(.message(message))
            }
        }
        try record(events + [.message(makeMessage(1, of: 2))], into: path)
        let reader = try CaptureReader(path: path)
        let bytes = try reader.allMessages(ofConnection: 1).map(\.bytes)
        #expect(
            bytes == [
                [1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2], [3, 0], [3, 1], [3, 2],
            ])
        #expect(try reader.allMessages(ofConnection: 2).count == 1)
        #expect(try reader.allMessages(ofConnection: 3).isEmpty)
        #expect(try reader.verify() == [])
    }

    @Test func visitsThoseOfAnExchangeAndEndsWhenToldTo() throws {
        try record(
            (1...30).map { .message(makeMessage($0, exchange: $0 % 3 == 0 ? nil : $0 % 3)) },
            into: path)
        let reader = try CaptureReader(path: path)
        #expect(
            try reader.allMessages(ofConnection: 1, exchange: 2).map(\.number)
                == Array(stride(from: 2, through: 29, by: 3)))
        var seen: [Int64] = []
        try reader.messages(ofConnection: 1, exchange: nil) { message in
            seen.append(message.number)
            let others = try reader.allMessages(ofConnection: 1, exchange: 1)
            #expect(others.count == 10)
            return message.number < 2
        }
        #expect(seen == [1, 2])
    }

    @Test func longContentIsStoredOnceAndSharedWithBodies() throws {
        let long = [UInt8](repeating: 7, count: 5000)
        try record(
            [.exchange(makeExchange(1, body: long))]
                + (1...9).map { .message(makeMessage($0, bytes: long)) }
                + (10...19).map { .message(makeMessage($0)) }, into: path)
        let reader = try CaptureReader(path: path)
        #expect(try reader.database.integer("SELECT count(*) FROM chunk") == 1)
        #expect(try reader.allMessages(ofConnection: 1).prefix(9).allSatisfy { $0.bytes == long })
        #expect(try reader.verify() == [])
    }

    /// A message told again replaces what was told of it.
    @Test func aLaterTellingReplaces() throws {
        try record(
            [.message(makeMessage(1, exchange: 4)), .message(makeMessage(1, bytes: [9]))],
            into: path)
        let reader = try CaptureReader(path: path)
        #expect(try reader.allMessages(ofConnection: 1).map(\.bytes) == [[9]])
        #expect(try reader.allMessages(ofConnection: 1, exchange: 4).isEmpty)
        #expect(try reader.verify() == [])
    }

    /// After a crash there may be messages of a connection and an exchange that have no row: their
    /// numbers are not given again.
    @Test func numbersOfOrphansAreTaken() throws {
        try record([.message(makeMessage(1, of: 41, exchange: 17))], into: path)
        let writer = try CaptureWriter(path: path, configuration: quick)
        #expect(writer.nextConnectionID == 42)
        #expect(writer.nextExchangeID == 18)
        try writer.close()
        #expect(try CaptureReader(path: path).verify() == [])
    }

    struct OffsetRow: Sendable {
        let offset: Int64
        let bytes: [UInt8]
    }

    @Test(
        arguments: [
            OffsetRow(offset: -1, bytes: [1, 2, 3, 4, 5, 6]),
            OffsetRow(offset: 0, bytes: [1, 2, 3, 4, 5, 6]),
            OffsetRow(offset: 1, bytes: [2, 3, 4, 5, 6]),
            OffsetRow(offset: 3, bytes: [4, 5, 6]), OffsetRow(offset: 5, bytes: [6]),
            OffsetRow(offset: 6, bytes: []), OffsetRow(offset: .max, bytes: []),
        ])
    func bodiesAreReadFromAPlace(_ row: OffsetRow) throws {
        var parted = makeExchange(1, body: [])
        parted.responseBody.chunkCount = 3
        parted.responseBody.size = 6
        let parts: [TrafficEvent] = [[1, 2, 3], [4], [5, 6]].enumerated().map { sequence, bytes in
            .bodyChunk(exchange: 1, direction: .response, sequence: sequence, bytes: bytes)
        }
        try record(
            parts + [.exchange(parted), .exchange(makeExchange(2, body: [1, 2, 3, 4, 5, 6]))],
            into: path)
        let reader = try CaptureReader(path: path)
        for exchange in [1, 2] as [Int64] {
            var bytes: [UInt8] = []
            try reader.body(ofExchange: exchange, .response, from: row.offset) { part in
                bytes += part
                return true
            }
            #expect(bytes == row.bytes)
        }
    }

    struct DamageRow: Sendable, CustomTestStringConvertible {
        let sql: String
        let problem: String
        var testDescription: String { sql }
    }

    static let damageRows = [
        DamageRow(
            sql: "DELETE FROM chunk",
            problem: "message 2 of connection 1 refers to content that is missing"),
        DamageRow(
            sql: "UPDATE message SET offset = 1 WHERE number = 1",
            problem: "message 1 of connection 1 has its content in two places"),
        DamageRow(
            sql: "UPDATE message SET size = 4 WHERE number = 1",
            problem: "message 1 of connection 1 has more or less content than passed"),
        DamageRow(
            sql: "UPDATE message SET size = 4, truncated = 1 WHERE number = 2",
            problem: "message 2 of connection 1 has more or less content than passed"),
        DamageRow(
            sql: "DELETE FROM message WHERE number = 3 AND part = 0",
            problem: "message 3 of connection 1 lacks parts"),
        DamageRow(
            sql: "UPDATE exchange SET connection = 2",
            problem: "message 1 of connection 1 belongs to an exchange of another connection"),
    ]

    @Test(arguments: damageRows)
    func verifyFinds(_ row: DamageRow) throws {
        var later = makeMessage(3)
        later.part = 1
        try record(
            [
                .connection(makeConnection(1)), .exchange(makeExchange(1)),
                .message(makeMessage(1, exchange: 1)),
                .message(makeMessage(2, bytes: [UInt8](repeating: 1, count: 5000))),
                .message(makeMessage(3)), .message(later),
            ], into: path)
        #expect(try CaptureReader(path: path).verify() == [])
        try Database(path: path, access: .write).execute(row.sql)
        #expect(try CaptureReader(path: path).verify().contains(row.problem))
    }

    @Test(arguments: ["direction", "kind"])
    func wordsOfALaterVersionAreTold(_ column: String) throws {
        try record([.message(makeMessage(1))], into: path)
        try Database(path: path, access: .write).execute("UPDATE message SET \(column) = 'new'")
        let reader = try CaptureReader(path: path)
        let failure = #expect(throws: Failure.self) { try reader.allMessages(ofConnection: 1) }
        #expect(failure?.code == "capture-newer")
    }

    @Test func theTextViewShowsBothPlaces() throws {
        let long = [UInt8](repeating: 0x61, count: 5000)
        try record([.message(makeMessage(1)), .message(makeMessage(2, bytes: long))], into: path)
        let statement = try Database(path: path, access: .read).prepare(
            "SELECT text, at FROM message_text ORDER BY number")
        #expect(try statement.next())
        #expect(statement.text() == "hello")
        #expect(statement.text() == "2023-11-14T22:13:20.000Z")
        #expect(try statement.next())
        #expect(statement.text() == long.text)
    }

    /// The index finds an exchange's messages among many of its connection.
    @Test func messagesOfAnExchangeAreFoundByIndex() throws {
        try record([], into: path)
        let statement = try Database(path: path, access: .read).prepare(
            "EXPLAIN QUERY PLAN SELECT number FROM message WHERE connection = ? AND exchange = ? "
                + "ORDER BY number, part")
        var plan = ""
        while try statement.next() {
            statement.skip(count: 3)
            plan += statement.text() + "\n"
        }
        #expect(plan.contains("message_exchange"), "\(plan)")
        #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
    }
}

extension MessageRecord {
    fileprivate mutating func setContent(_ content: [UInt8]) {
        bytes = content
        size = Int64(content.count)
    }
}
