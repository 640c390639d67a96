/// Which exchanges of two captures stand for each other: by what they are, and by their order only
/// where they are alike.
package struct Alignment: Sendable, Equatable {
    package struct Pair: Sendable, Equatable {
        /// The places in the two lists.
        package let left: Int
        package let right: Int
        /// Whether it has another place among the others on the right.
        package var isMoved = false
    }

    /// By rising place on the left.
    package private(set) var pairs: [Pair] = []
    /// What has no counterpart, by rising place.
    package private(set) var removed: [Int] = []
    package private(set) var added: [Int] = []

    /// Whether each exchange has a counterpart from which it differs in nothing.
    func isWhole(_ left: [ExchangeSignature], _ right: [ExchangeSignature]) -> Bool {
        removed.isEmpty && added.isEmpty
            && pairs.allSatisfy { left[$0.left].isEqual(to: right[$0.right]) }
    }

    /// Takes O(n log n) time, however many exchanges are alike.
    package init(_ left: [ExchangeSignature], _ right: [ExchangeSignature]) {
        var search = PairSearch(left, right)
        search.run()
        removed = search.leftOver
        added = search.rightOver
        pairs = search.pairs.sorted { $0.left < $1.left }
        var isInOrder = [Bool](repeating: false, count: pairs.count)
        for index in RisingPairs.longest(pairs.map(\.right)) { isInOrder[index] = true }
        for index in pairs.indices { pairs[index].isMoved = !isInOrder[index] }
    }
}

/// Pairs exchanges, those that agree in most first.
private struct PairSearch {
    private let left: [ExchangeSignature]
    private let right: [ExchangeSignature]
    var leftOver: [Int]
    var rightOver: [Int]
    var pairs: [Alignment.Pair] = []
    /// Where each exchange of the left would be on the right, going by what is before it.
    private var expected: [Int] = []

    init(_ left: [ExchangeSignature], _ right: [ExchangeSignature]) {
        self.left = left
        self.right = right
        leftOver = Array(left.indices)
        rightOver = Array(right.indices)
    }

    mutating func run() {
        pairInOrder()
        for place in [\ExchangeSignature.group, \ExchangeSignature.place] {
            for agreement in Self.agreements {
                pairEqual { hash($0[keyPath: place], agreement($0)) }
            }
            pairAlike { $0[keyPath: place] }
        }
    }

    /// What pairs agree in, beside their place, the most first.
    private static var agreements: [(ExchangeSignature) -> Int] {
        [
            everything,
            { hash($0.target, $0.requestBody, Int($0.status), $0.responseBody) },
            { hash($0.target, $0.requestBody, Int($0.status)) },
            { hash($0.target, $0.requestBody) },
            { hash($0.target, Int($0.status)) },
            { $0.target },
        ]
    }

    private static func everything(_ exchange: ExchangeSignature) -> Int {
        hash(
            exchange.target, exchange.requestBody, Int(exchange.status), exchange.responseBody,
            exchange.requestHead, exchange.responseHead)
    }

    /// Pairs what is the same and keeps its order, as far as that can be told within a bound.
    private mutating func pairInOrder() {
        let before = left.map { hash($0.group, Self.everything($0)) }
        let after = right.map { hash($0.group, Self.everything($0)) }
        let runs = SequenceDifference.runs(before, after)
        leftOver = runs.flatMap(\.left)
        rightOver = runs.flatMap(\.right)
        var (index, other) = (0, 0)
        for run in runs + [.init(left: left.count..<left.count, right: right.count..<right.count)] {
            while index < run.left.lowerBound {
                pairs.append(Alignment.Pair(left: index, right: other))
                index += 1
                other += 1
            }
            (index, other) = (run.left.upperBound, run.right.upperBound)
        }
        expected = Array(left.indices)
        var drift = pairs.first.map { $0.right - $0.left } ?? 0
        var next = pairs[...]
        for place in left.indices {
            if let pair = next.first, pair.left == place {
                drift = pair.right - pair.left
                next.removeFirst()
            }
            expected[place] += drift
        }
    }

    /// Pairs what has the same key, in order; of more on one side, those where they are expected.
    private mutating func pairEqual(_ key: (ExchangeSignature) -> Int) {
        guard !leftOver.isEmpty, !rightOver.isEmpty else { return }
        let before = Self.keyed(leftOver, left, key)
        let after = Self.keyed(rightOver, right, key)
        let start = pairs.count
        Self.forEachShared(before, after) { pairNearest($0, $1) }
        let taken = pairs[start...]
        guard !taken.isEmpty else { return }
        let (takenLeft, takenRight) = (Set(taken.map(\.left)), Set(taken.map(\.right)))
        leftOver.removeAll { takenLeft.contains($0) }
        rightOver.removeAll { takenRight.contains($0) }
    }

    /// Pairs all of the shorter list, in order, each with what is nearest to where it is expected.
    private mutating func pairNearest(_ mine: [Int], _ theirs: [Int]) {
        let (before, after) = (mine.map { expected[$0] }, theirs)
        let isLeftShorter = before.count <= after.count
        let (short, long) = isLeftShorter ? (before, after) : (after, before)
        var candidate = 0
        for (index, place) in short.enumerated() {
            let last = long.count - (short.count - index)
            while candidate < last,
                abs(long[candidate + 1] - place) < abs(long[candidate] - place)
            {
                candidate += 1
            }
            let (own, other) = isLeftShorter ? (index, candidate) : (candidate, index)
            pairs.append(Alignment.Pair(left: mine[own], right: theirs[other]))
            candidate += 1
        }
    }

    /// The places by key, and in their order among equal keys.
    private static func keyed(
        _ places: [Int], _ signatures: [ExchangeSignature], _ key: (ExchangeSignature) -> Int
    ) -> [(key: Int, place: Int)] {
        places.map { (key(signatures[$0]), $0) }.sorted {
            $0.key == $1.key ? $0.place < $1.place : $0.key < $1.key
        }
    }

    /// Calls `body` with the places on both sides of each key that both have, by rising key.
    private static func forEachShared(
        _ before: [(key: Int, place: Int)], _ after: [(key: Int, place: Int)],
        _ body: ([Int], [Int]) -> Void
    ) {
        var (index, other) = (0, 0)
        while index < before.count, other < after.count {
            if before[index].key < after[other].key {
                index += 1
            } else if before[index].key > after[other].key {
                other += 1
            } else {
                let key = before[index].key
                let mine = before[index...].prefix { $0.key == key }
                let theirs = after[other...].prefix { $0.key == key }
                body(mine.map(\.place), theirs.map(\.place))
                (index, other) = (mine.endIndex, theirs.endIndex)
            }
        }
    }

    /// Pairs what has the same key, the most alike first; each with few candidates, those that are
    /// nearest in order.
    private mutating func pairAlike(_ key: (ExchangeSignature) -> Int) {
        guard !leftOver.isEmpty, !rightOver.isEmpty else { return }
        let before = Self.keyed(leftOver, left, key)
        let after = Self.keyed(rightOver, right, key)
        var taken = (left: Set<Int>(), right: Set<Int>())
        Self.forEachShared(before, after) { pairAlike($0, $1, &taken) }
        leftOver.removeAll { taken.left.contains($0) }
        rightOver.removeAll { taken.right.contains($0) }
    }

    private struct Candidate {
        let left: Int
        let right: Int
        let likeness: Int
        let distance: Int
    }

    private mutating func pairAlike(
        _ mine: [Int], _ theirs: [Int], _ taken: inout (left: Set<Int>, right: Set<Int>)
    ) {
        var candidates: [Candidate] = []
        for (rank, place) in mine.enumerated() {
            let start = max(0, min(rank - candidateLimit / 2, theirs.count - candidateLimit))
            for other in start..<min(start + candidateLimit, theirs.count) {
                candidates.append(
                    Candidate(
                        left: place, right: theirs[other],
                        likeness: left[place].likeness(to: right[theirs[other]]),
                        distance: abs(rank - other)))
            }
        }
        candidates.sort {
            if $0.likeness != $1.likeness { return $0.likeness > $1.likeness }
            if $0.distance != $1.distance { return $0.distance < $1.distance }
            return $0.left == $1.left ? $0.right < $1.right : $0.left < $1.left
        }
        for candidate in candidates
        where !taken.left.contains(candidate.left) && !taken.right.contains(candidate.right) {
            taken.left.insert(candidate.left)
            taken.right.insert(candidate.right)
            pairs.append(Alignment.Pair(left: candidate.left, right: candidate.right))
        }
    }
}

private func hash(_ numbers: Int...) -> Int {
    var hash = 0
    // The numbers are hashes already; only their order has to count.
    for number in numbers { hash = (hash &* 31 &+ number) &* 0x2545_F491_4F6C_DD1D }
    return hash
}

/// How many candidates are looked at for each exchange.
private let candidateLimit = 16
