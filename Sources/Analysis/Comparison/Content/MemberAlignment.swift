internal import Contents

/// The members of two objects that are not spelled alike.
struct MemberAlignment {
    /// Members of one name, or one that is on one side only.
    struct Pair {
        let name: ArraySlice<UInt8>
        /// The places of the values.
        let left: Int?
        let right: Int?
    }

    /// By rising name.
    let pairs: [Pair]

    init(_ left: JSONDocument, _ place: Int, _ right: JSONDocument, _ other: Int) {
        pairs =
            Self.inOneOrder(left, place, right, other)
            ?? Self.inAnyOrder(
                left, left.members(of: place)[...], right, right.members(of: other)[...])
    }

    /// What most objects need: one writer wrote both, with the same members in the same order.
    private static func inOneOrder(
        _ left: JSONDocument, _ place: Int, _ right: JSONDocument, _ other: Int
    ) -> [Pair]? {
        var pairs: [Pair] = []
        var (mine, theirs) = (place + 1, other + 1)
        let (end, otherEnd) = (left[place].next, right[other].next)
        while mine < end, theirs < otherEnd {
            guard left[mine].isPlain, left.isSpelledAlike(mine, right, theirs) else { return nil }
            if !left.isSpelledAlike(mine + 1, right, theirs + 1) {
                guard pairs.count < quickLimit, !repeats(mine, of: place, left) else { return nil }
                pairs.append(
                    Pair(name: left.key(of: mine), left: mine + 1, right: theirs + 1))
            }
            (mine, theirs) = (left[mine + 1].next, right[theirs + 1].next)
        }
        guard mine == end, theirs == otherEnd else { return nil }
        return pairs.count < 2 ? pairs : pairs.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// Whether an object has another member of this name.
    private static func repeats(_ name: Int, of place: Int, _ document: JSONDocument) -> Bool {
        var next = place + 1
        while next < document[place].next {
            if next != name, document.isSpelledAlike(next, document, name) { return true }
            next = document[next + 1].next
        }
        return false
    }

    private static func inAnyOrder(
        _ left: JSONDocument, _ before: ArraySlice<JSONDocument.Member>, _ right: JSONDocument,
        _ after: ArraySlice<JSONDocument.Member>
    ) -> [Pair] {
        var (before, after) = (before, after)
        var pairs: [Pair] = []
        // Each name is decoded once.
        var name = before.first.map { left.key(of: $0.name) }
        var other = after.first.map { right.key(of: $0.name) }
        while let shared = least(name, other) {
            var (mine, theirs): (Int?, Int?)
            if name == shared {
                mine = before.popFirst()?.value
                name = before.first.map { left.key(of: $0.name) }
            }
            if other == shared {
                theirs = after.popFirst()?.value
                other = after.first.map { right.key(of: $0.name) }
            }
            if let mine, let theirs, left.isSpelledAlike(mine, right, theirs) { continue }
            pairs.append(Pair(name: shared, left: mine, right: theirs))
        }
        return pairs
    }

    private static func least(
        _ name: ArraySlice<UInt8>?, _ other: ArraySlice<UInt8>?
    ) -> ArraySlice<UInt8>? {
        guard let name, let other else { return name ?? other }
        return other.lexicographicallyPrecedes(name) ? other : name
    }

    /// How many members may differ before looking for each in all of them takes longer than to put
    /// them in order.
    private static let quickLimit = 16
}
