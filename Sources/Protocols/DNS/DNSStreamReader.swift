/// Messages in a stream, each behind its length (RFC 1035 §4.2.2, RFC 7766 §8).
package enum DNSStreamReader {
    /// Where the first message lies.
    ///
    /// A message has at most 65,535 bytes, so a caller that holds 65,537 never gets `nil`. Its end
    /// is how many bytes to consume.
    ///
    /// - Returns: `nil` if more bytes are needed.
    package static func message(in bytes: Span<UInt8>) -> Range<Int>? {
        guard bytes.count >= lengthOfLength else { return nil }
        let length = Int(bytes[0]) << 8 | Int(bytes[1])
        guard bytes.count - lengthOfLength >= length else { return nil }
        return lengthOfLength..<lengthOfLength + length
    }

    /// A message with its length in front.
    ///
    /// - Parameter message: of at most 65,535 bytes, as `DNSMessageWriter` makes them.
    package static func framed(_ message: [UInt8]) -> [UInt8] {
        let length = UInt16(clamping: message.count)
        return [UInt8(length >> 8), UInt8(length & 0xFF)] + message.prefix(Int(length))
    }

    private static let lengthOfLength = 2
}
