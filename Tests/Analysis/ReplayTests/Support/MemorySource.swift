import Base
import Traffic

/// A capture in memory.
final class MemorySource: TrafficSource {
    var connectionRecords: [ConnectionRecord] = []
    var exchangeRecords: [ExchangeRecord] = []
    var messageRecords: [MessageRecord] = []

    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
        for record in connectionRecords { guard try visit(record) else { return } }
    }

    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        for record in exchangeRecords { guard try visit(record) else { return } }
    }

    func exchange(_ id: Int64) throws -> ExchangeRecord? {
        let index = Int(id) - 1
        guard exchangeRecords.indices.contains(index) else { return nil }
        return exchangeRecords[index]
    }

    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        guard let record = try exchange(id) else { return }
        let body = direction == .request ? record.requestBody : record.responseBody
        if !body.bytes.isEmpty { _ = try visit(body.bytes) }
    }

    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {
        for message in messageRecords
        where message.connection == id && (exchange == nil || message.exchange == exchange) {
            guard try visit(message) else { return }
        }
    }

    /// Adds an exchange; a line of the head ends with `\n`.
    @discardableResult
    func add(
        _ request: String, _ content: [UInt8] = [], to authority: String = "example.com",
        _ response: String = "HTTP/1.1 200 OK\n\n", _ answer: [UInt8] = [],
        at seconds: Int64 = 1_700_000_000
    ) -> Int64 {
        var record = ExchangeRecord(
            id: Int64(exchangeRecords.count) + 1, connection: 1,
            startedAt: Timestamp(microseconds: seconds * 1_000_000), scheme: .https,
            authority: authority)
        record.requestHead = head(request)
        record.requestBody.bytes = content
        record.requestBody.size = Int64(content.count)
        record.responseHead = head(response)
        record.responseBody.bytes = answer
        record.responseBody.size = Int64(answer.count)
        record.status = Int(response.split(separator: " ")[1].prefix(3)) ?? 0
        record.durationMicroseconds = 1000
        exchangeRecords.append(record)
        return record.id
    }

    func add(
        _ direction: Direction, _ kind: MessageRecord.Kind, _ bytes: [UInt8],
        exchange: Int64? = nil, offset: Int64? = nil, detail: String = ""
    ) {
        var message = MessageRecord(
            connection: 1, exchange: exchange, number: Int64(messageRecords.count) + 1,
            at: Timestamp(microseconds: 1_700_000_000_000_000 + Int64(messageRecords.count)),
            direction: direction, kind: kind)
        message.bytes = offset == nil ? bytes : []
        message.size = Int64(bytes.count)
        message.offset = offset
        message.detail = detail
        messageRecords.append(message)
    }

    private func head(_ text: String) -> [UInt8] {
        Array(
            text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
                .utf8)
    }
}
