/// Tells where two sequences differ, within a bound of work.
enum SequenceDifference {
    /// A place where they differ: these elements on the left stand for those on the right.
    struct Run: Equatable {
        let left: Range<Int>
        let right: Range<Int>
    }

    /// The runs in rising order, with equal elements between them.
    ///
    /// It is exact (Myers, An O(ND) Difference Algorithm) for up to `editLimit` edits. Beyond, the
    /// elements that occur once on both sides split the sequences, and each block is exact or, if
    /// it cannot be told within the bound, one run.
    static func runs<Element: Hashable>(
        _ left: [Element], _ right: [Element], editLimit: Int = 400
    ) -> [Run] {
        var numbers: [Element: Int32] = [:]
        func number(_ element: Element) -> Int32 {
            if let known = numbers[element] { return known }
            let new = Int32(truncatingIfNeeded: numbers.count)
            numbers[element] = new
            return new
        }
        var search = EditSearch(left.map(number), right.map(number), editLimit: editLimit)
        search.run()
        return search.runs
    }
}

/// The search for a short list of edits.
private struct EditSearch {
    let left: [Int32]
    let right: [Int32]
    let editLimit: Int
    /// How many steps may still be taken, over all blocks.
    var stepsLeft: Int
    var runs: [SequenceDifference.Run] = []

    init(_ left: [Int32], _ right: [Int32], editLimit: Int) {
        self.left = left
        self.right = right
        self.editLimit = editLimit
        stepsLeft = 4 * editLimit * editLimit + 16 * (left.count + right.count)
    }

    mutating func run() {
        compare(left.indices, right.indices, mayBeSplit: true)
    }

    private mutating func compare(
        _ left: Range<Int>, _ right: Range<Int>, mayBeSplit: Bool
    ) {
        let (left, right) = withoutEqualEnds(left, right)
        if left.isEmpty && right.isEmpty { return }
        if left.isEmpty || right.isEmpty { return append(left, right) }
        if let found = shortest(left, right) {
            for run in found { append(run.left, run.right) }
            return
        }
        guard mayBeSplit else { return append(left, right) }
        split(left, right)
    }

    private func withoutEqualEnds(
        _ left: Range<Int>, _ right: Range<Int>
    ) -> (Range<Int>, Range<Int>) {
        var (left, right) = (left, right)
        while let first = left.first, let other = right.first, self.left[first] == self.right[other]
        {
            left.removeFirst()
            right.removeFirst()
        }
        while let last = left.last, let other = right.last, self.left[last] == self.right[other] {
            left.removeLast()
            right.removeLast()
        }
        return (left, right)
    }

    /// Compares what is between the elements that occur once on both sides and keep their order.
    private mutating func split(_ left: Range<Int>, _ right: Range<Int>) {
        let places = Self.onlyPlaces(self.right, right)
        let candidates = Self.onlyPlaces(self.left, left).compactMap { element, place in
            places[element].map { (left: place, right: $0) }
        }.sorted { $0.left < $1.left }
        var (leftStart, rightStart) = (left.lowerBound, right.lowerBound)
        for index in RisingPairs.longest(candidates.map(\.right)) {
            let anchor = candidates[index]
            compare(leftStart..<anchor.left, rightStart..<anchor.right, mayBeSplit: false)
            (leftStart, rightStart) = (anchor.left + 1, anchor.right + 1)
        }
        compare(leftStart..<left.upperBound, rightStart..<right.upperBound, mayBeSplit: false)
    }

    private static func onlyPlaces(_ elements: [Int32], _ range: Range<Int>) -> [Int32: Int] {
        var places: [Int32: Int] = [:]
        for index in range { places[elements[index]] = places[elements[index]] == nil ? index : -1 }
        return places.filter { $0.value >= 0 }
    }

    /// The runs of a shortest list of edits, `nil` if that takes too many.
    private mutating func shortest(
        _ left: Range<Int>, _ right: Range<Int>
    ) -> [SequenceDifference.Run]? {
        let limit = min(editLimit, left.count + right.count)
        var furthest = [Int](repeating: 0, count: 2 * limit + 3)
        var history: [[Int]] = []
        for edits in 0...limit {
            history.append(Array(furthest[(limit + 1 - edits)...(limit + 1 + edits)]))
            for diagonal in stride(from: -edits, through: edits, by: 2) {
                let slot = diagonal + limit + 1
                let isDown =
                    diagonal == -edits
                    || diagonal != edits && furthest[slot - 1] < furthest[slot + 1]
                var x = isDown ? furthest[slot + 1] : furthest[slot - 1] + 1
                let start = x
                while x < left.count, x - diagonal < right.count, x - diagonal >= 0,
                    self.left[left.lowerBound + x] == self.right[right.lowerBound + x - diagonal]
                {
                    x += 1
                }
                stepsLeft -= x - start + 1
                furthest[slot] = x
                if x >= left.count, x - diagonal >= right.count {
                    return runs(back: history, left, right)
                }
            }
            guard stepsLeft > 0 else { return nil }
        }
        return nil
    }

    /// Follows the edits from the end to the start.
    private func runs(
        back history: [[Int]], _ left: Range<Int>, _ right: Range<Int>
    ) -> [SequenceDifference.Run] {
        var (x, y) = (left.count, right.count)
        var found: [SequenceDifference.Run] = []
        for edits in stride(from: history.count - 1, to: 0, by: -1) {
            let before = history[edits]
            let diagonal = x - y
            func reach(_ diagonal: Int) -> Int {
                let index = diagonal + edits
                return before.indices.contains(index) ? before[index] : -1
            }
            let isDown =
                diagonal == -edits
                || diagonal != edits && reach(diagonal - 1) < reach(diagonal + 1)
            let from = isDown ? diagonal + 1 : diagonal - 1
            let fromX = reach(from)
            let fromY = fromX - from
            let edit = SequenceDifference.Run(
                left: left.lowerBound + fromX..<left.lowerBound + fromX + (isDown ? 0 : 1),
                right: right.lowerBound + fromY..<right.lowerBound + fromY + (isDown ? 1 : 0))
            found.append(edit)
            (x, y) = (fromX, fromY)
        }
        return found.reversed()
    }

    /// Appends a run, to the last one if nothing equal is between them.
    private mutating func append(_ left: Range<Int>, _ right: Range<Int>) {
        if let last = runs.last, last.left.upperBound == left.lowerBound,
            last.right.upperBound == right.lowerBound
        {
            runs[runs.count - 1] = SequenceDifference.Run(
                left: last.left.lowerBound..<left.upperBound,
                right: last.right.lowerBound..<right.upperBound)
        } else {
            runs.append(SequenceDifference.Run(left: left, right: right))
        }
    }
}
