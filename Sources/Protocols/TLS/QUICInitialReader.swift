/// Reads the ClientHello out of the datagrams with which a QUIC client opens a connection
/// (RFC 9000 §17.2.2, RFC 9001 §5; version 2 by RFC 9369).
///
/// It answers nothing and judges no offer: it says what a client wanted before QUIC is refused to
/// it. So datagrams of less than 1,200 bytes, which a server discards (RFC 9000 §14.1), and short
/// destination ids are read too.
///
/// One reader is for one connection. What a violation leaves out is only its datagram, from the
/// place of the violation on; the frames before it count, and further datagrams may be read.
package struct QUICInitialReader: Sendable {
    /// Clients with post-quantum key shares send two; the rest is for those sent again.
    package static let datagramLimit = 4

    /// The version and ids of the first packet that was authentic.
    package private(set) var header: QUICLongHeader?
    /// The hello once it is whole.
    package private(set) var hello: ClientHello?
    /// How many datagrams came, with those that were refused.
    package private(set) var datagramCount = 0

    private var keys: QUICInitialKeys?
    private var stream = QUICCryptoStream()

    package init() {}

    /// Reads a datagram.
    ///
    /// - Returns: the hello as soon as it is whole, and for every datagram after that; `nil` if
    ///   more datagrams are needed.
    package mutating func read(_ datagram: Span<UInt8>) throws(QUICViolation) -> ClientHello? {
        if let hello { return hello }
        guard datagramCount < Self.datagramLimit else {
            throw .tooManyDatagrams(limit: Self.datagramLimit)
        }
        datagramCount += 1
        guard QUICLongHeader.read(datagram) != nil else { throw .notQUIC }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(datagram.count)
        for index in datagram.indices { bytes.append(datagram[index]) }
        hello = try readPackets(bytes)
        return hello
    }

    /// Reads the packets that share a datagram (RFC 9000 §12.2).
    private mutating func readPackets(_ bytes: [UInt8]) throws(QUICViolation) -> ClientHello? {
        var start = 0
        // Padding may follow the packets, or one with a short header.
        while let next = QUICLongHeader.read(bytes, at: start) {
            let isFirst = start == 0
            let expected = header ?? next
            let isOurs =
                next.version == expected.version && next.destinationID == expected.destinationID
            // Packets of another connection behind the first are to be ignored.
            guard isFirst || (isOurs && header != nil) else { return nil }
            guard let secrets = next.version.initialSecrets else { throw .version(next.version) }
            guard isOurs else { throw .anotherConnection }
            guard !isFirst || next.type == secrets.type else {
                throw .notInitial(type: next.type)
            }
            guard next.type != secrets.retryType else { return nil }
            let isInitial = next.type == secrets.type
            let packet = try locate(next, isInitial: isInitial, in: bytes)
            if isInitial {
                let keys =
                    keys ?? QUICInitialKeys(secrets, destinationID: next.destinationID)
                let content = try keys.open(
                    bytes[start..<packet.upperBound], numberStart: packet.lowerBound)
                self.keys = keys
                header = expected
                if let hello = try readFrames(content) { return hello }
            }
            start = packet.upperBound
        }
        return nil
    }

    /// Where a packet's number begins and its tag ends.
    private func locate(
        _ header: QUICLongHeader, isInitial: Bool, in bytes: [UInt8]
    ) throws(QUICViolation) -> Range<Int> {
        for id in [header.destinationID, header.sourceID] where id.count > Self.idLimit {
            throw .connectionIDTooLong(id.count)
        }
        var cursor = QUICCursor(bytes, header.end..<bytes.count, onEnd: .truncatedPacket)
        if isInitial { _ = try cursor.skip(cursor.variable()) }
        return try cursor.skip(cursor.variable())
    }

    /// Reads the frames of RFC 9000 §17.2.2; there are no others in a client's Initial packets.
    package mutating func readFrames(_ content: [UInt8]) throws(QUICViolation) -> ClientHello? {
        guard !content.isEmpty else { throw .noFrames }
        var cursor = QUICCursor(content, 0..<content.count, onEnd: .truncatedFrame)
        while cursor.count > 0 {
            let start = cursor.position
            let type = try cursor.variable()
            // RFC 9000 §12.4: a type is written as short as can be.
            guard cursor.position == start + 1 else { throw .frame(type) }
            switch FrameType(rawValue: type) {
            case .padding, .ping: continue
            case .acknowledgement, .acknowledgementWithCounts:
                try skipAcknowledgement(&cursor, hasCounts: type == 3)
            case .crypto:
                let offset = try cursor.variable()
                let place = try cursor.skip(cursor.variable())
                try stream.insert(content[place], at: offset)
                if let hello = try stream.hello() { return hello }
            case .close:
                for _ in 0..<2 { _ = try cursor.variable() }
                _ = try cursor.skip(cursor.variable())
            case nil: throw .frame(type)
            }
        }
        return nil
    }

    /// RFC 9000 §19.3.
    private func skipAcknowledgement(
        _ cursor: inout QUICCursor, hasCounts: Bool
    ) throws(QUICViolation) {
        for _ in 0..<2 { _ = try cursor.variable() }
        var ranges = try cursor.variable()
        _ = try cursor.variable()
        // Each takes two bytes at least, so the content bounds them.
        while ranges > 0 {
            for _ in 0..<2 { _ = try cursor.variable() }
            ranges -= 1
        }
        if hasCounts { for _ in 0..<3 { _ = try cursor.variable() } }
    }

    private enum FrameType: UInt64 {
        case padding = 0
        case ping = 1
        case acknowledgement = 2
        case acknowledgementWithCounts = 3
        case crypto = 6
        case close = 0x1C
    }

    /// Of an id, in bytes (RFC 9000 §17.2).
    private static let idLimit = 20
}
