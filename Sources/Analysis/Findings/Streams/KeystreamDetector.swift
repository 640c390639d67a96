internal import Base
internal import Logins
internal import Traffic

/// BIN-REUSE: sessions of one service that look random and repeat themselves, which a key that is
/// used once never does.
struct KeystreamDetector {
    private struct Session {
        /// Hashes of the blocks behind what heads and magics may be.
        let blocks: [UInt64]
        /// The bytes that two sessions are laid over each other by.
        let start: [UInt8]
    }

    private struct Place: Hashable {
        let host: HostName
        let port: UInt16
    }

    private var sessions: [Place: [Session]] = [:]

    mutating func examine(
        _ view: MessageView, on connection: ConnectionRecord, _ redaction: EvidenceRedaction
    ) -> [RuleMatch] {
        guard view.isClear, view.client.count >= Self.headLength + RandomTest.leastCount,
            RandomTest(view.client.prefix(PlaintextProof.lengthLimit)).looksRandom == true
        else { return [] }
        let place = Place(host: view.host, port: connection.originPort)
        let body = view.client.dropFirst(Self.headLength).prefix(Self.lengthLimit)
        let session = Session(
            blocks: Self.blocks(body, redaction), start: Array(body.prefix(Self.overlapLength)))
        let known = sessions[place] ?? []
        if known.count < Self.sessionLimit, known.count > 0 || sessions.count < Self.placeLimit {
            sessions[place] = known + [session]
        }
        guard let offset = Self.repeated(session, known) ?? Self.overlap(session, known) else {
            return []
        }
        var result = RuleMatch(.streamReuse, .high, .tentative)
        result.place = .service
        result.protocolName = .other
        result.notes = [.measured(.repeatsItself(offset: offset + Self.headLength))]
        return [result]
    }

    private static func blocks(
        _ body: ArraySlice<UInt8>, _ redaction: EvidenceRedaction
    ) -> [UInt64] {
        stride(from: body.startIndex, to: body.endIndex - blockLength + 1, by: blockLength).map {
            redaction.hash(of: Array(body[$0..<$0 + blockLength]))
        }
    }

    /// Where the same block stands in three sessions or more, in bytes.
    private static func repeated(_ session: Session, _ known: [Session]) -> Int? {
        session.blocks.indices.first { index in
            let same = known.count {
                $0.blocks.indices.contains(index) && $0.blocks[index] == session.blocks[index]
            }
            return same >= 2
        }.map { $0 * blockLength }
    }

    /// Where two sessions laid over each other are not random: both were made with one keystream.
    private static func overlap(_ session: Session, _ known: [Session]) -> Int? {
        for other in known {
            let both = zip(session.start, other.start).map { $0 ^ $1 }
            guard both.count >= RandomTest.leastCount else { continue }
            // Far out of the band, as text over text is: chance alone comes near its edges.
            if RandomTest(both[...]).chiSquare > farFromRandom { return 0 }
        }
        return nil
    }

    /// In bytes.
    private static let headLength = 64
    private static let blockLength = 16
    private static let lengthLimit = 4096
    private static let overlapLength = 1024
    private static let sessionLimit = 8
    private static let placeLimit = 64
    private static let farFromRandom = 600.0
}

extension RuleText {
    static let streamReuse = RuleText(
        title: "Sessions of a protocol of its own repeat their bytes",
        reason: "a keystream or a block that is used twice gives away what was said under it",
        advice: "use TLS; a key or a nonce of its own for each session is the least",
        decision:
            "Three sessions of one service that look random have the same 16 bytes at the same"
            + " place, or two laid over each other (XOR) are not random; the first 64 bytes are left"
            + " out.",
        exceptions: "Content that is compressed and the same each time looks like it too.",
        worst: .high,
        weaknesses: [323, 329])
}
