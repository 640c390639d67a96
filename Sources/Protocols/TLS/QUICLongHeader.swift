/// The part of a long header that all versions of QUIC have in common (RFC 8999 §5.1).
package struct QUICLongHeader: Sendable, Equatable {
    /// The header's form, its type and what the version makes of the rest; partly protected.
    package let firstByte: UInt8
    package let version: QUICVersion
    /// The receiver's id, which the first packets' keys come from; at most 255 bytes.
    package let destinationID: [UInt8]
    /// The sender's id; at most 255 bytes.
    package let sourceID: [UInt8]
    /// Where in the datagram the version's own part begins.
    let end: Int

    /// Reads the start of a datagram that has not been told apart yet.
    ///
    /// Short headers are not recognised: nothing tells them from other bytes to whoever does not
    /// know the connection. The second bit, which versions 1 and 2 fix, must be set, so that only a
    /// quarter of what is not QUIC gets as far as the version.
    ///
    /// - Returns: `nil` if it does not look like QUIC; any version does.
    package static func read(_ datagram: Span<UInt8>) -> QUICLongHeader? {
        guard datagram.count >= shortest, datagram[0] & 0xC0 == 0xC0 else { return nil }
        var bytes: [UInt8] = []
        let longest = min(datagram.count, Self.longest)
        bytes.reserveCapacity(longest)
        for index in 0..<longest { bytes.append(datagram[index]) }
        return read(bytes, at: 0)
    }

    /// Reads the header that begins at `start`; `nil` if none does.
    static func read(_ datagram: [UInt8], at start: Int) -> QUICLongHeader? {
        var cursor = QUICCursor(datagram, start..<datagram.count, onEnd: .notQUIC)
        do throws(QUICViolation) {
            let firstByte = try cursor.number8()
            guard firstByte & 0xC0 == 0xC0 else { return nil }
            let version = QUICVersion(rawValue: try cursor.number32())
            let destinationID = try cursor.bytes(UInt64(cursor.number8()))
            let sourceID = try cursor.bytes(UInt64(cursor.number8()))
            return QUICLongHeader(
                firstByte: firstByte, version: version, destinationID: destinationID,
                sourceID: sourceID, end: cursor.position)
        } catch {
            // It ends within the header, so it is none.
            return nil
        }
    }

    /// The type's two bits, which are not protected.
    var type: UInt8 { firstByte >> 4 & 3 }

    /// In bytes: two ids of no length.
    private static let shortest = 7
    /// In bytes: two ids of 255.
    private static let longest = 7 + 2 * 255
}
