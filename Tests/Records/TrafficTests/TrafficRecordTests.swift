import Base
import Testing

@testable import Traffic

struct TrafficRecordTests {
    private static let moment = Timestamp(microseconds: 0)

    /// The store's queue is bounded by these, so that no event may weigh nothing.
    @Test func weighsWhatItHolds() {
        var connection = ConnectionRecord(
            id: 1, openedAt: Self.moment, client: "", listener: "", mode: .explicit)
        #expect(TrafficEvent.connection(connection).weight == 512)
        connection.clientTLS = TLSRecord()
        connection.clientTLS?.clientHello = [UInt8](repeating: 0, count: 100)
        connection.clientTLS?.keyLog = ["LABEL 00 00"]
        connection.clientTLS?.chain = [[1], [1, 2]]
        #expect(TrafficEvent.connection(connection).weight == 512 + 512 + 100 + 192 + 3)
        connection.originTLS = TLSRecord()
        #expect(TrafficEvent.connection(connection).weight == 512 + 512 + 295 + 512)
        var exchange = ExchangeRecord(
            id: 1, connection: 1, startedAt: Self.moment, scheme: .https, authority: "")
        exchange.requestHead = [1]
        exchange.responseHead = [1, 2]
        exchange.requestBody.bytes = [UInt8](repeating: 0, count: 30)
        exchange.responseBody.bytes = [UInt8](repeating: 0, count: 400)
        #expect(TrafficEvent.exchange(exchange).weight == 512 + 433)
        let chunk = TrafficEvent.bodyChunk(
            exchange: 1, direction: .request, sequence: 0, bytes: [1, 2, 3])
        #expect(chunk.weight == 131)
    }

    /// What captures hold is read by other programs.
    @Test func keepsTheNamesThatAreStored() {
        #expect(
            ConnectionRecord.Outcome.allCases.map(\.rawValue) == [
                "open", "completed", "client-refused", "client-handshake-failed",
                "origin-unreachable", "origin-untrusted", "origin-handshake-failed",
                "passed-through", "refused", "timed-out", "broken", "cut", "lost",
            ])
        #expect(Direction.request.rawValue == 0)
        #expect(Direction.response.rawValue == 1)
        #expect(AlertRecord.Sender.peer.rawValue == "peer")
        #expect(AlertRecord.Sender.tool.rawValue == "tool")
    }

    @Test func beginsOpenAndEmpty() {
        let record = ConnectionRecord(
            id: 7, openedAt: Self.moment, client: "c", listener: "l", mode: .reverse)
        #expect(record.outcome == .open)
        #expect(record.cause.isEmpty)
        #expect(record.closedAt == nil && record.closedBy == nil)
        #expect(record.clientBytes == ByteCount(received: 0, sent: 0))
        #expect(BodyRecord().size == 0 && !BodyRecord().isTruncated)
    }
}
