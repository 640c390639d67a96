package import Base
package import Traffic

/// A message put together from its parts, as far as it is held.
package struct WholeMessage {
    /// Its first part.
    package let first: MessageRecord
    /// Of all parts, in bytes.
    package var size: Int64
    /// The start of the content.
    package var content: [UInt8] = []
    /// The same as it was recorded, as far as it is asked for.
    package var recorded: [UInt8] = []
    /// Whether nothing is missing at the end of the content.
    package var isWhole = true
    /// Whether more passed than was recorded.
    package var isTruncated = false
    /// Whether something in it was masked.
    package var isMasked = false
    /// What a person should know; empty if nothing.
    package var detail: String

    init(_ first: MessageRecord) {
        self.first = first
        size = 0
        detail = ""
    }

    /// A line of JSON Lines in the schema `sallyport.message/1`.
    package var json: JSONText {
        let text = PrintableText(content, isWhole: isWhole)?.text
        return [
            "schema": "sallyport.message/1",
            "connection": .integer(first.connection),
            "exchange": .optional(first.exchange),
            "number": .integer(first.number),
            "startedAt": .string(first.at.rfc3339),
            "direction": first.direction == .request ? "request" : "response",
            "kind": .string(first.kind.rawValue),
            "size": .integer(size),
            "text": .optional(text),
            "base64": text == nil ? .string(Base64.encode(content)) : .null,
            "whole": .boolean(isWhole),
            "masked": .boolean(isMasked),
            "detail": .optional(detail.isEmpty ? nil : detail),
        ]
    }
}
