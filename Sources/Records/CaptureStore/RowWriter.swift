internal import Base
internal import Contents
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
    private let journal: ChangeRowWriter

    init(database: Database, digest: @escaping @Sendable ([UInt8]) -> [UInt8]) throws(Failure) {
        self.database = database
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        exchange = try database.prepare(Schema.exchanges.upsert())
        interim = try database.prepare("INSERT OR REPLACE INTO interim VALUES(?,?,?)")
        connections = try ConnectionRowWriter(database: database, digest: digest)
        bodies = try BodyRowWriter(database: database, digest: digest)
        messages = try MessageRowWriter(database: database, contents: bodies)
        journal = try ChangeRowWriter(database: database)
    }

    func beginTransaction() throws(Failure) { try begin.run() }

    func commitTransaction() throws(Failure) {
        try journal.write()
        try commit.run()
    }

    /// Gives up what was not committed, after a failure.
    func rollBack() throws(Failure) {
        if !database.isBetweenTransactions { try database.execute("ROLLBACK") }
    }

    /// Ends the recording, all of which is committed.
    func finish() throws(Failure) {
        try RecordingMark.end(in: database)
        try database.checkpoint()
    }

    func write(_ event: TrafficEvent) throws(Failure) {
        journal.note(event)
        switch event {
        case .connection(let record):
            try connections.write(record)
        case .exchange(let snapshot):
            try write(snapshot)
        case .bodyChunk(let exchange, let direction, let sequence, let bytes):
            try bodies.write(
                chunk: bytes, of: exchange, direction, sequence: sequence)
        case .message(let snapshot):
            try messages.write(snapshot)
        }
    }

    private func write(_ snapshot: ExchangeSnapshot) throws(Failure) {
        let id = snapshot.record.id
        let requestBody = try bodies.write(snapshot.record.requestBody, of: id, .request)
        let responseBody = try bodies.write(snapshot.record.responseBody, of: id, .response)
        for (position, head) in snapshot.record.interimHeads.enumerated() {
            interim.bind(id)
            interim.bind(position)
            interim.bind(head)
            try interim.run()
        }
        let input = ExchangeRowInput(
            snapshot: snapshot, head: snapshot.record.headSummary, requestBody: requestBody,
            responseBody: responseBody)
        try Schema.exchanges.write(input, with: exchange)
    }
}
