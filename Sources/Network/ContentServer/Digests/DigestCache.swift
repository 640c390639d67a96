internal import Base
internal import Synchronization

/// Digests that are known, within a bound.
///
/// When it is full all are forgotten: what is asked for again is digested again.
final class DigestCache<Key: Hashable & Sendable>: Sendable {
    private let digests = Mutex<[Key: [UInt8]]>([:])

    subscript(key: Key) -> [UInt8]? {
        digests.withLock { $0[key] }
    }

    func keep(_ digest: [UInt8], of key: Key) {
        digests.withLock { digests in
            if digests.count >= Self.limit { digests.removeAll(keepingCapacity: true) }
            digests[key] = digest
        }
    }

    /// How many are kept; each takes some 150 bytes.
    private static var limit: Int { 4096 }
}
