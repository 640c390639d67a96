internal import Base

/// Stands for a value within one run: equal values have equal tags, and none can be turned back.
package struct Tag: Sendable, Hashable, CustomStringConvertible {
    /// 20 hexadecimal digits.
    package let text: String

    init(_ value: [UInt8], kind: ValueKind, redaction: EvidenceRedaction) {
        let input = Array(kind.rawValue.utf8) + [0] + value
        text = redaction.digests.hmacSHA256(redaction.runKey, input).prefix(10).hex
    }

    package var description: String { text }
}
