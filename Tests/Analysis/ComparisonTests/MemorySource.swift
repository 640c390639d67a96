import Base
import Traffic

/// A capture in memory, written as text.
struct MemorySource: TrafficSource {
    var records: [ExchangeRecord] = []
    var contents: [Int64: [Direction: [UInt8]]] = [:]
    /// The messages of exchanges.
    var dialogues: [Int64: [MessageRecord]] = [:]
    /// Told of contents, if there are any.
    var digests: [ContentDigest] = []

    /// - Returns: the exchange's number.
    @discardableResult
    mutating func add(
        _ line: String, authority: String = "h.example", fields: String = "", status: Int = 200,
        type: String = "application/json", answer: String = "{}", request: String = "",
        milliseconds: Int64 = 10
    ) -> Int64 {
        let id = Int64(records.count + 1)
        var record = ExchangeRecord(
            id: id, connection: 1, startedAt: Timestamp(microseconds: id * 1_000_000),
            scheme: .https,
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

    var digestName: String? { digests.isEmpty ? nil : "test" }

    func contentDigests(_ visit: (ContentDigest) throws -> Bool) throws {
        for digest in digests where try !visit(digest) { return }
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
    ) throws {
        for message in dialogues[exchange ?? 0] ?? [] where try !visit(message) { return }
    }

    /// Adds a WebSocket with its messages: `> text` from the client, `< text` from the origin; a
    /// text in angle brackets is a message of that kind.
    @discardableResult
    mutating func add(_ line: String, messages: [String]) -> Int64 {
        let id = add(line, status: 101, type: "", answer: "")
        for (index, message) in messages.enumerated() {
            var text = message.dropFirst(2)
            var kind = MessageRecord.Kind.text
            if text.first == "<" {
                let name = text.dropFirst().prefix { $0 != ">" }
                kind = MessageRecord.Kind(rawValue: String(name)) ?? .text
                text = text.dropFirst(name.count + 2)
            }
            var record = MessageRecord(
                connection: 1, exchange: id, number: Int64(index + 1),
                at: Timestamp(microseconds: 1),
                direction: message.first == ">" ? .request : .response,
                kind: kind)
            if kind == .close {
                record.detail = String(text)
            } else {
                record.bytes = Array(text.utf8)
            }
            record.size = Int64(record.bytes.count)
            dialogues[id, default: []].append(record)
        }
        return id
    }
}
