/// The digests of recently stored content, so that what repeats is stored once without an index
/// over millions of small bodies.
///
/// Of two digests that share a slot, the later one stays.
struct RecentChunks {
    private var digests: [[UInt8]]
    private var identifiers: [Int64]

    /// - Parameter capacity: how many digests are remembered; a power of two.
    init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "a power of two")
        digests = Array(repeating: [], count: capacity)
        identifiers = Array(repeating: 0, count: capacity)
    }

    /// The chunk whose content has this digest, `nil` if none is remembered.
    func chunk(for digest: [UInt8]) -> Int64? {
        let slot = slot(of: digest)
        return digests[slot] == digest && !digest.isEmpty ? identifiers[slot] : nil
    }

    mutating func remember(_ digest: [UInt8], chunk: Int64) {
        let slot = slot(of: digest)
        digests[slot] = digest
        identifiers[slot] = chunk
    }

    private func slot(of digest: [UInt8]) -> Int {
        var number = 0
        for byte in digest.prefix(4) { number = number << 8 | Int(byte) }
        return number & (digests.count - 1)
    }
}

/// The certificates that were recently seen, so that a chain costs a connection a few comparisons.
struct RecentCertificates {
    private var slots: [(certificate: [UInt8], id: Int64)]

    /// - Parameter capacity: how many certificates are remembered; a power of two.
    init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "a power of two")
        slots = Array(repeating: ([], 0), count: capacity)
    }

    func id(of certificate: [UInt8]) -> Int64? {
        let slot = slots[slot(of: certificate)]
        return slot.id > 0 && slot.certificate == certificate ? slot.id : nil
    }

    mutating func remember(_ certificate: [UInt8], id: Int64) {
        slots[slot(of: certificate)] = (certificate, id)
    }

    /// A certificate ends in its signature, which is as good as random.
    private func slot(of certificate: [UInt8]) -> Int {
        var number = 0
        for byte in certificate.suffix(4) { number = number << 8 | Int(byte) }
        return number & (slots.count - 1)
    }
}
