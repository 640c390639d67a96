internal import Base
internal import HTTPModel

/// Recorded values that a response echoes, with what the live request has in their place.
struct Substitution {
    private let pairs: [(old: [UInt8], new: [UInt8])]

    /// In bytes: shorter values stand in a response by chance.
    static let leastLength = 3

    init(recorded: RequestFacts, live: RequestFacts, _ rules: ReplayRules) {
        let substituting = rules.of(.substitute)
        let plain = MatchRule(
            ReplayRules(substituting.map { ReplayRule(.match, .request, $0.part) }))
        let left = Dictionary(grouping: plain.items(of: recorded), by: \.part)
        let right = Dictionary(grouping: plain.items(of: live), by: \.part)
        var pairs: [(old: [UInt8], new: [UInt8])] = []
        for (part, items) in left where substituting.contains(where: { $0.covers(part) }) {
            for (old, new) in zip(items, right[part] ?? []) where old.value != new.value {
                let bytes = Self.bare(old.value)
                if bytes.count >= Self.leastLength { pairs.append((bytes, Self.bare(new.value))) }
            }
        }
        // A value that holds another is replaced before it.
        self.pairs = pairs.sorted { $0.old.count > $1.old.count }
    }

    var isEmpty: Bool { pairs.isEmpty }

    /// A value as it stands in a message: without the quotes that show it is a text, or the mark of
    /// a header that counts.
    static func bare(_ value: String) -> [UInt8] {
        let bytes = [UInt8](value.utf8)
        if bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22 {
            return Array(bytes[1..<bytes.count - 1])
        }
        return value.hasPrefix("= ") ? Array(bytes.dropFirst(2)) : bytes
    }

    func apply(to bytes: [UInt8]) -> [UInt8] {
        pairs.reduce(bytes) { Self.replacing($1.old, with: $1.new, in: $0) }
    }

    private static func replacing(_ old: [UInt8], with new: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == old[0], bytes[index...].starts(with: old) {
                result += new
                index += old.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }
}
