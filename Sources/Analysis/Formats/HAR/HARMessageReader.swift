internal import Base
internal import Traffic

/// Makes messages out of what a HAR tells of them.
struct HARMessageReader {
    private let exchange: ExchangeRecord

    init(_ exchange: ExchangeRecord) {
        self.exchange = exchange
    }

    /// One of `_webSocketMessages`; `nil` if it is of no known kind, as errors that Chrome lists.
    ///
    /// - Parameter number: for one that brings none of its own.
    func message(_ node: JSONNode, number: Int64) -> MessageRecord? {
        let extras = node["_sallyport"]
        guard let kind = Self.kind(node["opcode"]?.integer), let direction = Self.direction(node),
            let data = node["data"]
        else { return nil }
        let seconds = node["time"]?.double
        let told = Int64(clamping: seconds, thousandths: 1_000_000)
        let at = extras?["us"]?.moment ?? (told == 0 ? nil : Timestamp(recorded: told))
        var record = MessageRecord(
            connection: exchange.connection, exchange: exchange.id,
            number: extras?["number"]?.count ?? number,
            at: at ?? exchange.startedAt, direction: direction, kind: kind)
        let text = data.bytes ?? []
        record.bytes =
            extras?["data"]?.base64 ?? (kind == .text ? text : Base64.decode(text) ?? text)
        record.size = extras?["size"]?.count ?? Int64(record.bytes.count)
        record.isTruncated = extras?["truncated"]?.isTrue ?? (data == .excess)
        record.detail = extras?["detail"]?.text ?? ""
        // What is masked may be longer or shorter than it was.
        if !record.isTruncated { record.size = Int64(record.bytes.count) }
        return record
    }

    /// HTTP Toolkit's `_webSocketClose`; `nil` for a connection that just broke.
    func close(_ node: JSONNode, number: Int64) -> MessageRecord? {
        guard let code = node["code"]?.integer, 0...65535 ~= code else { return nil }
        let reason = node["reason"]?.text ?? ""
        let microseconds = Int64(clamping: node["timestamp"]?.double, thousandths: 1_000_000)
        var record = MessageRecord(
            connection: exchange.connection, exchange: exchange.id, number: number,
            at: microseconds == 0 ? exchange.startedAt : Timestamp(recorded: microseconds),
            direction: .response, kind: .close)
        record.detail = reason.isEmpty ? String(code) : "\(code) \(reason)"
        record.bytes = Array(reason.utf8)
        record.size = Int64(record.bytes.count)
        return record
    }

    /// A part of a message as our own export keeps it.
    static func kept(
        _ node: JSONNode, _ connection: Int64, _ exchange: (Int64) -> Int64?
    ) -> MessageRecord? {
        guard let number = node["number"]?.count, let at = node["us"]?.moment,
            let direction = direction(node),
            let kind = node["kind"]?.text.flatMap(MessageRecord.Kind.init(rawValue:))
        else { return nil }
        var owner: Int64?
        if let old = node["exchange"]?.integer {
            guard let id = exchange(old) else { return nil }
            owner = id
        }
        var record = MessageRecord(
            connection: connection, exchange: owner, number: number,
            at: at, direction: direction, kind: kind)
        record.part = Int(node["part"]?.count ?? 0)
        record.bytes = node["data"]?.base64 ?? []
        record.size = node["size"]?.count ?? Int64(record.bytes.count)
        record.offset = node["offset"]?.count
        record.isLast = !(node["continues"]?.isTrue ?? false)
        record.isTruncated = node["truncated"]?.isTrue ?? false
        record.detail = node["detail"]?.text ?? ""
        return record
    }

    private static func direction(_ node: JSONNode) -> Direction? {
        switch node["type"]?.text {
        case "send", "request": .request
        case "receive", "response": .response
        default: nil
        }
    }

    /// By the opcode of its frames (RFC 6455 §11.8).
    private static func kind(_ opcode: Int64?) -> MessageRecord.Kind? {
        switch opcode {
        case 1: .text
        case 2: .binary
        case 8: .close
        case 9: .ping
        case 10: .pong
        default: nil
        }
    }
}
