internal import Base
internal import Contents
internal import Traffic

/// Reads recorded contents in pieces: for digests, and to compare what came twice.
struct TransferContents {
    let source: any TrafficSource
    let makeHash: (DigestAlgorithm) -> any RunningDigest
    let limits: TransferLimits

    /// The digests of what ascending stretches put together; `nil` if not all of it was recorded.
    func digests(
        of stretches: [ByteMap.Stretch], _ direction: Direction,
        _ algorithms: Set<ClaimedAlgorithm>
    ) throws -> [ClaimedAlgorithm: [UInt8]]? {
        let running = algorithms.map { (algorithm: $0, digest: makeDigest($0)) }
        var bookmarks = FramedBookmarks()
        for stretch in stretches {
            var left = stretch.range.upperBound - stretch.range.lowerBound
            let place = stretch.source
            try read(
                place, from: stretch.range.lowerBound, direction, &bookmarks[place.exchange]
            ) { bytes in
                let piece = left < bytes.count ? Array(bytes.prefix(Int(left))) : bytes
                for (_, digest) in running { digest.update(piece) }
                left -= Int64(piece.count)
                return left > 0
            }
            guard left == 0 else { return nil }
        }
        return Dictionary(uniqueKeysWithValues: running.map { ($0.algorithm, $0.digest.finish()) })
    }

    private func makeDigest(_ algorithm: ClaimedAlgorithm) -> any RunningDigest {
        switch algorithm {
        case .hash(let hash): makeHash(hash)
        case .checksum(let checksum): RunningChecksum(checksum)
        }
    }

    struct Comparison {
        var conflicting: [Range<Int64>] = []
        /// Whether all of it was there to be compared, within the limits.
        var isWhole = true
    }

    /// Compares what came twice.
    func compare(_ overlaps: [ByteMap.Overlap], _ direction: Direction) throws -> Comparison {
        var result = Comparison()
        var left = limits.comparedBytes
        var bookmarks = FramedBookmarks()
        for overlap in overlaps.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            let count = overlap.range.upperBound - overlap.range.lowerBound
            guard count <= left else {
                result.isWhole = false
                continue
            }
            left -= count
            let compared = try compare(overlap, direction, &bookmarks) {
                result.conflicting.append($0)
            }
            if compared < count { result.isWhole = false }
        }
        result.conflicting.sort { $0.lowerBound < $1.lowerBound }
        result.conflicting = result.conflicting.joinedRanges
        return result
    }

    /// Calls `differ` with the places that differ, a few for each block; returns how many bytes
    /// both had.
    ///
    /// To find a place in a content takes as long as its parts are many, so the second is looked
    /// at block by block and not for each part of the first.
    private func compare(
        _ overlap: ByteMap.Overlap, _ direction: Direction, _ bookmarks: inout FramedBookmarks,
        differ: (Range<Int64>) -> Void
    ) throws -> Int64 {
        let start = overlap.range.lowerBound
        let end = overlap.range.upperBound
        var position = start
        var block: [UInt8] = []
        // False once one of the two has no more.
        var goesOn = true
        var second = bookmarks[overlap.second.exchange]
        func compareBlock() throws {
            let count = try compare(
                block, at: position, overlap.second, direction, &second, differ)
            // The next overlap begins no earlier than this one, but maybe within it.
            if position == start { bookmarks[overlap.second.exchange] = second }
            position += count
            goesOn = count == block.count
            block.removeAll(keepingCapacity: true)
        }
        var first = bookmarks[overlap.first.exchange]
        try read(overlap.first, from: start, direction, &first) { bytes in
            let left = end - position - Int64(block.count)
            block += left < bytes.count ? bytes.prefix(Int(left)) : bytes[...]
            if block.count >= limits.comparedBlock { try compareBlock() }
            return goesOn && left > bytes.count
        }
        if goesOn, !block.isEmpty { try compareBlock() }
        bookmarks[overlap.first.exchange] = first
        return position - start
    }

    /// Returns how many bytes of `block` were compared.
    private func compare(
        _ block: [UInt8], at position: Int64, _ place: ByteSource, _ direction: Direction,
        _ bookmark: inout FramedBookmark, _ differ: (Range<Int64>) -> Void
    ) throws -> Int64 {
        var rest = block[...]
        try read(place, from: position, direction, &bookmark) { theirs in
            let other = theirs.prefix(rest.count)
            let ours = rest.prefix(other.count)
            if ours != other, let range = Self.difference(ours, other) {
                let start = position + Int64(rest.startIndex)
                differ(start + Int64(range.lowerBound)..<start + Int64(range.upperBound))
            }
            rest = rest.dropFirst(other.count)
            return !rest.isEmpty
        }
        return Int64(block.count - rest.count)
    }

    /// From the first byte that differs to the last, from 0.
    private static func difference(
        _ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>
    ) -> Range<Int>? {
        var range: Range<Int>?
        for (index, pair) in zip(left, right).enumerated() where pair.0 != pair.1 {
            range = (range?.lowerBound ?? index)..<index + 1
        }
        return range
    }

    /// - Parameter bookmark: of an earlier read of the same content, so that this one need not begin
    ///   at its start; afterwards of what was asked for.
    private func read(
        _ place: ByteSource, from position: Int64, _ direction: Direction,
        _ bookmark: inout FramedBookmark, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        let start = position + place.shift
        guard place.form == .awsChunks else {
            return try source.body(ofExchange: place.exchange, direction, from: start, visit)
        }
        if bookmark.reader.count > start { bookmark = FramedBookmark() }
        var next = bookmark
        try source.body(ofExchange: place.exchange, direction, from: next.offset) { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                // Trailers are long, and there is nothing to be had behind them.
                if next.reader.count <= start, !next.reader.isWhole { bookmark = next }
                let skip = Int(clamping: max(0, start - next.reader.count))
                var stored: [UInt8] = []
                let goesOn = next.read(rest.prefix(FramedBookmark.step)) { stored += $0 }
                rest = rest.dropFirst(FramedBookmark.step)
                if skip < stored.count {
                    let wanted = skip == 0 ? stored : Array(stored[skip...])
                    guard try visit(wanted) else { return false }
                }
                guard goesOn else { return false }
            }
            return true
        }
    }

    /// Reads a framed content to its end, or as far as it can be read.
    func unframe(
        _ exchange: Int64, _ direction: Direction
    ) throws -> (reader: AWSChunksReader, violation: AWSChunksReader.Violation?) {
        var bookmark = FramedBookmark()
        try source.body(ofExchange: exchange, direction) { bookmark.read($0[...]) }
        return (bookmark.reader, bookmark.violation)
    }
}

/// How far framed contents were read, by their exchanges: what is asked for in ascending order is
/// read about once, however many pieces it is in.
private struct FramedBookmarks {
    private var bookmarks: [Int64: FramedBookmark] = [:]

    subscript(_ exchange: Int64) -> FramedBookmark {
        get { bookmarks[exchange] ?? FramedBookmark() }
        set { if newValue.offset > 0 { bookmarks[exchange] = newValue } }
    }
}

/// How far a framed content was read.
private struct FramedBookmark {
    private(set) var reader = AWSChunksReader()
    /// In the content with its framing.
    private(set) var offset: Int64 = 0
    private(set) var violation: AWSChunksReader.Violation?

    /// Returns whether there may be more.
    mutating func read(
        _ bytes: ArraySlice<UInt8>, _ take: (ArraySlice<UInt8>) -> Void = { _ in }
    ) -> Bool {
        offset += Int64(bytes.count)
        do throws(AWSChunksReader.Violation) {
            try reader.read(bytes, take)
        } catch {
            violation = error
        }
        return violation == nil && !reader.isAtEnd
    }

    /// In bytes: how much may be read again to find a place.
    static let step = 16 << 10
}
