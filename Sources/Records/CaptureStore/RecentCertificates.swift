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
        let isSame = unsafe slot.certificate.withUnsafeBytes { known in
            unsafe certificate.withUnsafeBytes { unsafe known.isSame(as: $0) }
        }
        return slot.id > 0 && isSame ? slot.id : nil
    }

    mutating func remember(_ certificate: [UInt8], id: Int64) {
        guard certificate.count <= sizeLimit else { return }
        slots[slot(of: certificate)] = (certificate, id)
    }

    /// A certificate ends in its signature, which is as good as random.
    private func slot(of certificate: [UInt8]) -> Int {
        var number = 0
        for byte in certificate.suffix(4) { number = number << 8 | Int(byte) }
        return number & (slots.count - 1)
    }
}

/// In bytes: a peer that sends huge certificates must not fill the memory.
private let sizeLimit = 8192
