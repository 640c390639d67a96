internal import Base
package import Redaction
package import Traffic

/// Puts the messages of a connection together, in their order, without their secrets.
package struct MessageAssembly {
    private let contents: MessageContents
    private let byteLimit: Int
    private let recordedLimit: Int
    /// `nil` where nothing is masked.
    private var redaction: MessageRedaction?
    private var held: WholeMessage?

    /// - Parameters:
    ///   - byteLimit: how much of a content is held.
    ///   - recordedLimit: how much of it is held as it was recorded, too.
    package init(
        contents: MessageContents, byteLimit: Int, redaction: MessageRedaction?,
        recordedLimit: Int = 0
    ) {
        self.recordedLimit = recordedLimit
        self.contents = contents
        self.byteLimit = byteLimit
        self.redaction = redaction
    }

    /// Takes the next part; returns the message before it, if this one begins another.
    package mutating func push(_ part: MessageRecord) throws -> WholeMessage? {
        var finished: WholeMessage?
        if held?.first.number != part.number { finished = finish() }
        var message = held ?? WholeMessage(part)
        var content = try contents.content(of: part, byteLimit: max(byteLimit, recordedLimit))
        message.recorded += content.bytes.prefix(recordedLimit - message.recorded.count)
        if let shown = redaction?.redact(content.bytes, of: part), shown != content.bytes {
            content.bytes = shown
            message.isMasked = true
        }
        message.size = message.size.addingSaturated(part.size)
        // What follows a gap is no part of the start.
        let added = message.isWhole ? content.bytes.prefix(byteLimit - message.content.count) : []
        message.content += added
        if added.count < content.bytes.count || part.isTruncated || !content.isWhole {
            message.isWhole = false
        }
        if part.isTruncated { message.isTruncated = true }
        message.detail += [part.detail, content.remark].filter { !$0.isEmpty }
            .map { (message.detail.isEmpty ? "" : "; ") + $0 }.joined(separator: "; ")
        held = message
        return finished
    }

    /// Returns the last message, if there is one.
    package mutating func finish() -> WholeMessage? {
        guard var message = held else { return nil }
        held = nil
        // A piece of a stream goes on in the next one.
        let isWhole = message.isWhole && message.first.kind != .segment
        if redaction != nil {
            let shown = MessageRedaction.redact(content: message.content, isWhole: isWhole)
            if shown != message.content { message.isMasked = true }
            message.content = shown
        }
        return message
    }
}
