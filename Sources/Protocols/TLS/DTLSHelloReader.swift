/// Reads the ClientHello out of the datagrams with which a client of DTLS opens a connection (RFC 6347
/// §4.2.3, RFC 9147 §5.5): whole, or in fragments that come in their order.
///
/// One reader is for one connection. The first hello, which has no cookie yet, is enough.
package struct DTLSHelloReader: Sendable {
    /// What comes in later ones was sent again.
    package static let datagramLimit = 8

    package private(set) var datagramCount = 0
    /// As in TLS: the type, the length, and what there is of the message.
    private var message: [UInt8] = []

    package init() {}

    /// Reads a datagram.
    ///
    /// - Returns: the hello once it is whole, `nil` if more datagrams are needed.
    package mutating func read(_ datagram: [UInt8]) throws(ClientHelloViolation) -> ClientHello? {
        datagramCount += 1
        var records = ClientHelloCursor(datagram, onEnd: .truncatedHello)
        while records.count > 0 {
            let type = try records.number8()
            _ = try records.number16()
            let epoch = try records.number16()
            _ = try records.bytes(6)
            var fragments = try records.vector16()
            guard type == 22, epoch == 0 else { throw .recordType(type) }
            while fragments.count > 0 {
                if let hello = try readFragment(&fragments) { return hello }
            }
        }
        return nil
    }

    private mutating func readFragment(
        _ cursor: inout ClientHelloCursor
    ) throws(ClientHelloViolation) -> ClientHello? {
        let header = try cursor.bytes(12)
        guard header[0] == 1 else { throw .notAClientHello(messageType: header[0]) }
        func number(_ place: Int) -> Int {
            Int(header[place]) << 16 | Int(header[place + 1]) << 8 | Int(header[place + 2])
        }
        let length = number(1)
        guard length <= ClientHelloReader.messageLimit else { throw .helloTooLong(length) }
        let content = try cursor.bytes(number(9))
        if number(6) == 0 { message = Array(header.prefix(4)) }
        // What is missing between two fragments comes again.
        guard message.starts(with: header.prefix(4)), message.count == 4 + number(6) else {
            return nil
        }
        message += content
        guard message.count >= 4 + length else { return nil }
        var parser = ClientHelloParser(message: message)
        return try parser.parse(format: .dtls)
    }
}
