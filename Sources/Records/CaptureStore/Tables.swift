internal import Base
internal import Traffic

/// A row of `connection`; what takes more than one value to read is held as the file has it.
struct ConnectionRow {
    var record: ConnectionRecord
    var processID: Int64?
    var executable = ""
    /// A JSON array of strings.
    var arguments: String?
    /// A JSON array of objects.
    var notes: String?
}

/// A row of `client_tls` or `origin_tls`.
struct TLSRow {
    var connection: Int64
    var record: TLSRecord
    /// A JSON array of numbers of certificates.
    var chain: String?
    var clientChain: String?
    /// A JSON array of objects.
    var alerts: String?
    var keyLog: String?
}

/// What a row of `exchange` is written from.
struct ExchangeRowInput {
    let snapshot: ExchangeSnapshot
    let head: HeadSummary
    let requestBody: Int64?
    let responseBody: Int64?

    var scheme: ExchangeRecord.Scheme? { snapshot.record.scheme }
    var interimCount: Int64 { Int64(snapshot.record.interimHeads.count) }
}

/// A row of `exchange`, as it is read.
struct ExchangeRow {
    /// Its record has heads and trailers, and no contents.
    var summary: ExchangeSummary
    /// `nil` while there are contents only, or where the writer ended before there was more.
    var scheme: ExchangeRecord.Scheme?
    var interimCount: Int64 = 0
    /// Whether a version wrote it that did not cut the heads.
    var isUncut = false
}

/// What a row of `message` is written from.
struct MessageRowInput {
    let snapshot: MessageSnapshot
    /// What holds the content, if that is long.
    let chunk: Int64?
}

/// A row of `message`, as it is read.
struct MessageRow {
    var record: MessageRecord
    /// What holds the content, if that is long.
    var chunk: Int64?
}

extension Schema {
    static let connections = Table<ConnectionRow, ConnectionRow>(
        name: "connection",
        columns: [
            .integer("id", { $0.record.id }, { $0.record.id = $1 }),
            .integer(
                "opened_us", { $0.record.openedAt.microseconds },
                { $0.record.openedAt = Timestamp(recorded: $1) }),
            .optionalInteger(
                "closed_us", { $0.record.closedAt?.microseconds },
                { $0.record.closedAt = $1.map { Timestamp(recorded: $0) } }),
            .text("client", { $0.record.client }, { $0.record.client = $1 }),
            .text("listener", { $0.record.listener }, { $0.record.listener = $1 }),
            .word("mode", { $0.record.mode }, { $0.record.mode = $1 }),
            .text("origin_host", { $0.record.originHost }, { $0.record.originHost = $1 }),
            .integer(
                "origin_port", { Int64($0.record.originPort) },
                { $0.record.originPort = UInt16(clamping: $1) }),
            .optionalText(
                "origin_address", { $0.record.originAddress }, { $0.record.originAddress = $1 }),
            .boolean(
                "origin_reused", { $0.record.originReused }, { $0.record.originReused = $1 }),
            .count(
                "client_received", { $0.record.clientBytes.received },
                { $0.record.clientBytes.received = $1 }),
            .count(
                "client_sent", { $0.record.clientBytes.sent }, { $0.record.clientBytes.sent = $1 }),
            .count(
                "origin_received", { $0.record.originBytes.received },
                { $0.record.originBytes.received = $1 }),
            .count(
                "origin_sent", { $0.record.originBytes.sent }, { $0.record.originBytes.sent = $1 }),
            .text("protocol", { $0.record.protocolName }, { $0.record.protocolName = $1 }),
            .count("exchanges", { $0.record.exchangeCount }, { $0.record.exchangeCount = $1 }),
            .word("outcome", { $0.record.outcome }, { $0.record.outcome = $1 }),
            .text("cause", { $0.record.cause }, { $0.record.cause = $1 }),
            .optionalWord("closed_by", { $0.record.closedBy }, { $0.record.closedBy = $1 }),
            .count("messages", { $0.record.messageCount }, { $0.record.messageCount = $1 })
                .since(2, standard: "0"),
            .optionalText("upgrade", { $0.record.upgrade }, { $0.record.upgrade = $1 }).since(2),
            .optionalInteger("process_id", { $0.processID }, { $0.processID = $1 }).since(2),
            .optionalText(
                "process_executable", { $0.processID == nil ? nil : $0.executable },
                { $0.executable = $1 ?? "" }
            ).since(2),
            .optionalText("process_arguments", { $0.arguments }, { $0.arguments = $1 }).since(2),
            .optionalText("notes", { $0.notes }, { $0.notes = $1 }).since(2),
            .count("policy_version", { $0.record.policyVersion }, { $0.record.policyVersion = $1 })
                .since(3, standard: "0"),
        ])

    static let clientTLS = tls("client_tls")
    static let originTLS = tls("origin_tls")

    /// What is told once of a leg: a later event of the same connection may leave it empty.
    static let tlsColumnsToldOnce: Set = ["chain", "client_chain", "key_log", "client_hello"]

    private static func tls(_ name: String) -> Table<TLSRow, TLSRow> {
        Table(
            name: name,
            columns: [
                .integer("connection", { $0.connection }, { $0.connection = $1 }),
                .optionalText("version", { $0.record.version }, { $0.record.version = $1 }),
                .optionalText("cipher", { $0.record.cipher }, { $0.record.cipher = $1 }),
                .optionalText("alpn", { $0.record.alpn }, { $0.record.alpn = $1 }),
                .optionalText("sni", { $0.record.sni }, { $0.record.sni = $1 }),
                .optionalText("ja3", { $0.record.ja3 }, { $0.record.ja3 = $1 }),
                .optionalText("ja4", { $0.record.ja4 }, { $0.record.ja4 = $1 }),
                .boolean("resumed", { $0.record.resumed }, { $0.record.resumed = $1 }),
                .boolean(
                    "completed", { $0.record.handshakeCompleted },
                    { $0.record.handshakeCompleted = $1 }),
                .optionalText(
                    "verify_error", { $0.record.verifyError }, { $0.record.verifyError = $1 }),
                .optionalText("chain", { $0.chain }, { $0.chain = $1 }),
                .optionalText("alerts", { $0.alerts }, { $0.alerts = $1 }),
                .optionalText("key_log", { $0.keyLog }, { $0.keyLog = $1 }),
                .bytes("client_hello", { $0.record.clientHello }, { $0.record.clientHello = $1 }),
                .optionalText("client_chain", { $0.clientChain }, { $0.clientChain = $1 }).since(4),
            ])
    }

    static let messages = Table<MessageRowInput, MessageRow>(
        name: "message",
        columns: [
            .integer("connection", { $0.record.connection }, { $0.record.connection = $1 }),
            .count("number", { $0.record.number }, { $0.record.number = $1 }),
            .count("part", { Int64($0.record.part) }, { $0.record.part = Int($1) }),
            .optionalInteger("exchange", { $0.record.exchange }, { $0.record.exchange = $1 }),
            .integer(
                "at_us", { $0.record.at.microseconds },
                { $0.record.at = Timestamp(recorded: $1) }),
            .word("direction", { $0.record.direction.stored }, { $0.record.direction = $1.value }),
            .word("kind", { $0.record.kind }, { $0.record.kind = $1 }),
            .count("size", { $0.record.size }, { $0.record.size = $1 }),
            .bytes("bytes", { $0.chunk == nil ? $0.record.bytes : [] }, { $0.record.bytes = $1 }),
            .optionalInteger("chunk", { $0.chunk }, { $0.chunk = $1 }),
            .optionalInteger(
                "offset", { $0.record.offset },
                { $0.record.offset = $1.map(RecordedNumber.bounded) }),
            .boolean("is_last", { $0.record.isLast }, { $0.record.isLast = $1 }),
            .boolean("truncated", { $0.record.isTruncated }, { $0.record.isTruncated = $1 }),
            .optionalText(
                "detail", { $0.record.detail.isEmpty ? nil : $0.record.detail },
                { $0.record.detail = $1 ?? "" }),
        ])
}

extension MessageRowInput {
    fileprivate var record: MessageRecord {
        _read { yield snapshot.record }
    }
}
