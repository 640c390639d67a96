import Base
import Testing
import Traffic

@testable import Commands
@testable import Views

struct WholeMessageTests {
    struct PlaceRow: Sendable, CustomTestStringConvertible {
        let name: String
        var kind = MessageRecord.Kind.event
        let offset: Int64
        let size: Int64
        let content: [UInt8]
        var isWhole = true
        var testDescription: String { name }
    }

    static let body: [UInt8] = [0, 0, 0, 0, 2, 8, 9, 0, 0xFF, 0xFF, 0xFF, 0xFF, 7]

    /// Numbers that a file or a peer may hold.
    static let placeRows = [
        PlaceRow(name: "at the start", offset: 0, size: 3, content: [0, 0, 0]),
        PlaceRow(name: "inside", offset: 4, size: 3, content: [2, 8, 9]),
        PlaceRow(name: "empty", offset: 4, size: 0, content: []),
        PlaceRow(name: "over the end", offset: 12, size: 9, content: [7], isWhole: false),
        PlaceRow(name: "behind the end", offset: .max, size: .max, content: [], isWhole: false),
        PlaceRow(name: "before the start", offset: .min, size: 4, content: [], isWhole: false),
        PlaceRow(name: "negative size", offset: 0, size: .min, content: [], isWhole: false),
        PlaceRow(
            name: "over the limit", offset: 0, size: 13, content: Array(body[..<8]), isWhole: false),
        PlaceRow(name: "gRPC", kind: .grpc, offset: 0, size: 2, content: [8, 9]),
        PlaceRow(
            name: "gRPC, too long", kind: .grpc, offset: 7, size: 1, content: [7], isWhole: false),
        PlaceRow(
            name: "gRPC, no prefix", kind: .grpc, offset: 10, size: 1, content: [], isWhole: false),
        PlaceRow(
            name: "gRPC, behind the end", kind: .grpc, offset: .max - 1, size: 1, content: [],
            isWhole: false),
    ]

    @Test(arguments: placeRows)
    func findsContentsInBodies(_ row: PlaceRow) throws {
        var source = FakeTrafficSource()
        source.contents = [.init(exchange: 1, direction: .response): Self.body]
        var record = message(1, exchange: 1, row.kind)
        record.offset = row.offset
        record.size = row.size
        let contents = MessageContents(source)
        // Twice: the second time from what was read before.
        for _ in 0..<2 {
            var assembly = MessageAssembly(contents: contents, byteLimit: 8, redaction: nil)
            let before = try assembly.push(record)
            let last = assembly.finish()
            let whole = try #require(last)
            #expect(before?.size == nil)
            #expect(whole.content == row.content)
            #expect(whole.isWhole == row.isWhole)
        }
    }

    @Test func codedBodiesAreLeftAlone() throws {
        var source = FakeTrafficSource()
        var exchange = ExchangeRecord(
            id: 1, connection: 1, startedAt: SampleCapture.start, scheme: .https, authority: "a")
        exchange.responseHead = [UInt8]("HTTP/2.0 200\r\ncontent-encoding: gzip\r\n\r\n".utf8)
        source.exchangeRecords = [exchange]
        source.contents = [.init(exchange: 1, direction: .response): Self.body]
        var record = message(1, exchange: 1, .event)
        record.offset = 0
        record.size = 3
        let content = try MessageContents(source).content(of: record, byteLimit: 9)
        #expect(content.bytes.isEmpty)
        #expect(!content.remark.isEmpty)
    }

    @Test(arguments: [1, 3, 4, 5, 6, 100])
    func partsMakeAMessageWithinItsLimit(_ limit: Int) throws {
        var assembly = MessageAssembly(
            contents: MessageContents(FakeTrafficSource()), byteLimit: limit, redaction: nil)
        for part in 0..<3 {
            var record = message(1, exchange: nil, .binary)
            record.part = part
            record.bytes = [UInt8(part), 9]
            record.size = part == 2 ? .max : 2
            let before = try assembly.push(record)
            #expect(before?.size == nil)
        }
        let pushed = try assembly.push(message(2, exchange: nil, .ping))
        let first = try #require(pushed)
        #expect(first.content == Array([0, 9, 1, 9, 2, 9].prefix(limit)))
        #expect(first.isWhole == (limit >= 6))
        let last = assembly.finish()
        #expect(last?.first.number == 2)
        let none = assembly.finish()
        #expect(none?.size == nil)
    }

    private func message(
        _ number: Int64, exchange: Int64?, _ kind: MessageRecord.Kind
    ) -> MessageRecord {
        MessageRecord(
            connection: 1, exchange: exchange, number: number, at: SampleCapture.start,
            direction: .response, kind: kind)
    }
}
