internal import Base
internal import Traffic

/// Writes one HAR document.
struct HARWriter {
    let source: any TrafficSource
    let options: ExportOptions
    var json: JSONWriter
    var losses = LossReport()
    /// Those with messages.
    private var talkative: Set<Int64> = []
    /// Those that are wanted; unused if all are.
    private var wantedExchanges: Set<Int64> = []
    private var wantedConnections: Set<Int64> = []

    init(
        _ source: any TrafficSource, _ options: ExportOptions,
        to output: @escaping ([UInt8]) throws -> Void
    ) {
        self.source = source
        self.options = options
        json = JSONWriter(output)
    }

    mutating func write() throws {
        try choose()
        try json.beginObject()
        try json.name("log")
        try json.beginObject()
        try json.member("version", "1.2")
        try json.member(
            "creator", ["name": "sallyport", "version": .string(options.creatorVersion)])
        try json.member("pages", [])
        try writeConnections()
        try writeFailedHandshakes()
        try writeEntries()
        try writeMessages()
        try json.endObject()
        try json.endObject()
        json.breakLine()
        try json.flush()
    }

    /// Finds out what is wanted, where not all is.
    private mutating func choose() throws {
        guard let includes = options.includes else { return }
        var (exchanges, connections): (Set<Int64>, Set<Int64>) = ([], [])
        try source.exchanges { exchange in
            if try includes(exchange) {
                exchanges.insert(exchange.id)
                connections.insert(exchange.connection)
            }
            return true
        }
        wantedExchanges = exchanges
        wantedConnections = connections
    }

    private func wants(exchange: Int64) -> Bool {
        options.includes == nil || wantedExchanges.contains(exchange)
    }

    private func wants(connection: Int64) -> Bool {
        options.includes == nil || wantedConnections.contains(connection)
    }

    private mutating func writeConnections() throws {
        try json.name("_sallyport")
        try json.beginObject()
        try json.member("version", 1)
        try json.member("redacted", .boolean(!options.withSecrets))
        try json.name("connections")
        try json.beginArray()
        let source = source
        try source.connections { record in
            guard wants(connection: record.id) else { return true }
            if record.messageCount > 0 { talkative.insert(record.id) }
            try write(record)
            return true
        }
        try json.endArray()
        try json.endObject()
    }

    private mutating func write(_ record: ConnectionRecord) throws {
        let keys = (record.clientTLS?.keyLog ?? []) + (record.originTLS?.keyLog ?? [])
        if !options.withSecrets, !keys.isEmpty {
            losses.note(.keysLeftOut, "connection \(record.id)")
        }
        json.breakLine()
        try json.value(HARConnectionText(record: record, withSecrets: options.withSecrets).json)
    }

    private mutating func writeFailedHandshakes() throws {
        try json.name("_tlsErrors")
        try json.beginArray()
        let source = source
        try source.connections { record in
            guard wants(connection: record.id) else { return true }
            let text = HARConnectionText(record: record, withSecrets: options.withSecrets)
            if let failure = text.failedHandshake { try json.value(failure) }
            return true
        }
        try json.endArray()
    }

    private mutating func writeEntries() throws {
        try json.name("entries")
        try json.beginArray()
        let source = source
        var passed: Int64 = 0
        var connection: ConnectionRecord?
        try source.exchanges { exchange in
            passed += 1
            try options.progress(passed)
            guard wants(exchange: exchange.id) else { return true }
            if connection?.id != exchange.connection {
                connection = try source.connection(exchange.connection)
            }
            json.breakLine()
            try writeEntry(exchange, connection)
            return true
        }
        try json.endArray()
    }

    /// Writes what the entries of the WebSockets do not hold: frames that are no messages, messages
    /// of other protocols, pieces of streams.
    private mutating func writeMessages() throws {
        guard !talkative.isEmpty else { return }
        try json.name("_sallyportMessages")
        try json.beginArray()
        for id in talkative.sorted() {
            let source = source
            var redaction = try HARMessageRedaction(
                of: try source.connection(id), in: source, isOn: !options.withSecrets)
            try source.messages(ofConnection: id, exchange: nil) { part in
                let isWanted = part.exchange.map { wants(exchange: $0) } ?? true
                guard isWanted, !part.isInEntry else { return true }
                try write(part, &redaction)
                return true
            }
            note(redaction, "a message of connection \(id)")
        }
        try json.endArray()
    }

    private mutating func write(
        _ part: MessageRecord, _ redaction: inout HARMessageRedaction
    ) throws {
        let bytes = redaction.redact(part)
        var members = JSONMembers()
        members.add("connection", .integer(part.connection))
        members.add("exchange", .optional(part.exchange))
        members.add("number", .integer(part.number))
        members.add("part", part.part == 0 ? .null : .integer(Int64(part.part)))
        members.add("us", .integer(part.at.microseconds))
        members.add("type", part.direction == .request ? "send" : "receive")
        members.add("kind", .string(part.kind.rawValue))
        members.add("size", .integer(part.size))
        members.add("offset", .optional(part.offset))
        members.add("continues", part.isLast ? .null : true)
        members.add("truncated", part.isTruncated ? true : .null)
        members.add("detail", part.detail.isEmpty ? .null : .string(part.detail))
        members.add("data", bytes.isEmpty ? .null : .string(Base64.encode(bytes)))
        json.breakLine()
        try json.value(members.json)
    }

    mutating func note(_ redaction: HARMessageRedaction, _ example: String) {
        if redaction.hasMasked { losses.note(.secretsMasked, example) }
    }
}
