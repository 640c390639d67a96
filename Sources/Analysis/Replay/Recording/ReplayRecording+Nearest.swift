internal import Base
internal import HTTPModel

extension ReplayRecording {
    /// Tells of a request without an answer, and of the recorded one that is nearest to it.
    func miss(_ facts: RequestFacts, reason: ReplayMiss.Reason) -> ReplayMiss {
        ReplayMiss(
            reason: reason, method: facts.method, url: facts.url, nearest: nearest(to: facts))
    }

    /// How many lists, and exchanges of each, are looked at closely.
    private static let listLimit = 8
    private static let exchangeLimit = 64

    private func nearest(to facts: RequestFacts) -> ReplayMiss.Nearest? {
        let wanted = rule.items(of: facts, isStrict: false)
        var best: (score: Double, exchange: Int64, facts: RequestFacts)?
        for exchange in candidates(for: facts) {
            guard let recorded = request(of: exchange) else { continue }
            let score = Self.likeness(
                recorded, rule.items(of: recorded, isStrict: false), aligned(facts, with: recorded),
                wanted)
            if score > best?.score ?? -1 { best = (score, exchange, recorded) }
        }
        return best.map { best in
            ReplayMiss.Nearest(
                exchange: best.exchange, method: best.facts.method, url: best.facts.url,
                differences: rule.differences(
                    recorded: best.facts, live: aligned(facts, with: best.facts)))
        }
    }

    /// The exchanges of the lists that are nearest by method, origin and path.
    private func candidates(for facts: RequestFacts) -> [Int64] {
        withLists { lists in
            var best: [(score: Double, list: ExchangeList)] = []
            let path = Array(facts.path.utf8)
            for list in lists {
                let score =
                    Self.likeness(path, Array(list.place.path.utf8)) * 4
                    + (list.place.origin == facts.origin ? 1.5 : 0)
                    + (list.place.method == facts.method ? 1 : 0)
                if best.count < Self.listLimit || score > best[best.count - 1].score {
                    let index = best.firstIndex { $0.score < score } ?? best.count
                    best.insert((score, list), at: index)
                    if best.count > Self.listLimit { best.removeLast() }
                }
            }
            return best.flatMap { $0.list.exchanges.suffix(Self.exchangeLimit) }
        }
    }

    /// How alike two requests are, from 0 on.
    private static func likeness(
        _ recorded: RequestFacts, _ left: [MatchRule.Item], _ live: RequestFacts,
        _ right: [MatchRule.Item]
    ) -> Double {
        likeness(Array(recorded.path.utf8), Array(live.path.utf8)) * 4
            + (recorded.origin == live.origin ? 1.5 : 0) + (recorded.method == live.method ? 1 : 0)
            + overlap(left, right) * 3
    }

    /// How much of what counts is in both, besides method, origin and path: equal values count
    /// whole, equal names a third.
    private static func overlap(_ left: [MatchRule.Item], _ right: [MatchRule.Item]) -> Double {
        let (left, right) = (left.filter(\.isDetail), right.filter(\.isDetail))
        guard !left.isEmpty || !right.isEmpty else { return 1 }
        let values = Set(left).intersection(right).count
        let names = Set(left.map(\.part)).intersection(right.map(\.part)).count
        let all = Double(max(left.count, right.count))
        return Double(values) / all * 2 / 3 + Double(names) / all / 3
    }

    /// How much of two paths is the same, from both ends: 1 for equal ones.
    private static func likeness(_ left: [UInt8], _ right: [UInt8]) -> Double {
        let shorter = min(left.count, right.count)
        let longer = max(left.count, right.count)
        guard longer > 0 else { return 1 }
        var front = 0
        while front < shorter, left[front] == right[front] { front += 1 }
        var back = 0
        while back < shorter - front, left[left.count - 1 - back] == right[right.count - 1 - back] {
            back += 1
        }
        return Double(front + back) / Double(longer)
    }
}

extension MatchRule.Item {
    fileprivate var isDetail: Bool {
        switch part {
        case .method, .authority, .path: false
        default: true
        }
    }
}
