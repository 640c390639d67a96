internal import Base
internal import Traffic

extension Schema {
    static let exchanges = Table<ExchangeRowInput, ExchangeRow>(
        name: "exchange", columns: placeColumns + statusColumns + endColumns)

    /// All that a record holds: what a list shows of its heads is in them, too.
    static let exchangeRecords = exchanges.only { !unreadColumns.contains($0) }

    /// What a list shows.
    static let exchangeSummaries = exchanges.only { !unlistedColumns.contains($0) }

    private static let unreadColumns: Set = [
        "method", "target", "content_type", "grpc_status", "request_body", "response_body",
    ]
    private static let unlistedColumns: Set = [
        "first_byte_us", "request_chunks", "response_chunks", "request_body", "response_body",
        "error_detail", "answered_by_tool", "interims", "request_trailers", "response_trailers",
        "request_head", "response_head", "request_sent", "response_sent",
    ]

    private static let placeColumns: [Column<ExchangeRowInput, ExchangeRow>] = [
        .integer("id", { $0.record.id }, { $0.record.id = $1 }),
        .integer("connection", { $0.record.connection }, { $0.record.connection = $1 }),
        .integer(
            "started_us", { $0.record.startedAt.microseconds },
            { $0.record.startedAt = Timestamp(recorded: $1) }),
        .optionalInteger(
            "duration_us", { $0.record.durationMicroseconds },
            { $0.record.durationMicroseconds = $1.map(RecordedNumber.bounded) }),
        .optionalInteger(
            "first_byte_us", { $0.record.firstByteMicroseconds },
            { $0.record.firstByteMicroseconds = $1.map(RecordedNumber.bounded) }),
        .optionalWord("scheme", { $0.scheme }, { $0.scheme = $1 }),
        .text("authority", { $0.record.authority }, { $0.record.authority = $1 }),
        .textBytes("method", { $0.head.method }, { $0.head.method = $1 }),
        .textBytes("target", { $0.head.target }, { $0.head.target = $1 }),
    ]

    private static let statusColumns: [Column<ExchangeRowInput, ExchangeRow>] = [
        .integer(
            "status", { Int64($0.record.status) },
            { $0.record.status = Int(max(0, min($1, 999))) }),
        .text("protocol", { $0.record.protocolName }, { $0.record.protocolName = $1 }),
        .count("request_size", { $0.record.requestBody.size }, { $0.record.requestBody.size = $1 }),
        .count(
            "response_size", { $0.record.responseBody.size }, { $0.record.responseBody.size = $1 }),
        .boolean(
            "request_truncated", { $0.record.requestBody.isTruncated },
            { $0.record.requestBody.isTruncated = $1 }),
        .boolean(
            "response_truncated", { $0.record.responseBody.isTruncated },
            { $0.record.responseBody.isTruncated = $1 }),
        .count(
            "request_chunks", { Int64($0.record.requestBody.chunkCount) },
            { $0.record.requestBody.chunkCount = Int($1) }),
        .count(
            "response_chunks", { Int64($0.record.responseBody.chunkCount) },
            { $0.record.responseBody.chunkCount = Int($1) }),
        .optionalInteger("request_body", { $0.requestBody }, { _, _ in }),
        .optionalInteger("response_body", { $0.responseBody }, { _, _ in }),
        .optionalText("error", { $0.record.error }, { $0.record.error = $1 }),
        .optionalText("error_detail", { $0.record.errorDetail }, { $0.record.errorDetail = $1 }),
        .boolean(
            "answered_by_tool", { $0.record.answeredByTool }, { $0.record.answeredByTool = $1 }),
        .integer("interims", { $0.interimCount }, { $0.interimCount = $1 }),
    ]

    private static let endColumns: [Column<ExchangeRowInput, ExchangeRow>] = [
        .bytes(
            "request_trailers", { $0.record.requestBody.trailers },
            { $0.record.requestBody.trailers = $1 }),
        .bytes(
            "response_trailers", { $0.record.responseBody.trailers },
            { $0.record.responseBody.trailers = $1 }),
        .bytes("request_head", { $0.record.requestHead }, { $0.record.requestHead = $1 }),
        .bytes("response_head", { $0.record.responseHead }, { $0.record.responseHead = $1 }),
        .integer(
            "stream", { Int64($0.record.stream) },
            { $0.record.stream = Int32(clamping: $1) }
        ).since(2, standard: "0"),
        .optionalText(
            "origin_protocol", { $0.record.originProtocolName },
            { $0.record.originProtocolName = $1 }
        ).since(2),
        .optionalTextBytes(
            "content_type", { $0.head.contentType },
            {
                $0.isUncut = $1 == nil
                $0.head.contentType = $1 ?? []
            }
        ).since(3),
        .optionalInteger(
            "grpc_status", { $0.head.grpcStatus.map { Int64($0) } },
            { $0.head.grpcStatus = $1.map { Int(clamping: $0) } }
        ).since(3),
        .bytes(
            "request_sent", { $0.record.sentRequestHead }, { $0.record.sentRequestHead = $1 }
        ).since(3),
        .bytes(
            "response_sent", { $0.record.sentResponseHead }, { $0.record.sentResponseHead = $1 }
        ).since(3),
    ]
}

extension ExchangeRow {
    fileprivate var record: ExchangeRecord {
        _read { yield summary.record }
        _modify { yield &summary.record }
    }
    fileprivate var head: HeadSummary {
        _read { yield summary.head }
        _modify { yield &summary.head }
    }
}

extension ExchangeRowInput {
    fileprivate var record: ExchangeRecord {
        _read { yield snapshot.record }
    }
}
