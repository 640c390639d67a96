/// Finds which of some pairs keep their order.
enum RisingPairs {
    /// The positions in `values` of a longest rising subsequence (patience sorting).
    ///
    /// - Complexity: O(n log n).
    static func longest(_ values: [Int]) -> [Int] {
        /// For each length, where the rising sequence with the smallest end ends.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: values.count)
        for (index, value) in values.enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var result: [Int] = []
        var index = ends.last ?? -1
        while index >= 0 {
            result.append(index)
            index = previous[index]
        }
        return result.reversed()
    }
}
