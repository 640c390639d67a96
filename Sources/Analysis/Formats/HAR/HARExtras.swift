internal import Base
internal import Contents
internal import HTTPCodecs
internal import HTTPModel
internal import Traffic

/// What an import needs, besides the members that HAR has, to make the same exchange again.
struct Extras {
    /// Of each direction.
    private var sides = [JSONMembers(), JSONMembers()]
    private var interimHeads: [JSONText]?
    private(set) var needsContent = [false, false]

    init(of exchange: ExchangeRecord) {
        for (index, body) in [exchange.requestBody, exchange.responseBody].enumerated() {
            sides[index].add("size", .integer(body.size))
            sides[index].add("truncated", body.isTruncated ? true : .null)
        }
    }

    /// Keeps a head as it came, unless the members of HAR tell it to the byte.
    mutating func keep(_ head: [UInt8], ifNot spelled: [UInt8], _ direction: Direction) {
        if head != spelled { sides[direction.rawValue].add("head", Self.text(head)) }
    }

    mutating func keep(trailers: [UInt8], ifNot spelled: [UInt8], _ direction: Direction) {
        if trailers != spelled { sides[direction.rawValue].add("trailers", Self.text(trailers)) }
    }

    mutating func keepContent(of plan: HARContentPlan, _ direction: Direction) {
        needsContent[direction.rawValue] = plan.needsWireContent
        sides[direction.rawValue].add(
            "withheld", plan.claimed == nil ? .null : true)
    }

    /// The interim responses as `_interim`; kept as they came if that is not enough.
    mutating func interim(_ exchange: ExchangeRecord) -> JSONText {
        var isExact = true
        let texts = exchange.interimHeads.map { bytes -> JSONText in
            let head = RecordedHead(bytes)
            let (version, reason) = head.statusLine
            let words = head.startLine.split(separator: 0x20)
            let status = words.count > 1 ? Int(words[1].text) ?? 0 : 0
            let line = RecordedHead.statusLine(version: version, status: status, reason: reason)
            isExact = isExact && RecordedHead.spell(startLine: line, head.fields) == bytes
            return [
                "status": .integer(Int64(status)), "statusText": .string(reason),
                "httpVersion": .string(version), "headers": HARWriter.headers(head.fields),
            ]
        }
        if !isExact { interimHeads = exchange.interimHeads.map(Self.text) }
        return .array(texts)
    }

    func side(_ direction: Direction) -> JSONText { sides[direction.rawValue].json }

    func members(of exchange: ExchangeRecord) -> [JSONText.Member] {
        var members = JSONMembers()
        members.add("id", .integer(exchange.id))
        members.add("startedUs", .integer(exchange.startedAt.microseconds))
        members.add("durationUs", .optional(exchange.durationMicroseconds))
        members.add("firstByteUs", .optional(exchange.firstByteMicroseconds))
        members.add("scheme", .string(exchange.scheme.rawValue))
        members.add("authority", .string(exchange.authority))
        members.add("protocol", .string(exchange.protocolName))
        members.add("originProtocol", .optional(exchange.originProtocolName))
        members.add("stream", exchange.stream == 0 ? .null : .integer(Int64(exchange.stream)))
        members.add("error", .optional(exchange.error))
        members.add("errorDetail", .optional(exchange.errorDetail))
        members.add("answeredByTool", exchange.answeredByTool ? true : .null)
        for (name, head) in [
            ("sentRequestHead", exchange.sentRequestHead),
            ("sentResponseHead", exchange.sentResponseHead),
        ] { members.add(name, head.isEmpty ? .null : Self.text(head)) }
        members.add("interimHeads", interimHeads.map { .array($0) } ?? .null)
        guard case .object(let list) = members.json else { return [] }
        return list
    }

    /// Text, or an object with base64 for bytes that no text can hold.
    static func text(_ bytes: [UInt8]) -> JSONText {
        if String(validating: bytes, as: UTF8.self) != nil { return .bytes(bytes) }
        return ["base64": .string(Base64.encode(bytes))]
    }
}

extension HARWriter {
    mutating func writeExtras(_ extras: Extras, _ exchange: ExchangeRecord) throws {
        try json.beginObject()
        for member in extras.members(of: exchange) { try json.member(member.name, member.value) }
        for direction in [Direction.request, .response] {
            try json.name(direction == .request ? "request" : "response")
            try json.beginObject()
            if case .object(let members) = extras.side(direction) {
                for member in members { try json.member(member.name, member.value) }
            }
            if extras.needsContent[direction.rawValue] {
                try json.name("content")
                let source = source
                var base64 = Base64Pieces()
                json.beginString()
                try source.body(ofExchange: exchange.id, direction) { bytes in
                    try json.string(base64.encode(bytes))
                    return true
                }
                try json.string(base64.finish())
                json.endString()
            }
            try json.endObject()
        }
        try json.endObject()
    }
}

/// Encodes base64 in pieces.
struct Base64Pieces {
    private var held: [UInt8] = []

    mutating func encode(_ bytes: [UInt8]) -> [UInt8] {
        held += bytes
        let whole = held.count / 3 * 3
        defer { held.removeFirst(whole) }
        return text(of: held.span.extracting(first: whole))
    }

    mutating func finish() -> [UInt8] {
        defer { held = [] }
        return text(of: held.span)
    }

    private func text(of bytes: Span<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        Base64.append(bytes, to: &text)
        return text
    }
}
