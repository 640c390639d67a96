internal import Base
internal import Traffic

/// Turns events into rows, inside of transactions that its caller begins and commits.
///
/// Not `Sendable`: the writer's thread has it for itself.
final class RowWriter {
    private let database: Database
    private let begin: Statement
    private let commit: Statement
    private let exchange: Statement
    private let interim: Statement
    private let connections: ConnectionRowWriter
    private let bodies: BodyRowWriter
    private let messages: MessageRowWriter

    init(database: Database, digest: @escaping @Sendable ([UInt8]) -> [UInt8]) throws(Failure) {
        self.database = database
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        exchange = try database.prepare(Schema.upsert("exchange", Schema.exchangeColumns))
        interim = try database.prepare("INSERT OR REPLACE INTO interim VALUES(?,?,?)")
        connections = try ConnectionRowWriter(database: database, digest: digest)
        bodies = try BodyRowWriter(database: database, digest: digest)
        messages = try MessageRowWriter(database: database, contents: bodies)
    }

    func beginTransaction() throws(Failure) { try begin.run() }

    func commitTransaction() throws(Failure) { try commit.run() }

    /// Gives up what was not committed, after a failure.
    func rollBack() throws(Failure) {
        if !database.isBetweenTransactions { try database.execute("ROLLBACK") }
    }

    func checkpoint() throws(Failure) { try database.checkpoint() }

    func write(_ event: TrafficEvent) throws(Failure) {
        switch event {
        case .connection(let record):
            try connections.write(record)
        case .exchange(let record):
            try write(record)
        case .bodyChunk(let exchange, let direction, let sequence, let bytes):
            try bodies.write(
                chunk: bytes, of: exchange, direction, sequence: sequence)
        case .message(let record):
            try messages.write(record)
        }
    }

    private func write(_ record: ExchangeRecord) throws(Failure) {
        let requestBody = try bodies.write(record.requestBody, of: record.id, .request)
        let responseBody = try bodies.write(record.responseBody, of: record.id, .response)
        for (position, head) in record.interimHeads.enumerated() {
            interim.bind(record.id)
            interim.bind(position)
            interim.bind(head)
            try interim.run()
        }
        bindSummary(of: record)
        let line = RequestLine(of: record.requestHead)
        exchange.bind(text: record.requestHead.span.extracting(line.method))
        exchange.bind(text: record.requestHead.span.extracting(line.target))
        exchange.bind(record.status)
        exchange.bind(record.protocolName)
        exchange.bind(record.requestBody.size)
        exchange.bind(record.responseBody.size)
        exchange.bind(record.requestBody.isTruncated)
        exchange.bind(record.responseBody.isTruncated)
        exchange.bind(record.requestBody.chunkCount)
        exchange.bind(record.responseBody.chunkCount)
        exchange.bind(requestBody)
        exchange.bind(responseBody)
        exchange.bind(record.error)
        exchange.bind(record.errorDetail)
        exchange.bind(record.answeredByTool)
        exchange.bind(record.interimHeads.count)
        exchange.bind(record.requestBody.trailers)
        exchange.bind(record.responseBody.trailers)
        exchange.bind(record.requestHead)
        exchange.bind(record.responseHead)
        exchange.bind(Int64(record.stream))
        exchange.bind(record.originProtocolName)
        try exchange.run()
    }

    private func bindSummary(of record: ExchangeRecord) {
        exchange.bind(record.id)
        exchange.bind(record.connection)
        exchange.bind(record.startedAt.microseconds)
        exchange.bind(record.durationMicroseconds)
        exchange.bind(record.firstByteMicroseconds)
        exchange.bind(record.scheme.rawValue)
        exchange.bind(record.authority)
    }
}

/// Where the method and the target stand in a head, however malformed it is: up to the first space
/// of the first line, and from there to the next one or the end of the line.
struct RequestLine {
    let method: Range<Int>
    let target: Range<Int>

    init(of head: [UInt8]) {
        let bytes = head.span
        var end = 0
        var spaces: [2 of Int] = [-1, -1]
        var found = 0
        while end < bytes.count, found < 2, bytes[end] != 0x0A, bytes[end] != 0x0D {
            if bytes[end] == 0x20 {
                spaces[found] = end
                found += 1
            }
            end += 1
        }
        method = 0..<(found > 0 ? spaces[0] : end)
        target = found == 0 ? end..<end : (spaces[0] + 1)..<(found == 2 ? spaces[1] : end)
    }
}
