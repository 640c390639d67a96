internal import Base
internal import Contents
internal import HTTPModel
internal import Redaction
internal import Traffic

/// One exchange as a flow.
extension MitmproxyWriter {
    mutating func flow(
        _ exchange: ExchangeRecord, _ connection: ConnectionRecord?
    ) throws -> TnetstringText {
        let shown = options.withSecrets ? exchange : exchange.withoutSecretsInHeads
        if shown.isMasked(of: exchange) { losses.note(.secretsMasked, "exchange \(exchange.id)") }
        let text =
            connection.map { MitmproxyConnectionText($0, withSecrets: options.withSecrets) }
            ?? MitmproxyConnectionText(of: exchange)
        let request = try request(shown, recorded: exchange)
        let response = try response(shown, recorded: exchange)
        let webSocket = exchange.isWebSocket ? try webSocket(exchange, connection) : .null
        let members = common(
            "http", id: MitmproxyIdentifier.text(.exchange, exchange.id, exchange.startedAt),
            connection: text, createdAt: exchange.startedAt, error: Self.failure(exchange),
            extras: [("exchange", .string(MitmproxyExtras.json(shown).line.text))])
        return .dictionary(
            members + [("request", request), ("response", response), ("websocket", webSocket)])
    }

    private static func failure(_ exchange: ExchangeRecord) -> TnetstringText {
        guard let error = exchange.error else { return .null }
        let time = exchange.startedAt.microseconds &+ (exchange.durationMicroseconds ?? 0)
        return .dictionary([
            ("msg", .string(exchange.errorDetail ?? error)), ("timestamp", .seconds(time)),
        ])
    }

    private mutating func request(
        _ exchange: ExchangeRecord, recorded: ExchangeRecord
    ) throws -> TnetstringText {
        let head = RecordedHead(exchange.requestHead)
        let target = MitmproxyTarget(exchange, head)
        let (content, isDecoded) = try content(recorded, .request)
        let (host, port) = HARConnectionText.split(exchange.authority)
        let start = exchange.startedAt.microseconds
        // When the request ended is not recorded.
        let hasEnded = exchange.durationMicroseconds != nil || exchange.status != 0
        return .dictionary([
            ("http_version", .bytes(Array(exchange.requestVersion(head).utf8))),
            ("headers", Self.fields(target.fields, isDecoded: isDecoded)),
            ("content", content),
            ("trailers", Self.trailers(exchange.requestBody)),
            ("timestamp_start", .seconds(start)),
            ("timestamp_end", hasEnded ? .seconds(start) : .null),
            ("host", .string(host)),
            ("port", .integer(Int64(port ?? (exchange.scheme == .https ? 443 : 80)))),
            ("method", .bytes(target.method)),
            ("scheme", .bytes(target.scheme)),
            ("authority", .bytes(target.authority)),
            ("path", .bytes(target.path)),
        ])
    }

    private mutating func response(
        _ exchange: ExchangeRecord, recorded: ExchangeRecord
    ) throws -> TnetstringText {
        guard !exchange.responseHead.isEmpty else { return .null }
        let head = RecordedHead(exchange.responseHead)
        let (word, reason) = head.statusLine
        let (content, isDecoded) = try content(recorded, .response)
        let start = exchange.startedAt.microseconds
        let first = exchange.firstByteMicroseconds ?? exchange.durationMicroseconds ?? 0
        return .dictionary([
            ("http_version", .bytes(Array((word.hasPrefix("HTTP/") ? word : "HTTP/1.1").utf8))),
            ("headers", Self.fields(head.fields, isDecoded: isDecoded)),
            ("content", content),
            ("trailers", Self.trailers(exchange.responseBody)),
            ("timestamp_start", .seconds(start &+ first)),
            (
                "timestamp_end",
                exchange.durationMicroseconds.map { .seconds(start &+ $0) } ?? .null
            ),
            ("status_code", .integer(Int64(exchange.status))),
            ("reason", .bytes(Array(reason.utf8))),
        ])
    }

    // MARK: Contents

    /// A content as it was on the wire; without its coding if secrets had to be masked in it.
    private mutating func content(
        _ exchange: ExchangeRecord, _ direction: Direction
    ) throws -> (text: TnetstringText, isDecoded: Bool) {
        let body = direction == .request ? exchange.requestBody : exchange.responseBody
        guard body.size > 0 else { return (.bytes([]), false) }
        let example =
            "the \(direction == .request ? "request" : "response") of exchange \(exchange.id)"
        if !options.withSecrets {
            let head = RecordedHead(
                direction == .request ? exchange.requestHead : exchange.responseHead)
            let plan = try HARContentPlan(
                exchange, direction, head: head, withSecrets: false, in: source,
                checkpoint: options.checkpoint)
            if plan.claimed != nil {
                losses.note(.contentWithheld, example)
                return (.null, false)
            }
            if plan.isMasked, let held = plan.held {
                losses.note(.secretsMasked, example)
                if !plan.codings.isEmpty { losses.note(.codingLeftOut, example) }
                return (.bytes(held), !plan.codings.isEmpty)
            }
        }
        let stream = try stream(exchange.id, direction)
        if body.isTruncated { losses.note(.contentCut, example) }
        if case .stream(let content) = stream, content.size == 0 { return (.null, false) }
        return (stream, false)
    }

    private func stream(_ exchange: Int64, _ direction: Direction) throws -> TnetstringText {
        let source = source
        let total = Int(try source.recordedSize(ofExchange: exchange, direction))
        return .stream(
            TnetstringText.Stream(type: ",", size: total) { take in
                var left = total
                try source.body(ofExchange: exchange, direction) { bytes in
                    // A capture that still grows has no more than it had.
                    try take(Array(bytes.prefix(left)))
                    left -= min(left, bytes.count)
                    return left > 0
                }
            })
    }

    private static func fields(_ fields: [RecordedHead.Field], isDecoded: Bool) -> TnetstringText {
        .list(
            fields.filter { !isDecoded || !$0.name.equalsIgnoringCase("content-encoding") }
                .map { .list([.bytes($0.name), .bytes($0.value)]) })
    }

    private static func trailers(_ body: BodyRecord) -> TnetstringText {
        guard !body.trailers.isEmpty else { return .null }
        return fields(RecordedHead(trailers: body.trailers).fields, isDecoded: false)
    }

    // MARK: WebSockets

    private mutating func webSocket(
        _ exchange: ExchangeRecord, _ connection: ConnectionRecord?
    ) throws -> TnetstringText {
        let messages = MitmproxyMessages(
            source: source, connection: exchange.connection, exchange: exchange.id,
            withSecrets: options.withSecrets)
        let list = try messages.list { losses.note($0, $1) }
        var close: MessageRecord?
        try source.messages(ofConnection: exchange.connection, exchange: exchange.id) { part in
            guard part.kind == .close else { return true }
            if close != nil, part.part == 0 {
                losses.note(.closeAnswerLeftOut, "exchange \(exchange.id)")
            }
            close = close ?? part
            return true
        }
        let (code, reason) = close.map(MitmproxyClose.parse) ?? (nil, "")
        let end = exchange.durationMicroseconds.map { exchange.startedAt.microseconds &+ $0 }
        return .dictionary([
            ("messages", list),
            ("closed_by_client", close.map { .boolean($0.direction == .request) } ?? .null),
            ("close_code", code.map { .integer($0) } ?? .null),
            ("close_reason", close == nil ? .null : .string(reason)),
            ("timestamp_end", end.map { .seconds($0) } ?? .null),
        ])
    }
}

/// The close of a WebSocket.
enum MitmproxyClose {
    /// - Parameter part: a close frame; its detail is a code and a reason.
    static func parse(_ part: MessageRecord) -> (code: Int64?, reason: String) {
        let code = part.detail.prefix { $0.isASCII && $0.isNumber }
        let reason = part.detail[code.endIndex...].drop { $0 == ":" || $0 == " " }
        return (Int64(code), code.isEmpty ? "" : String(reason))
    }
}

/// What a flow tells of an exchange, and our records tell more exactly.
enum MitmproxyExtras {
    static func json(_ exchange: ExchangeRecord) -> JSONText {
        let extras = Extras(of: exchange)
        var members = extras.members(of: exchange)
        let request = Extras.text(exchange.requestHead)
        members.append(JSONText.Member("requestHead", request))
        if !exchange.responseHead.isEmpty {
            members.append(JSONText.Member("responseHead", Extras.text(exchange.responseHead)))
        }
        if !exchange.interimHeads.isEmpty {
            members.append(
                JSONText.Member("interimHeads", .array(exchange.interimHeads.map(Extras.text))))
        }
        for direction in [Direction.request, .response] {
            let body = direction == .request ? exchange.requestBody : exchange.responseBody
            var side = JSONMembers()
            side.add("size", body.size == 0 ? .null : .integer(body.size))
            side.add("truncated", body.isTruncated ? true : .null)
            side.add("trailers", body.trailers.isEmpty ? .null : Extras.text(body.trailers))
            guard !side.isEmpty else { continue }
            members.append(
                JSONText.Member(direction == .request ? "request" : "response", side.json))
        }
        return .object(members)
    }
}
