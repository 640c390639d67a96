internal import Base

/// What stands on the right for values of the left that differ in every session: those that the
/// origins made up, and the origins themselves.
struct Renaming: Sendable {
    /// Those of the exchange that is compared.
    private var origins: [(left: [UInt8], right: [UInt8])] = []
    private var values: [ArraySlice<UInt8>: [[UInt8]]] = [:]
    /// Ids that are too short to count wherever they stand.
    private var ids: [ArraySlice<UInt8>: [[UInt8]]] = [:]
    /// What each value of the right stands for: several that have become one are a difference.
    private var meanings: [ArraySlice<UInt8>: [UInt8]] = [:]
    private var lengths: Set<Int> = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 && origins.isEmpty }

    /// - Parameter isShort: whether it counts only where an id stands.
    mutating func add(_ left: [UInt8], _ right: [UInt8], isShort: Bool) {
        guard left != right, !left.isEmpty, left.count <= Self.lengthLimit,
            lengths.contains(left.count) || lengths.count < Self.lengthCountLimit,
            meanings[right[...], default: left] == left
        else { return }
        meanings[right[...]] = left
        let known = (isShort ? ids : values)[left[...], default: []]
        guard known.count < Self.meaningLimit, !known.contains(right) else { return }
        if isShort { ids[left[...]] = known + [right] } else { values[left[...]] = known + [right] }
        lengths.insert(left.count)
        count += 1
    }

    /// The same for two exchanges, whose own origins stand for each other.
    func between(_ left: (String, String), _ right: (String, String)) -> Renaming {
        var renaming = self
        renaming.origins = [(left.0, right.0), (left.1, right.1)].compactMap {
            $0 == $1 ? nil : (Array($0.utf8), Array($1.utf8))
        }
        return renaming
    }

    /// Whether two texts are the same but for what stands for each other.
    ///
    /// - Parameter isID: whether each is called an id by its name.
    func agree(_ left: [UInt8], _ right: [UInt8], isID: Bool = false) -> Bool {
        guard !isEmpty else { return left == right }
        // How far both were told to agree, by renamed values.
        var start = (left: 0, right: 0)
        var place = start
        for _ in 0..<Self.stepLimit {
            while place.left < left.count, place.right < right.count,
                left[place.left] == right[place.right]
            {
                place = (place.left + 1, place.right + 1)
            }
            if place == (left.count, right.count) { return true }
            guard let next = next(left, right, from: start, differingAt: place, isID),
                next.left + next.right > place.left + place.right
            else { return false }
            (start, place) = (next, next)
        }
        return false
    }

    /// Where both go on behind the values that stand for each other where they differ.
    private func next(
        _ left: [UInt8], _ right: [UInt8], from start: (left: Int, right: Int),
        differingAt place: (left: Int, right: Int), _ isID: Bool
    ) -> (left: Int, right: Int)? {
        let farthest = min(place.left - start.left, place.right - start.right, Self.lengthLimit)
        for back in 0...farthest {
            let begin = (left: place.left - back, right: place.right - back)
            guard Self.begins(left, begin.left) else { continue }
            for (old, new) in origins where left[begin.left...].starts(with: old) {
                if right[begin.right...].starts(with: new) {
                    return (begin.left + old.count, begin.right + new.count)
                }
            }
            let takesIDs =
                isID || begin.left > 0 && left[begin.left - 1] == UInt8(ascii: "/")
            for length in lengths where length >= back && begin.left + length <= left.count {
                let end = begin.left + length
                let old = left[begin.left..<end]
                guard Self.ends(left, end) else { continue }
                let known = (values[old] ?? []) + (takesIDs ? ids[old] ?? [] : [])
                for new in known where right[begin.right...].starts(with: new) {
                    let other = begin.right + new.count
                    if Self.ends(right, other) { return (end, other) }
                }
            }
        }
        return nil
    }

    private static func begins(_ text: [UInt8], _ place: Int) -> Bool {
        place == 0 || !isWord(text[place - 1]) || place < text.count && !isWord(text[place])
    }

    private static func ends(_ text: [UInt8], _ place: Int) -> Bool {
        place >= text.count || !isWord(text[place]) || !isWord(text[place - 1])
    }

    private static func isWord(_ byte: UInt8) -> Bool { byte.isASCIILetter || byte.isASCIIDigit }

    /// In bytes, of a value.
    private static let lengthLimit = 4096
    /// How many lengths values may have: each is tried wherever texts differ.
    private static let lengthCountLimit = 48
    /// How many values may stand for one.
    private static let meaningLimit = 4
    /// How many values one text may hold.
    private static let stepLimit = 256
}
