import Base
import Contents
import HTTPModel
import Testing
import Traffic

@testable import CaptureStore

@Suite struct QueryTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("a.sallyport") }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let query: @Sendable (inout ExchangeQuery) -> Void
        let found: [Int64]
    }

    static let rows = [
        Row(testDescription: "everything", query: { _ in }, found: [1, 2, 3, 4, 5]),
        Row(testDescription: "falling", query: { $0.order = .falling }, found: [5, 4, 3, 2, 1]),
        Row(testDescription: "a page", query: { $0.limit = 2 }, found: [1, 2]),
        Row(
            testDescription: "the page behind it",
            query: {
                $0.numbers = 3...Int64.max
                $0.limit = 2
            }, found: [3, 4]),
        Row(
            testDescription: "the last page",
            query: {
                $0.numbers = Int64.min...4
                $0.order = .falling
                $0.limit = 1
            }, found: [4]),
        Row(testDescription: "a window", query: { $0.numbers = 2...3 }, found: [2, 3]),
        Row(
            testDescription: "by status", query: { $0.conditions = [.status(400...599)] },
            found: [2, 4]),
        Row(
            testDescription: "by method and status",
            query: { $0.conditions = [.method("POST"), .status(500...599)] }, found: [4]),
        Row(
            testDescription: "by connection", query: { $0.conditions = [.connection(2)] },
            found: [3, 4]),
        Row(testDescription: "failed", query: { $0.conditions = [.failed(true)] }, found: [5]),
        Row(
            testDescription: "not failed", query: { $0.conditions = [.failed(false)] },
            found: [1, 2, 3, 4]),
        Row(
            testDescription: "by the tool", query: { $0.conditions = [.answeredByTool(true)] },
            found: [2]),
        Row(
            testDescription: "by time",
            query: {
                $0.conditions = [.started(1_700_000_000_000_002...1_700_000_000_000_003)]
            }, found: [2, 3]),
    ]

    @Test(arguments: rows)
    func finds(_ row: Row) throws {
        try record(sample.map { .exchange($0) }, into: path)
        var query = ExchangeQuery()
        row.query(&query)
        var found: [Int64] = []
        try CaptureReader(path: path).summaries(query) {
            found.append($0.record.id)
            return true
        }
        #expect(found == row.found)
    }

    /// What is read of the columns is what would be cut from the heads.
    @Test func columnsSayWhatTheHeadsDo() throws {
        try record(
            sample.map { .exchange($0) } + [
                .bodyChunk(exchange: 9, direction: .request, sequence: 0, bytes: [1, 2]),
                .exchange(makeExchange(10)),
            ], into: path)
        try checkSummaries(try CaptureReader(path: path))
    }

    @Test func clientsAreListed() throws {
        try record([.connection(makeConnection(1)), .connection(makeConnection(7))], into: path)
        let clients = try CaptureReader(path: path).clients()
        #expect(clients == [1: "127.0.0.1:50000", 7: "127.0.0.1:50000"])
    }

    @Test func keepsWhatWasSent() throws {
        var exchange = makeExchange(1)
        exchange.sentRequestHead = [UInt8]("GET /b HTTP/1.1\r\n\r\n".utf8)
        exchange.sentResponseHead = [UInt8]("HTTP/1.1 201 \r\n\r\n".utf8)
        var connection = makeConnection(1)
        connection.policyVersion = 4
        try record([.connection(connection), .exchange(exchange)], into: path)
        let reader = try CaptureReader(path: path)
        #expect(try reader.exchange(1)?.sentRequestHead == exchange.sentRequestHead)
        #expect(try reader.exchange(1)?.sentResponseHead == exchange.sentResponseHead)
        #expect(try reader.connection(1)?.policyVersion == 4)
    }

    // MARK: Changes

    @Test func identityStaysAndIsOnesOwn() throws {
        let other = folder.file("b.sallyport")
        try record([], into: path)
        try record([], into: other)
        let identity = try #require(try CaptureReader(path: path).identity)
        #expect(identity.count == 36 && identity.split(separator: "-").count == 5)
        #expect(try CaptureReader(path: other).identity != identity)
        try record([.exchange(makeExchange(1))], into: path)
        #expect(try CaptureReader(path: path).identity == identity)
    }

    @Test func eachCommitIsAChange() throws {
        var configuration = quick
        configuration.transactionEventLimit = 4
        try record(
            [
                .exchange(makeExchange(1)), .exchange(makeExchange(2)),
                .exchange(makeExchange(2)), .exchange(makeExchange(4)),
                .connection(makeConnection(3)), .message(makeMessage(1, of: 1)),
                .bodyChunk(exchange: 1, direction: .request, sequence: 0, bytes: [1]),
            ], into: path, configuration)
        let reader = try CaptureReader(path: path)
        let changes = try changes(of: reader, since: 0)
        #expect(
            changes == [
                TrafficChange(number: 1, connections: [], exchanges: [1...2, 4...4]),
                TrafficChange(number: 2, connections: [3...3, 1...1], exchanges: [1...1]),
            ])
        #expect(try reader.lastChange == 2)
        #expect(try self.changes(of: reader, since: 1) == [changes[1]])
        #expect(try self.changes(of: reader, since: 2).isEmpty)
    }

    @Test func tellsThatChangesHaveLapsed() throws {
        try record([.exchange(makeExchange(1))], into: path)
        try record([.exchange(makeExchange(2))], into: path)
        try Database(path: path, access: .write).execute("DELETE FROM change WHERE number = 1")
        let reader = try CaptureReader(path: path)
        let failure = #expect(throws: Failure.self) { try changes(of: reader, since: 0) }
        #expect(failure?.code == "changes-lapsed")
        #expect(try changes(of: reader, since: 1).map(\.number) == [2])
    }

    @Test func numbersGrowToRanges() {
        var numbers = NumberRanges()
        #expect(numbers.text == nil)
        for number: Int64 in [1, 2, 3, 3, 9, 8] { numbers.insert(number) }
        #expect(numbers.text == "[[1,3],[9,9],[8,8]]")
    }

    private func changes(of reader: CaptureReader, since number: Int64) throws -> [TrafficChange] {
        var found: [TrafficChange] = []
        try reader.changes(since: number) {
            found.append($0)
            return true
        }
        return found
    }

    // MARK: Samples

    private var sample: [ExchangeRecord] {
        var posted = makeExchange(2)
        posted.requestHead = [UInt8]("POST /a b?c HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        posted.status = 404
        posted.answeredByTool = true
        var other = makeExchange(3, connection: 2)
        other.responseHead = [UInt8](
            "HTTP/2.0 200 \r\nContent-Type: application/grpc+proto\r\n\r\n".utf8)
        other.responseBody.trailers = [UInt8]("grpc-status: 14\r\n\r\n".utf8)
        other.requestHead = [UInt8]("GET".utf8)
        var failed = makeExchange(4, connection: 2)
        failed.requestHead = [UInt8]("POST * HTTP/1.1\r\n\r\n".utf8)
        failed.responseHead = [UInt8]("HTTP/1.1 500 \r\ncontent-type:  text/html\r\n\r\n".utf8)
        failed.status = 500
        var broken = makeExchange(5)
        broken.requestHead = []
        broken.responseHead = []
        broken.status = 0
        broken.error = "bad-request"
        return [makeExchange(1), posted, other, failed, broken]
    }
}

/// Holds each summary against its whole record.
func checkSummaries(_ reader: CaptureReader) throws {
    var count = 0
    try reader.summaries(ExchangeQuery()) { summary in
        let record = try #require(try reader.exchange(summary.record.id))
        let expected = ExchangeSummary(record)
        #expect(summary.head.method == expected.head.method)
        #expect(summary.head.target == expected.head.target)
        #expect(summary.url == expected.url)
        #expect(summary.head.contentType == expected.head.contentType)
        #expect(summary.head.grpcStatus == expected.head.grpcStatus)
        #expect(summary.record.error == record.error)
        #expect(summary.record.errorDetail == nil || record.isHeadMissing)
        #expect(summary.record.status == record.status)
        #expect(summary.record.requestBody.size == record.requestBody.size)
        #expect(summary.record.durationMicroseconds == record.durationMicroseconds)
        count += 1
        return true
    }
    #expect(count > 0)
}
