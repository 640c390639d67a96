internal import Base
internal import Contents
internal import HTTPModel
internal import Redaction
internal import Traffic

/// One exchange as an entry.
extension HARWriter {
    mutating func writeEntry(_ exchange: ExchangeRecord, _ connection: ConnectionRecord?) throws {
        let shown = options.withSecrets ? exchange : exchange.withoutSecretsInHeads
        if shown.isMasked(of: exchange) { losses.note(.secretsMasked, "exchange \(exchange.id)") }
        let timings = Timings(of: exchange)
        try json.beginObject()
        try json.member("startedDateTime", .string(exchange.startedAt.iso8601))
        try json.member("time", .thousandths(timings.total))
        if let address = connection?.originAddress {
            try json.member("serverIPAddress", .string(HARConnectionText.split(address).address))
        }
        try json.member("connection", .string(String(exchange.connection)))
        try json.member("cache", [:])
        try json.member("timings", timings.json)
        let isWebSocket = exchange.isWebSocket
        if isWebSocket { try json.member("_resourceType", "websocket") }
        var extras = Extras(of: shown)
        try json.name("request")
        try writeRequest(shown, recorded: exchange, &extras)
        try json.name("response")
        try writeResponse(shown, recorded: exchange, &extras)
        if !shown.interimHeads.isEmpty { try json.member("_interim", extras.interim(shown)) }
        if isWebSocket || (connection?.messageCount ?? 0) > 0 {
            try writeWebSocket(exchange, connection, isWebSocket: isWebSocket)
        }
        try json.name("_sallyport")
        try writeExtras(extras, shown)
        try json.endObject()
    }

    private mutating func writeRequest(
        _ exchange: ExchangeRecord, recorded: ExchangeRecord, _ extras: inout Extras
    ) throws {
        let head = RecordedHead(exchange.requestHead)
        let fields = head.fields
        let recordedURL = exchange.url(head)
        let isAbsolute = recordedURL.contains(UInt8(ascii: "/"))
        let url = URLText.escaped(
            isAbsolute ? recordedURL : Array("\(exchange.scheme)://".utf8) + recordedURL)
        let version = exchange.requestVersion(head)
        try json.beginObject()
        try json.member("method", .bytes(Array(head.method)))
        try json.member("url", .bytes(url))
        try json.member("httpVersion", .string(version))
        try json.member("cookies", HARCookies.sent(head.values(named: "cookie")))
        try json.member("headers", Self.headers(fields))
        let query = url.firstIndex(of: UInt8(ascii: "?")).map { url[($0 + 1)...] } ?? []
        try json.member("queryString", Self.pairs(URLText.parameters(query)))
        // What is masked must not tell its length.
        let isUnknown = exchange.stream != 0 || exchange.requestHead != recorded.requestHead
        try json.member(
            "headersSize", isUnknown ? -1 : .integer(Int64(exchange.requestHead.count)))
        try json.member("bodySize", .integer(exchange.requestBody.size))
        try writePostData(recorded, head, &extras)
        try writeTrailers(exchange.requestBody, .request, &extras)
        try json.endObject()
        let target = URLText(url)?.target ?? []
        let startLine = Array(head.method) + [0x20] + target + Array(" \(version)".utf8)
        extras.keep(
            exchange.requestHead, ifNot: RecordedHead.spell(startLine: startLine, fields), .request
        )
    }

    private mutating func writeResponse(
        _ exchange: ExchangeRecord, recorded: ExchangeRecord, _ extras: inout Extras
    ) throws {
        let head = RecordedHead(exchange.responseHead)
        let fields = head.fields
        let (word, reason) = head.statusLine
        let version =
            word.hasPrefix("HTTP/") ? word : exchange.responseHead.isEmpty ? "" : "HTTP/1.1"
        try json.beginObject()
        try json.member("status", .integer(Int64(exchange.status)))
        try json.member("statusText", .string(reason))
        try json.member("httpVersion", .string(version))
        try json.member(
            "cookies", HARCookies.set(head.values(named: "set-cookie"), at: exchange.startedAt))
        try json.member("headers", Self.headers(fields))
        try json.member("redirectURL", .bytes(Array(head.first(named: "location") ?? [])))
        let isUnknown =
            exchange.responseHead.isEmpty || version.hasPrefix("HTTP/2")
            || exchange.responseHead != recorded.responseHead
        try json.member(
            "headersSize", isUnknown ? -1 : .integer(Int64(exchange.responseHead.count)))
        try json.member(
            "bodySize", exchange.responseHead.isEmpty ? -1 : .integer(exchange.responseBody.size))
        try writeContent(recorded, head, &extras)
        try writeTrailers(exchange.responseBody, .response, &extras)
        if let error = exchange.error {
            try json.member("_error", .string(exchange.errorDetail ?? error))
        }
        try json.endObject()
        guard !exchange.responseHead.isEmpty else { return }
        let line = RecordedHead.statusLine(
            version: version, status: exchange.status, reason: reason)
        extras.keep(
            exchange.responseHead, ifNot: RecordedHead.spell(startLine: line, fields), .response)
    }

    private mutating func writeTrailers(
        _ body: BodyRecord, _ direction: Direction, _ extras: inout Extras
    ) throws {
        guard !body.trailers.isEmpty else { return }
        let fields = RecordedHead(trailers: body.trailers).fields
        try json.member("_trailers", Self.headers(fields))
        extras.keep(
            trailers: body.trailers, ifNot: RecordedHead.spell(startLine: nil, fields), direction)
    }

    static func headers(_ fields: [RecordedHead.Field]) -> JSONText {
        pairs(fields.map { ($0.name, $0.value) })
    }

    static func pairs(_ pairs: [(name: [UInt8], value: [UInt8])]) -> JSONText {
        .array(pairs.map { ["name": .bytes($0.name), "value": .bytes($0.value)] })
    }

    /// In microseconds. Of the way to the origin nothing is known by exchange, so its parts are -1.
    private struct Timings {
        let wait: Int64
        let receive: Int64
        var total: Int64 { wait + receive }

        init(of exchange: ExchangeRecord) {
            let end = max(0, exchange.durationMicroseconds ?? 0)
            wait =
                exchange.durationMicroseconds == nil
                ? max(0, exchange.firstByteMicroseconds ?? 0)
                : min(end, max(0, exchange.firstByteMicroseconds ?? end))
            receive = max(0, end - wait)
        }

        var json: JSONText {
            [
                "blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0,
                "wait": .thousandths(wait), "receive": .thousandths(receive),
            ]
        }
    }
}

extension ExchangeRecord {
    var isWebSocket: Bool {
        if status == 101 {
            return RecordedHead(responseHead).values(named: "upgrade").contains {
                $0.equalsIgnoringCase("websocket")
            }
        }
        // RFC 8441 §4.
        return RecordedHead(requestHead).values(named: ":protocol").contains {
            $0.equalsIgnoringCase("websocket")
        }
    }

    /// As its start line has it.
    func requestVersion(_ head: RecordedHead) -> String {
        let word = head.startLine.split(separator: 0x20).last?.text ?? ""
        return word.hasPrefix("HTTP/") ? word : stream != 0 ? "HTTP/2.0" : "HTTP/1.1"
    }

    var withoutSecretsInHeads: ExchangeRecord {
        var shown = self
        shown.requestHead = HeadRedaction.redact(head: requestHead)
        shown.responseHead = HeadRedaction.redact(head: responseHead)
        shown.sentRequestHead = HeadRedaction.redact(head: sentRequestHead)
        shown.sentResponseHead = HeadRedaction.redact(head: sentResponseHead)
        shown.interimHeads = interimHeads.map { HeadRedaction.redact(head: $0) }
        shown.requestBody.trailers = HeadRedaction.redact(trailers: requestBody.trailers)
        shown.responseBody.trailers = HeadRedaction.redact(trailers: responseBody.trailers)
        return shown
    }

    func isMasked(of recorded: ExchangeRecord) -> Bool {
        requestHead != recorded.requestHead || responseHead != recorded.responseHead
            || sentRequestHead != recorded.sentRequestHead
            || sentResponseHead != recorded.sentResponseHead
            || interimHeads != recorded.interimHeads
            || requestBody.trailers != recorded.requestBody.trailers
            || responseBody.trailers != recorded.responseBody.trailers
    }
}
