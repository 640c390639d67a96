internal import Base
internal import Contents
internal import Traffic

/// Cuts the heads in rows of earlier versions, so that lists need not read them.
///
/// A batch is a transaction, which notes how far it came: what a crash leaves undone is done when
/// the file is next opened for writing, and a reader reads the heads of such rows until then.
struct HeadCutting {
    private let database: Database
    private let next: Statement
    private let update: Statement
    private let note: Statement

    /// How many rows are rewritten in a transaction: the log stays within a few MiB.
    private static let batchCount = 2000

    init(_ database: Database) throws(Failure) {
        self.database = database
        next = try database.prepare(
            "SELECT \(Schema.exchanges.selection(in: Schema.version)) FROM exchange "
                + "WHERE id > ? ORDER BY id LIMIT 1")
        update = try database.prepare(
            "UPDATE exchange SET method = ?, target = ?, content_type = ?, grpc_status = ? "
                + "WHERE id = ?")
        note = try database.prepare("INSERT OR REPLACE INTO meta VALUES('cut_behind', ?)")
    }

    /// - Parameter progress: told how many rows are done, and how many there are.
    func run(_ progress: (_ done: Int64, _ total: Int64) -> Void) throws(Failure) {
        let isDue = try database.integer("SELECT count(*) FROM meta WHERE key = 'cut_behind'") > 0
        guard isDue else { return }
        var place = try database.integer("SELECT value FROM meta WHERE key = 'cut_behind'")
        let total = try database.integer("SELECT count(*) FROM exchange")
        var done = try database.integer("SELECT count(*) FROM exchange WHERE id <= \(place)")
        var isComplete = false
        while !isComplete {
            try database.execute("BEGIN IMMEDIATE")
            for _ in 0..<Self.batchCount {
                guard let row = try row(behind: place) else {
                    isComplete = true
                    break
                }
                place = row.summary.record.id
                if row.scheme != nil { try cut(row.summary.record) }
                done += 1
            }
            note.bind(place)
            try note.run()
            if isComplete { try database.execute("DELETE FROM meta WHERE key = 'cut_behind'") }
            try database.execute("COMMIT")
            progress(done, total)
        }
    }

    private func row(behind id: Int64) throws(Failure) -> ExchangeRow? {
        next.bind(id)
        guard try next.next() else { return nil }
        defer { next.reset() }
        var row = ExchangeRow.empty
        try Schema.exchanges.read(&row, from: next)
        return row
    }

    private func cut(_ record: ExchangeRecord) throws(Failure) {
        let head = record.headSummary
        update.bind(text: head.method.span)
        update.bind(text: head.target.span)
        update.bind(text: head.contentType.span)
        update.bind(head.grpcStatus.map { Int64($0) })
        update.bind(record.id)
        try update.run()
    }
}
