/// What stands in a recorded content.
enum ContentForm {
    /// The bytes that are told of.
    case plain
    /// They are framed (`AWSChunksReader`), and counted without that.
    case awsChunks
}

/// Where in the recorded contents bytes stand.
struct ByteSource: Equatable {
    let exchange: Int64
    let form: ContentForm
    /// What a position in the resource becomes in the content by adding it.
    let shift: Int64

    init(
        exchange: Int64, contentOffset: Int64, position: Int64, form: ContentForm = .plain
    ) {
        self.exchange = exchange
        self.form = form
        shift = contentOffset - position
    }
}

/// Which bytes of a resource came, from where, and which came again.
struct ByteMap {
    struct Stretch: Equatable {
        var range: Range<Int64>
        let source: ByteSource
    }

    /// What came a second time, to be compared.
    struct Overlap: Equatable {
        var range: Range<Int64>
        let first: ByteSource
        let second: ByteSource
    }

    /// Ascending, and none overlaps another.
    private(set) var stretches: [Stretch] = []
    private(set) var overlaps: [Overlap] = []
    /// Whether something was not taken because there was too much.
    private(set) var isFull = false
    private let limit: Int

    /// - Parameter limit: of stretches, and of overlaps.
    init(limit: Int) {
        self.limit = limit
    }

    /// Takes what is new of `range`, and notes what came before.
    mutating func add(_ range: Range<Int64>, from source: ByteSource) {
        guard !range.isEmpty else { return }
        let start = firstStretch(endingAfter: range.lowerBound)
        var end = start
        var added: [Stretch] = []
        var position = range.lowerBound
        while end < stretches.count, stretches[end].range.lowerBound < range.upperBound {
            let there = stretches[end]
            if position < there.range.lowerBound {
                added.append(Stretch(range: position..<there.range.lowerBound, source: source))
            }
            note(
                Overlap(
                    range: there.range.clamped(to: range), first: there.source, second: source))
            added.append(there)
            position = max(position, there.range.upperBound)
            end += 1
        }
        if position < range.upperBound {
            added.append(Stretch(range: position..<range.upperBound, source: source))
        }
        guard stretches.count - (end - start) + added.count <= limit else {
            isFull = true
            return
        }
        stretches.replaceSubrange(start..<end, with: added)
    }

    /// Forgets what is at `end` and behind: the other side did not keep it.
    mutating func cut(at end: Int64) {
        let first = firstStretch(endingAfter: end)
        if first < stretches.count, stretches[first].range.lowerBound < end {
            stretches[first].range = stretches[first].range.lowerBound..<end
            stretches.removeSubrange((first + 1)...)
        } else {
            stretches.removeSubrange(first...)
        }
        overlaps = overlaps.compactMap { overlap in
            var kept = overlap
            kept.range = overlap.range.clamped(to: Int64.min..<end)
            return kept.range.isEmpty ? nil : kept
        }
    }

    /// The parts of `range` that came before, with where they stand.
    func overlaps(of range: Range<Int64>, from source: ByteSource) -> [Overlap] {
        var map = ByteMap(limit: limit)
        map.stretches = stretches
        map.add(range, from: source)
        return map.overlaps
    }

    var held: [Range<Int64>] { stretches.map(\.range).joinedRanges }
    var twice: [Range<Int64>] { overlaps.map(\.range).sorted(by: before).joinedRanges }
    var heldCount: Int64 { stretches.reduce(0) { $0 + Int64($1.range.count) } }

    /// What of `0..<total` is not there.
    func missing(of total: Int64) -> [Range<Int64>] {
        var missing: [Range<Int64>] = []
        var position: Int64 = 0
        for range in held {
            if position < min(range.lowerBound, total) {
                missing.append(position..<min(range.lowerBound, total))
            }
            position = max(position, range.upperBound)
        }
        if position < total { missing.append(position..<total) }
        return missing
    }

    private mutating func note(_ overlap: Overlap) {
        if overlaps.count < limit { overlaps.append(overlap) } else { isFull = true }
    }

    /// By halving; `stretches.count` if there is none.
    private func firstStretch(endingAfter position: Int64) -> Int {
        var (low, high) = (0, stretches.count)
        while low < high {
            let middle = (low + high) / 2
            if stretches[middle].range.upperBound <= position {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}

private func before(_ left: Range<Int64>, _ right: Range<Int64>) -> Bool {
    left.lowerBound < right.lowerBound
}

extension [Range<Int64>] {
    /// Those that touch or overlap made one; they must ascend.
    var joinedRanges: [Range<Int64>] {
        var joined: [Range<Int64>] = []
        for range in self {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                let end = Swift.max(last.upperBound, range.upperBound)
                joined[joined.count - 1] = last.lowerBound..<end
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}
