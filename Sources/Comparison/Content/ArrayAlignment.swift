internal import Replay

/// Which elements of two arrays stand for each other.
struct ArrayAlignment {
    /// By their places; `nil` where there is none. Elements that are known to be equal may be left
    /// out.
    private(set) var pairs: [(left: Int?, right: Int?)] = []
    /// Whether elements that stand for each other are in another order.
    private(set) var isReordered = false

    init(
        _ left: [JSONValue], _ right: [JSONValue], path: String, isIgnored: (String) -> Bool
    ) {
        if let (before, after) = Self.identities(left, right, path, isIgnored) {
            align(before, after)
        } else {
            alignBySequence(left, right)
        }
    }

    /// Pairs what has the same identity.
    private mutating func align(_ before: [String], _ after: [String]) {
        var places: [String: Int] = [:]
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
    private mutating func alignBySequence(_ left: [JSONValue], _ right: [JSONValue]) {
        for run in SequenceDifference.runs(left.map(\.digest), right.map(\.digest)) {
            for offset in 0..<max(run.left.count, run.right.count) {
                pairs.append(
                    (
                        offset < run.left.count ? run.left.lowerBound + offset : nil,
                        offset < run.right.count ? run.right.lowerBound + offset : nil
                    ))
            }
        }
    }

    /// What identifies each element, `nil` if nothing does.
    private static func identities(
        _ left: [JSONValue], _ right: [JSONValue], _ path: String, _ isIgnored: (String) -> Bool
    ) -> ([String], [String])? {
        guard case .object? = left.first, case .object? = right.first else { return nil }
        for name in identityNames where !isIgnored("\(path)[0].\(name)") {
            guard let before = identities(left, name), let after = identities(right, name),
                !Set(before).isDisjoint(with: after)
            else { continue }
            return (before, after)
        }
        return nil
    }

    private static func identities(_ elements: [JSONValue], _ name: String) -> [String]? {
        var identities: [String] = []
        var seen: Set<String> = []
        for element in elements {
            switch element[name] {
            case .string(let text): identities.append("\"" + text)
            case .number(let number): identities.append(number)
            default: return nil
            }
            guard seen.insert(identities[identities.count - 1]).inserted else { return nil }
        }
        return identities
    }

    /// The members by which lists of things are told apart, the surest first.
    private static let identityNames = [
        "id", "_id", "@id", "uuid", "guid", "key", "slug", "sku", "code", "href", "url", "name",
    ]
}

extension JSONValue {
    /// The same for equal values; seeded for each run, so that no peer can make others collide.
    fileprivate var digest: Int {
        var hasher = Hasher()
        append(to: &hasher)
        return hasher.finalize()
    }

    private func append(to hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value): hasher.combine(value ? 1 : 2)
        case .number(let number):
            hasher.combine(3)
            hasher.combine(number)
        case .string(let text):
            hasher.combine(4)
            hasher.combine(text)
        case .array(let elements):
            hasher.combine(5)
            hasher.combine(elements.count)
            for element in elements { element.append(to: &hasher) }
        case .object(let members):
            hasher.combine(6)
            hasher.combine(members.count)
            for member in members {
                hasher.combine(member.name)
                member.value.append(to: &hasher)
            }
        }
    }
}
