import Base
import Traffic

/// A capture in memory, written as text.
struct MemorySource: TrafficSource {
    var records: [ExchangeRecord] = []
    var contents: [Int64: [Direction: [UInt8]]] = [:]

    /// - Returns: the exchange's number.
    @discardableResult
    mutating func add(
        _ line: String, authority: String = "h.example", fields: String = "", status: Int = 200,
        type: String = "application/json", answer: String = "{}", request: String = "",
        milliseconds: Int64 = 10
    ) -> Int64 {
        let id = Int64(records.count + 1)
        var record = ExchangeRecord(
            id: id, connection: 1, startedAt: Timestamp(microseconds: id), scheme: .https,
            authority: authority)
        record.requestHead = Array("\(line) HTTP/1.1\r\nHost: \(authority)\r\n\(fields)\r\n".utf8)
        record.responseHead = Array(
            "HTTP/1.1 \(status) OK\r\nContent-Type: \(type)\r\nDate: \(id)\r\n\r\n".utf8)
        record.status = status
        record.durationMicroseconds = milliseconds * 1000
        record.requestBody.size = Int64(request.utf8.count)
        record.responseBody.size = Int64(answer.utf8.count)
        records.append(record)
        contents[id] = [.request: Array(request.utf8), .response: Array(answer.utf8)]
        return id
    }

    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {}

    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        for record in records where try !visit(record) { return }
    }

    func exchange(_ id: Int64) throws -> ExchangeRecord? { records.first { $0.id == id } }

    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        let content = contents[id]?[direction] ?? []
        if !content.isEmpty { _ = try visit(content) }
    }

    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {}
}
