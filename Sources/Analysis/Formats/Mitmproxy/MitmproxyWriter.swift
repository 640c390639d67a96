internal import Base
internal import Traffic

/// Writes one dump.
struct MitmproxyWriter {
    let source: any TrafficSource
    let options: ExportOptions
    var losses = LossReport()
    private var output: TnetstringWriter
    /// Connections that a flow tells of.
    private var told: Set<Int64> = []
    private var wantedConnections: Set<Int64> = []
    private var wantedExchanges: Set<Int64> = []

    init(
        _ source: any TrafficSource, _ options: ExportOptions,
        to output: @escaping ([UInt8]) throws -> Void
    ) {
        self.source = source
        self.options = options
        self.output = TnetstringWriter(output)
    }

    mutating func write() throws {
        try writeExchanges()
        try writeStreams()
        try output.flush()
    }

    private mutating func writeExchanges() throws {
        let source = source
        var passed: Int64 = 0
        var connection: ConnectionRecord?
        try source.exchanges { exchange in
            passed += 1
            try options.progress(passed)
            if let includes = options.includes {
                guard try includes(exchange) else { return true }
                wantedExchanges.insert(exchange.id)
                wantedConnections.insert(exchange.connection)
            }
            if connection?.id != exchange.connection {
                connection = try source.connection(exchange.connection)
            }
            try output.write(flow(exchange, connection))
            return true
        }
    }

    /// Writes a flow for each connection with a dialogue that is no HTTP, and counts those that no
    /// flow tells of.
    private mutating func writeStreams() throws {
        let source = source
        try source.connections { record in
            guard options.includes == nil || wantedConnections.contains(record.id) else {
                return true
            }
            var hasSegments = false
            if record.messageCount > 0 {
                try source.messages(ofConnection: record.id, exchange: nil) { part in
                    try note(part, of: record, &hasSegments)
                    return true
                }
            }
            if hasSegments { try output.write(flow(streamOf: record)) }
            if !told.contains(record.id) {
                losses.note(.connectionLeftOut, "connection \(record.id)")
            }
            return true
        }
    }

    /// Counts a part that has no place in a flow.
    private mutating func note(
        _ part: MessageRecord, of record: ConnectionRecord, _ hasSegments: inout Bool
    ) throws {
        if let exchange = part.exchange {
            guard options.includes == nil || wantedExchanges.contains(exchange) else { return }
        }
        if part.kind == .segment {
            hasSegments = true
            if part.exchange != nil {
                losses.note(.segmentParted, "message \(part.number) of connection \(record.id)")
            }
        } else if part.isLast, part.exchange == nil || !part.isInDump {
            losses.note(.messageLeftOut, "message \(part.number) of connection \(record.id)")
        }
    }

    // MARK: Flows

    /// The members that every flow has.
    mutating func common(
        _ type: String, id: String, connection: MitmproxyConnectionText, createdAt: Timestamp,
        error: TnetstringText, extras: [(name: String, value: TnetstringText)]
    ) -> [(name: String, value: TnetstringText)] {
        var extras = extras
        if told.insert(connection.number).inserted, let text = connection.extras {
            extras.append(("connection", text))
        }
        noteLosses(of: connection)
        return [
            ("version", .integer(21)),
            ("type", .string(type)),
            ("id", .string(id)),
            ("error", error),
            ("client_conn", connection.client),
            ("server_conn", connection.server),
            ("intercepted", .boolean(false)),
            ("is_replay", .null),
            ("marked", .string("")),
            ("metadata", .dictionary([("sallyport", .dictionary(extras))])),
            ("comment", .string("")),
            ("timestamp_created", .seconds(createdAt.microseconds)),
            ("backup", .null),
        ]
    }

    private mutating func noteLosses(of connection: MitmproxyConnectionText) {
        let example = "connection \(connection.number)"
        if connection.hasBrokenCertificate { losses.note(.certificateLeftOut, example) }
        if connection.hasKeys, !options.withSecrets { losses.note(.keysLeftOut, example) }
    }

    private mutating func flow(streamOf record: ConnectionRecord) throws -> TnetstringText {
        let connection = MitmproxyConnectionText(record, withSecrets: options.withSecrets)
        let messages = MitmproxyMessages(
            source: source, connection: record.id, exchange: nil,
            withSecrets: options.withSecrets)
        let list = try messages.list { losses.note($0, $1) }
        let members = common(
            "tcp", id: MitmproxyIdentifier.text(.stream, record.id, record.openedAt),
            connection: connection, createdAt: record.openedAt,
            error: connection.failure, extras: [])
        return .dictionary(members + [("messages", list)])
    }
}

/// Made-up identifiers, the same in each export.
enum MitmproxyIdentifier {
    enum Kind: UInt64 {
        case client = 1
        case origin
        case exchange
        case stream
    }

    /// In the shape of a UUID (RFC 9562 §5.4).
    static func text(_ kind: Kind, _ number: Int64, _ time: Timestamp) -> String {
        var state = UInt64(bitPattern: time.microseconds) &* 4 &+ kind.rawValue
        let words = [mix(&state, UInt64(bitPattern: number)), mix(&state, kind.rawValue)]
        return UUIDText.text(
            words.flatMap { word in
                stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
            }, version: 4)
    }

    /// A step of SplitMix64, salted.
    private static func mix(_ state: inout UInt64, _ salt: UInt64) -> UInt64 {
        state = state &+ SplitMix.step &+ salt &* 0xD129_0B2E_7F4A_7C15
        return SplitMix.mix(state)
    }
}
