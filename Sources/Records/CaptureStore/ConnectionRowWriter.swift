internal import Base
internal import Traffic

/// Stores connections, with what is known of TLS on both legs.
final class ConnectionRowWriter {
    private let digest: @Sendable ([UInt8]) -> [UInt8]
    private let connection: Statement
    private let clientTLS: Statement
    private let originTLS: Statement
    private let certificate: Statement
    private let find: Statement
    private var recent = RecentCertificates(capacity: recentCapacity)
    private var nextCertificate: Int64

    init(database: Database, digest: @escaping @Sendable ([UInt8]) -> [UInt8]) throws(Failure) {
        self.digest = digest
        connection = try database.prepare(Schema.connections.upsert())
        clientTLS = try database.prepare(
            Schema.clientTLS.upsert(keeping: Schema.tlsColumnsToldOnce))
        originTLS = try database.prepare(
            Schema.originTLS.upsert(keeping: Schema.tlsColumnsToldOnce))
        certificate = try database.prepare("INSERT INTO certificate(id, hash, der) VALUES(?,?,?)")
        find = try database.prepare("SELECT id FROM certificate WHERE hash = ?")
        nextCertificate = try database.nextID("SELECT max(id) FROM certificate")
    }

    func write(_ record: ConnectionRecord) throws(Failure) {
        var row = ConnectionRow(record: record)
        if let process = record.process {
            row.processID = Int64(process.id)
            row.executable = process.executable
            row.arguments =
                JSONText.array(process.commandLine.map { .string($0) }).line.text
        }
        if !record.notes.isEmpty {
            let notes = record.notes.map { note in
                ["code": .string(note.code), "detail": .string(note.detail)] as JSONText
            }
            row.notes = JSONText.array(notes).line.text
        }
        try Schema.connections.write(row, with: connection)
        if let tls = record.clientTLS { try write(tls, of: record.id, clientTLS) }
        if let tls = record.originTLS { try write(tls, of: record.id, originTLS) }
    }

    private func write(
        _ record: TLSRecord, of connection: Int64, _ statement: Statement
    ) throws(Failure) {
        let row = TLSRow(
            connection: connection, record: record, chain: try chainText(record.chain),
            clientChain: try chainText(record.clientChain),
            alerts: record.alerts.isEmpty ? nil : alertText(record.alerts),
            keyLog: record.keyLog.isEmpty ? nil : record.keyLog.joined(separator: "\n"))
        try Schema.clientTLS.write(row, with: statement)
    }

    /// A JSON array of the certificates' numbers, `nil` for no certificate.
    private func chainText(_ chain: [[UInt8]]) throws(Failure) -> String? {
        guard !chain.isEmpty else { return nil }
        var text = ""
        for der in chain {
            text += text.isEmpty ? "[" : ","
            text += String(try id(of: der))
        }
        return text + "]"
    }

    private func id(of der: [UInt8]) throws(Failure) -> Int64 {
        if let known = recent.id(of: der) { return known }
        let hash = digest(der)
        find.bind(hash)
        let id: Int64
        if try find.next() {
            id = find.integer()
            find.reset()
        } else {
            id = nextCertificate
            certificate.bind(id)
            certificate.bind(hash)
            try certificate.run(last: der)
            nextCertificate += 1
        }
        recent.remember(der, id: id)
        return id
    }
}

/// The alerts as a JSON array of objects.
private func alertText(_ alerts: [AlertRecord]) -> String {
    let objects = alerts.map { alert in
        [
            "sender": .string(alert.sender.rawValue), "fatal": .boolean(alert.fatal),
            "name": .string(alert.name),
        ] as JSONText
    }
    return JSONText.array(objects).line.text
}

/// How many certificates are remembered: about 1.5 KB each.
private let recentCapacity = 256
