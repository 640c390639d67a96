/// Reads the ClientHello at the start of a connection, before any TLS library sees a byte.
///
/// It looks at the records and the message only; it judges no offer. What follows the hello in the
/// same record is left to whoever runs the handshake.
package struct ClientHelloReader {
    /// In bytes of the message; a hello with post-quantum key shares has about 2 KiB.
    package static let messageLimit = 32 * 1024
    /// Clients cut a hello into two or three records to slip past middleboxes, not into more.
    package static let recordLimit = 64
    /// A caller that holds this many bytes from the start of a connection never gets `nil`.
    package static let byteLimit = 64 * 1024

    private static let recordHeaderLength = 5
    private static let recordLengthLimit = 1 << 14
    private static let handshakeRecord: UInt8 = 22
    private static let clientHelloMessage: UInt8 = 1

    /// Reads the hello from the first bytes of a connection.
    ///
    /// A call costs a look at each record's header until the hello is whole, so a client that sends
    /// single bytes costs no more than its bytes.
    ///
    /// - Returns: `nil` if more bytes are needed.
    package static func read(_ bytes: Span<UInt8>) throws(ClientHelloViolation) -> ClientHello? {
        guard bytes.count > 0 else { return nil }
        if bytes[0] & 0x80 != 0 { return try readSSL2(bytes) }
        guard let records = try findMessage(in: bytes) else { return nil }
        var message: [UInt8] = []
        message.reserveCapacity(records.messageLength)
        for payload in records.payloads {
            for index in payload where message.count < records.messageLength {
                message.append(bytes[index])
            }
        }
        var parser = ClientHelloParser(message: message)
        return try parser.parse()
    }

    /// Where the message lies.
    private struct Records {
        var payloads: [Range<Int>] = []
        /// With its header of four bytes.
        var messageLength = 0
    }

    private static func findMessage(
        in bytes: Span<UInt8>
    ) throws(ClientHelloViolation) -> Records? {
        var records = Records()
        var header: [UInt8] = []
        var found = 0
        var offset = 0
        while true {
            guard let payload = try payloadOfRecord(at: offset, in: bytes) else { return nil }
            guard records.payloads.count < recordLimit else {
                throw .tooManyRecords(limit: recordLimit)
            }
            let present = payload.clamped(to: 0..<bytes.count)
            for index in present.prefix(4 - header.count) { header.append(bytes[index]) }
            if let type = header.first, type != clientHelloMessage {
                throw .notAClientHello(messageType: type)
            }
            if header.count == 4 {
                let length = Int(header[1]) << 16 | Int(header[2]) << 8 | Int(header[3])
                guard length <= messageLimit else { throw .helloTooLong(length) }
                records.messageLength = length + 4
            }
            records.payloads.append(present)
            found += present.count
            if header.count == 4, found >= records.messageLength { return records }
            guard payload.upperBound < bytes.count else { return nil }
            offset = payload.upperBound
        }
    }

    /// The place of a handshake record's content, which may reach beyond what has come.
    private static func payloadOfRecord(
        at start: Int, in bytes: Span<UInt8>
    ) throws(ClientHelloViolation) -> Range<Int>? {
        guard start < bytes.count else { return nil }
        let type = bytes[start]
        let isFirst = start == 0
        guard (20...24).contains(type) else {
            throw isFirst ? .notTLS(firstByte: type) : .recordType(type)
        }
        guard start + 1 < bytes.count else { return nil }
        guard bytes[start + 1] == 3 else {
            throw isFirst ? .notTLS(firstByte: type) : .recordType(type)
        }
        guard type == handshakeRecord else { throw .recordType(type) }
        guard start + recordHeaderLength <= bytes.count else { return nil }
        let length = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
        guard length > 0 else { throw .emptyRecord }
        guard length <= recordLengthLimit else { throw .recordTooLong(length) }
        let first = start + recordHeaderLength
        return first..<first + length
    }

    /// Reads a hello in the format of SSL 2.0 (RFC 5246 §E.2).
    private static func readSSL2(_ bytes: Span<UInt8>) throws(ClientHelloViolation) -> ClientHello?
    {
        guard bytes.count > 2 else { return nil }
        guard bytes[2] == clientHelloMessage else { throw .notTLS(firstByte: bytes[0]) }
        guard bytes.count > 4 else { return nil }
        guard bytes[3] == 3 || (bytes[3] == 0 && bytes[4] == 2) else {
            throw .notTLS(firstByte: bytes[0])
        }
        let length = Int(bytes[0] & 0x7F) << 8 | Int(bytes[1])
        guard bytes.count >= 2 + length else { return nil }
        var message: [UInt8] = []
        message.reserveCapacity(length)
        for index in 2..<2 + length { message.append(bytes[index]) }
        var parser = ClientHelloParser(message: message)
        return try parser.parseSSL2()
    }
}
