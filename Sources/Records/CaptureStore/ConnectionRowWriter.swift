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
        connection = try database.prepare(Schema.upsert("connection", Schema.connectionColumns))
        clientTLS = try database.prepare(
            Schema.upsert("client_tls", Schema.tlsColumns, keeping: Schema.tlsColumnsToldOnce))
        originTLS = try database.prepare(
            Schema.upsert("origin_tls", Schema.tlsColumns, keeping: Schema.tlsColumnsToldOnce))
        certificate = try database.prepare("INSERT INTO certificate(id, hash, der) VALUES(?,?,?)")
        find = try database.prepare("SELECT id FROM certificate WHERE hash = ?")
        nextCertificate = try database.nextID("SELECT max(id) FROM certificate")
    }

    func write(_ record: ConnectionRecord) throws(Failure) {
        connection.bind(record.id)
        connection.bind(record.openedAt.microseconds)
        connection.bind(record.closedAt?.microseconds)
        connection.bind(record.client)
        connection.bind(record.listener)
        connection.bind(record.mode.rawValue)
        connection.bind(record.originHost)
        connection.bind(Int64(record.originPort))
        connection.bind(record.originAddress)
        connection.bind(record.originReused)
        connection.bind(record.clientBytes.received)
        connection.bind(record.clientBytes.sent)
        connection.bind(record.originBytes.received)
        connection.bind(record.originBytes.sent)
        connection.bind(record.protocolName)
        connection.bind(record.exchangeCount)
        connection.bind(record.outcome.rawValue)
        connection.bind(record.cause)
        connection.bind(record.closedBy?.rawValue)
        bindAdditions(of: record)
        try connection.run()
        if let tls = record.clientTLS { try write(tls, of: record.id, clientTLS) }
        if let tls = record.originTLS { try write(tls, of: record.id, originTLS) }
    }

    private func bindAdditions(of record: ConnectionRecord) {
        connection.bind(record.messageCount)
        connection.bind(record.upgrade)
        connection.bind(record.process.map { Int64($0.id) })
        connection.bind(record.process?.executable)
        if let process = record.process {
            let arguments = JSONText.array(process.commandLine.map { .string($0) })
            connection.bind(text: arguments.line.span)
        } else {
            connection.bindNull()
        }
        if record.notes.isEmpty { return connection.bindNull() }
        let notes = record.notes.map { note in
            ["code": .string(note.code), "detail": .string(note.detail)] as JSONText
        }
        connection.bind(text: JSONText.array(notes).line.span)
    }

    private func write(
        _ record: TLSRecord, of connection: Int64, _ statement: Statement
    ) throws(Failure) {
        let chain = try chainText(record.chain)
        statement.bind(connection)
        statement.bind(record.version)
        statement.bind(record.cipher)
        statement.bind(record.alpn)
        statement.bind(record.sni)
        statement.bind(record.ja3)
        statement.bind(record.ja4)
        statement.bind(record.resumed)
        statement.bind(record.handshakeCompleted)
        statement.bind(record.verifyError)
        statement.bind(chain)
        statement.bind(record.alerts.isEmpty ? nil : alertText(record.alerts))
        statement.bind(record.keyLog.isEmpty ? nil : record.keyLog.joined(separator: "\n"))
        statement.bind(record.clientHello)
        try statement.run()
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
    var text = ""
    for alert in alerts {
        text += text.isEmpty ? "[" : ","
        text += "{\"sender\":\""
        text += alert.sender.rawValue
        text += alert.fatal ? "\",\"fatal\":true,\"name\":\"" : "\",\"fatal\":false,\"name\":\""
        text += escaped(alert.name)
        text += "\"}"
    }
    return text + "]"
}

/// The inside of a JSON string (RFC 8259 §7).
private func escaped(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
    guard !isPlain else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\0"..<" ": result += "\\u00" + [UInt8(scalar.value)].hex
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}

/// How many certificates are remembered: about 1.5 KB each.
private let recentCapacity = 256
