/// What tells a client of QUIC at once that it is not spoken: that none of its versions is known
/// (RFC 9000 §6, §17.2.1). Silence keeps a client waiting for its timers, some for ten seconds.
package enum QUICRefusal {
    /// Answers a client's first datagram; nothing is remembered for it.
    ///
    /// - Parameter random: of the bits that are nobody's.
    /// - Returns: `nil` where no answer is due: to what is no packet with a long header, to another
    ///   such answer, which would go round for ever, and to what is shorter than a first datagram
    ///   must be, so that the answer is always the smaller one (§14.1, RFC 8999 §6).
    package static func answer(to datagram: Span<UInt8>, random: UInt8 = 0) -> [UInt8]? {
        guard datagram.count >= leastInitial, let header = QUICLongHeader.read(datagram),
            header.version != .negotiation
        else { return nil }
        let offered = versions.filter { $0 != header.version.rawValue }.prefix(1)
        return [0xC0 | random & 0x3F, 0, 0, 0, 0]
            + [UInt8(header.sourceID.count)] + header.sourceID
            + [UInt8(header.destinationID.count)] + header.destinationID
            + offered.flatMap { version in
                stride(from: 24, through: 0, by: -8).map {
                    UInt8(truncatingIfNeeded: version >> UInt32($0))
                }
            }
    }

    /// Of those that no client takes (§15). One that asks for such a version gets the other: an
    /// answer with the version that was asked for is no answer.
    private static let versions: [UInt32] = [0x1A2A_3A4A, 0x5A6A_7A8A]
    /// In bytes (RFC 9000 §14.1).
    private static let leastInitial = 1200
}
