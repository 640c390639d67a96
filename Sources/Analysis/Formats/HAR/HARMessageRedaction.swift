internal import Redaction
internal import Traffic

/// Takes the secrets out of the messages of a connection, unless they are wanted.
struct HARMessageRedaction {
    private(set) var hasMasked = false
    private var redaction: MessageRedaction?

    /// Errors: those of the source.
    init(
        of connection: ConnectionRecord?, exchange: Int64? = nil, in source: any TrafficSource,
        isOn: Bool
    ) throws {
        redaction =
            isOn ? try MessageRedaction(of: connection, exchange: exchange, in: source) : nil
    }

    /// What may be shown of a part by its place in the dialogue.
    mutating func redact(_ part: MessageRecord) -> [UInt8] {
        guard redaction != nil else { return part.bytes }
        let bytes = redaction?.redact(part.bytes, of: part) ?? []
        // A segment is a piece of text at best; whole messages are looked into as such.
        if part.kind == .segment {
            hasMasked = hasMasked || bytes != part.bytes
            return bytes
        }
        let shown = MessageRedaction.redact(
            content: bytes, isWhole: part.part == 0 && part.isLast && !part.isTruncated)
        hasMasked = hasMasked || shown != part.bytes
        return shown
    }

    /// What may be shown of a part, before its message is looked into as a whole.
    mutating func redact(dialogueOf part: MessageRecord) -> [UInt8] {
        guard redaction != nil else { return part.bytes }
        let bytes = redaction?.redact(part.bytes, of: part) ?? []
        hasMasked = hasMasked || bytes != part.bytes
        return bytes
    }

    mutating func redact(whole bytes: [UInt8], isWhole: Bool) -> [UInt8] {
        guard redaction != nil else { return bytes }
        let shown = MessageRedaction.redact(content: bytes, isWhole: isWhole)
        hasMasked = hasMasked || shown != bytes
        return shown
    }
}

extension MessageRecord {
    /// Whether an entry's `_webSocketMessages` hold it.
    var isInEntry: Bool { exchange != nil && (kind == .text || kind == .binary) }
}
