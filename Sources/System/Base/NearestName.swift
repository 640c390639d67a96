/// Finds the name that was probably meant.
package enum NearestName {
    /// The candidate that is fewest edits away from `word`, `nil` if none is near.
    package static func find(_ word: String, among candidates: [String]) -> String? {
        let limit = max(1, min(3, word.count / 3))
        return
            candidates
            .map { (name: $0, distance: distance(word, $0)) }
            .filter { $0.distance <= limit || ($0.name.hasPrefix(word) && word.count > 2) }
            .min { $0.distance < $1.distance }?.name
    }

    /// The number of characters to insert, delete, replace or swap with their neighbour.
    package static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.lowercased().prefix(lengthLimit))
        let right = Array(right.lowercased().prefix(lengthLimit))
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(last[column + 1] + 1, current[column] + 1, replaced)
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }

    /// Names are short: the rest of a pasted text says nothing.
    private static let lengthLimit = 40
}
