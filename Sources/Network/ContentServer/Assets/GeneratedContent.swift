package import Base
package import HTTPServer

/// Endless bytes made from a seed, any of which can be computed without those before it.
///
/// Byte `i` is byte `i % 8`, lowest first, of output `i / 8` of the generator SplitMix64 seeded
/// with `seed`: output `n` (from 0) is `mix(seed + (n + 1) * 0x9E3779B97F4A7C15)`, all modulo 2^64.
/// `Documentation/content-server.md` spells it out for whoever checks a download. This is version 1
/// of the algorithm; the entity tags of assets name it.
package struct GeneratedContent: Sendable, Equatable {
    package let seed: UInt64

    package init(seed: UInt64) {
        self.seed = seed
    }

    /// Output `index` of the generator.
    package func word(_ index: UInt64) -> UInt64 {
        SplitMix.word(seed: seed, index)
    }

    /// Appends `count` bytes from `offset` on; there must be room.
    package func append(to buffer: ByteBuffer, offset: UInt64, count: Int) {
        precondition(count >= 0 && count <= buffer.room, "no room")
        _ = unsafe buffer.fill { space in
            let ahead = min(count, Int((8 - offset % 8) % 8))
            for index in 0..<ahead {
                unsafe space[index] = byte(offset &+ UInt64(index))
            }
            let words = (count - ahead) / 8
            unsafe SplitMix.fill(
                UnsafeMutableRawBufferPointer(rebasing: space[ahead..<ahead + words * 8]),
                seed: seed, from: (offset &+ UInt64(ahead)) / 8)
            for index in ahead + words * 8..<count {
                unsafe space[index] = byte(offset &+ UInt64(index))
            }
            return count
        }
    }

    private func byte(_ offset: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: word(offset / 8) >> (offset % 8 * 8))
    }
}

/// Streams a range of generated content in constant memory.
package final class GeneratedSource: ResponseBodySource {
    private let content: GeneratedContent
    private var offset: UInt64
    private let end: UInt64

    package init(_ content: GeneratedContent, range: Range<UInt64>) {
        self.content = content
        offset = range.lowerBound
        end = range.upperBound
    }

    package func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        let count = Int(min(UInt64(buffer.room), end - offset))
        content.append(to: buffer, offset: offset, count: count)
        offset += UInt64(count)
        return count
    }
}
