internal import Contents

/// Which elements of two arrays stand for each other.
struct ArrayAlignment {
    /// The places of elements in their text.
    typealias Elements = (document: JSONDocument, places: [Int])

    /// By their indices; `nil` where there is none. Elements that are known to be equal may be left
    /// out.
    private(set) var pairs: [(left: Int?, right: Int?)] = []
    /// Whether elements that stand for each other are in another order.
    private(set) var isReordered = false

    /// - Parameter isIgnored: whether a member of the elements counts for nothing.
    init(_ left: Elements, _ right: Elements, isIgnored: (_ name: String) -> Bool) {
        if let (before, after) = Self.identities(left, right, isIgnored) {
            align(before, after)
        } else {
            alignBySequence(left, right)
        }
    }

    /// Pairs what has the same identity.
    private mutating func align(_ before: [Int], _ after: [Int]) {
        if before == after {
            pairs = before.indices.map { ($0, $0) }
            return
        }
        var places: [Int: Int] = [:]
        for (index, identity) in after.enumerated() { places[identity] = index }
        var order: [Int] = []
        var paired: Set<Int> = []
        for (index, identity) in before.enumerated() {
            let place = places[identity]
            pairs.append((index, place))
            guard let place else { continue }
            order.append(place)
            paired.insert(place)
        }
        pairs += after.indices.filter { !paired.contains($0) }.map { (nil, $0) }
        isReordered = zip(order, order.dropFirst()).contains { $0 > $1 }
    }

    /// Pairs what is between the elements that both have, one by one.
    private mutating func alignBySequence(_ left: Elements, _ right: Elements) {
        for run in SequenceDifference.runs(Self.digests(left), Self.digests(right)) {
            for offset in 0..<max(run.left.count, run.right.count) {
                pairs.append(
                    (
                        offset < run.left.count ? run.left.lowerBound + offset : nil,
                        offset < run.right.count ? run.right.lowerBound + offset : nil
                    ))
            }
        }
    }

    private static func digests(_ elements: Elements) -> [Int] {
        elements.places.map { digest(elements.document, $0) }
    }

    /// The same for equal values; seeded for each run, so that no peer can make others collide.
    private static func digest(_ document: JSONDocument, _ place: Int) -> Int {
        var hasher = Hasher()
        document.hash(place, into: &hasher)
        return hasher.finalize()
    }

    /// Digests of what identifies each element, `nil` if nothing does.
    private static func identities(
        _ left: Elements, _ right: Elements, _ isIgnored: (String) -> Bool
    ) -> ([Int], [Int])? {
        guard beginsWithObject(left), beginsWithObject(right) else { return nil }
        for name in identityNames {
            guard let before = identities(left, name), let after = identities(right, name),
                !isIgnored("\(name)"), before == after || !Set(before).isDisjoint(with: after)
            else { continue }
            return (before, after)
        }
        return nil
    }

    private static func beginsWithObject(_ elements: Elements) -> Bool {
        elements.places.first.map { elements.document[$0].kind == .object } ?? false
    }

    private static func identities(_ elements: Elements, _ name: StaticString) -> [Int]? {
        let document = elements.document
        var identities: [Int] = []
        var seen: Set<Int> = []
        for element in elements.places {
            guard let member = document.member(name, of: element),
                document[member].kind == .string || document[member].kind == .number
            else { return nil }
            let identity = digest(document, member)
            guard seen.insert(identity).inserted else { return nil }
            identities.append(identity)
        }
        return identities
    }

    /// The members by which lists of things are told apart, the surest first.
    private static let identityNames: [StaticString] = [
        "id", "_id", "@id", "uuid", "guid", "key", "slug", "sku", "code", "href", "url", "name",
    ]
}
