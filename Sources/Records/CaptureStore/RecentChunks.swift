/// The digests of recently stored content, so that what repeats is stored once without an index
/// over millions of small bodies.
///
/// Of two digests that share a slot, the later one stays.
struct RecentChunks {
    /// A digest of up to 32 bytes, in words: side by side in memory, unlike arrays.
    private struct Key: Equatable {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

        init(_ digest: [UInt8]) {
            let bytes = digest.span
            words.0 = Self.word(bytes, 0)
            words.1 = Self.word(bytes, 8)
            words.2 = Self.word(bytes, 16)
            words.3 = Self.word(bytes, 24)
        }

        private static func word(_ bytes: Span<UInt8>, _ offset: Int) -> UInt64 {
            var word: UInt64 = 0
            for index in offset..<offset + 8 where index < bytes.count {
                word = word << 8 | UInt64(bytes[index])
            }
            return word
        }

        static func == (left: Key, right: Key) -> Bool { left.words == right.words }
    }

    /// The chunk is 0 where nothing is remembered.
    private var slots: [(key: Key, chunk: Int64)]

    /// - Parameter capacity: how many digests are remembered; a power of two.
    init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "a power of two")
        slots = Array(repeating: (Key([]), 0), count: capacity)
    }

    /// The chunk whose content has this digest, `nil` if none is remembered.
    func chunk(for digest: [UInt8]) -> Int64? {
        let key = Key(digest)
        let slot = slots[slot(of: key)]
        return slot.chunk > 0 && slot.key == key ? slot.chunk : nil
    }

    mutating func remember(_ digest: [UInt8], chunk: Int64) {
        let key = Key(digest)
        slots[slot(of: key)] = (key, chunk)
    }

    private func slot(of key: Key) -> Int {
        Int(truncatingIfNeeded: key.words.0) & (slots.count - 1)
    }
}
