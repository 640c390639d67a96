internal import Base
internal import HTTPModel
package import Traffic

/// Finds what changes from one recording of the same doings to the next.
package enum VolatileParts {
    /// A rule with why it is proposed.
    package struct Proposal: Sendable, Equatable {
        package let rule: ReplayRule
        package let reason: String
    }

    /// Pairs the exchanges of two captures by method, origin and path, in their order, and proposes
    /// a rule for each part that differs.
    package static func proposals(
        _ first: any TrafficSource, _ second: any TrafficSource
    ) throws -> [Proposal] {
        var waiting: [RequestPlace: [Int64]] = [:]
        try each(of: second) { place, id in waiting[place, default: []].append(id) }
        var found: [ReplayRule: (count: Int, example: String)] = [:]
        try each(of: first) { place, id in
            guard let pair = waiting[place]?.first else { return }
            waiting[place]?.removeFirst()
            guard let left = try Sample(id, first), let right = try Sample(pair, second) else {
                return
            }
            for (rule, example) in left.changes(to: right) {
                let count = found[rule]?.count ?? 0
                found[rule] = (count + 1, found[rule]?.example ?? example)
            }
        }
        return found.sorted {
            ($0.key.side.rawValue, $0.key.part) < ($1.key.side.rawValue, $1.key.part)
        }
        .map { rule, facts in
            let times = facts.count == 1 ? "once" : "\(facts.count) times"
            return Proposal(rule: rule, reason: "differs \(times): \(facts.example)")
        }
    }

    private static func each(
        of source: any TrafficSource, _ visit: (RequestPlace, Int64) throws -> Void
    ) throws {
        try source.exchanges { record in
            guard !record.answeredByTool, record.status > 0,
                let facts = RecordedHeads.request(of: record)
            else { return true }
            try visit(MatchRule().place(of: facts), record.id)
            return true
        }
    }
}

/// One exchange with its contents, as far as they are short.
private struct Sample {
    private let request: RequestFacts
    private let response: ResponseHead
    private let content: [UInt8]
    private let contentForm: BodyForm

    /// In bytes of one content.
    private static let limit = 1 << 20

    init?(_ id: Int64, _ source: any TrafficSource) throws {
        guard let record = try source.exchange(id),
            var facts = RecordedHeads.request(of: record),
            let head = RecordedHeads.response(record.responseHead)
        else { return nil }
        facts.body = BodyForm(try Self.bytes(of: id, .request, source), of: facts.fields)
        request = facts
        response = head
        content = BodyForm.decoded(try Self.bytes(of: id, .response, source), head.fields)
        contentForm = BodyForm(content, type: head.fields.first(.contentType) ?? [])
    }

    private static func bytes(
        of id: Int64, _ direction: Direction, _ source: any TrafficSource
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try source.body(ofExchange: id, direction) { piece in
            bytes += piece
            return bytes.count < limit
        }
        return Array(bytes.prefix(limit))
    }

    /// A rule for each part that differs, with an example.
    func changes(to other: Sample) -> [(ReplayRule, String)] {
        var changes: [(ReplayRule, String)] = []
        let differences = MatchRule().differences(recorded: request, live: other.request)
        for difference in differences {
            let isEchoed = echoes(difference.recorded) && other.echoes(difference.live)
            let rule = ReplayRule(
                isEchoed ? .substitute : .ignore, .request, Self.generalized(difference.part))
            changes.append((rule, Self.example(difference)))
        }
        for difference in MatchRule.differences(responseItems, other.responseItems) {
            let rule = ReplayRule(.ignore, .response, Self.generalized(difference.part))
            changes.append((rule, Self.example(difference)))
        }
        return changes
    }

    private var responseItems: [MatchRule.Item] {
        let fields = response.fields.slices.map { slice in
            MatchRule.Item(
                part: .header(response.fields.name(slice).text.lowercased()),
                value: response.fields.value(slice).text)
        }
        let content = contentForm.fields.map {
            MatchRule.Item(part: .body($0.path), value: $0.value)
        }
        return [MatchRule.Item(part: .status, value: String(response.status))] + fields + content
    }

    /// Whether the response holds a value of the request.
    private func echoes(_ value: String?) -> Bool {
        guard let value else { return false }
        let bare = Substitution.bare(value)
        guard bare.count >= Substitution.leastLength else { return false }
        return content.holds(bare) || response.raw.holds(bare)
    }

    /// What differs in one element of a list will differ in others.
    private static func generalized(_ part: MessagePart) -> MessagePart {
        guard case .body(let path) = part else { return part }
        var result = ""
        var isInIndex = false
        for character in path {
            if character == "]", isInIndex { isInIndex = false }
            if isInIndex, character.isNumber { continue }
            result.append(character)
            if character == "[" { isInIndex = true }
        }
        return .body(result.replacingIndices)
    }

    private static func example(_ difference: MatchDifference) -> String {
        let sides = [difference.recorded, difference.live].map { value in
            value.map { $0.count > 40 ? $0.prefix(40) + "…" : $0 } ?? "nothing"
        }
        return "\(sides[0]), then \(sides[1])"
    }
}

extension String {
    /// `[]`, which stands for an index that was left out, as a pattern.
    fileprivate var replacingIndices: String {
        split(separator: "[]", omittingEmptySubsequences: false).joined(separator: "[*]")
    }
}

extension [UInt8] {
    fileprivate func holds(_ other: [UInt8]) -> Bool {
        guard let first = other.first, count >= other.count else { return false }
        return (0...count - other.count).contains { index in
            self[index] == first && self[index...].starts(with: other)
        }
    }
}
