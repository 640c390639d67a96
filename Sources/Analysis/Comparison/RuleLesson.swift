internal import Base
package import Replay
internal import Traffic

/// What changes from one recording of the same doings to the next, as rules to review.
package struct RuleLesson: Sendable, Equatable {
    /// A rule with why it is proposed.
    package struct Proposal: Sendable, Equatable {
        package let rule: ReplayRule
        package let reason: String
    }

    package private(set) var proposals: [Proposal] = []
    /// Lists of which one is longer: no rule makes them the same that does not ignore them.
    package private(set) var lists: [Proposal] = []
    /// How many exchanges of the first capture stand for one of the second.
    package private(set) var pairCount = 0
    /// How many of both have no counterpart.
    package private(set) var singleCount = 0
    /// How many pairs have a content that is too long to be looked at, or messages that differ in
    /// what no rule can name.
    package private(set) var partialCount = 0
    private var found: [Key: Facts] = [:]
    private var templates: Set<String> = []

    private struct Key: Hashable {
        let action: ReplayRule.Action
        let side: ReplayRule.Side
        let part: MessagePart
        /// For a part whose rule makes sense at one place alone.
        var place: String?
        var isList = false
    }

    private struct Facts: Equatable {
        var count = 0
        let example: String
        var places: Set<String> = []
    }

    init() {}

    // MARK: Learning

    /// Takes how two exchanges differ that stand for each other.
    ///
    /// Errors: those of the sources.
    mutating func note(_ comparison: ExchangeComparison) throws {
        pairCount += 1
        let (left, right) = (comparison.left, comparison.right)
        let place = PathTemplate.pattern(left.record.path)
        templates.insert(place)
        let limit = Int64(comparison.configuration.contentLimit)
        var isPartial = [left, right].contains {
            $0.record.requestBody.size > limit || $0.record.responseBody.size > limit
        }
        let isLong = isPartial
        var echoes: [RequestEcho?]?
        for difference in try comparison.differences() where !difference.isNote {
            guard let part = difference.part, !(isLong && difference.kind == .binary) else {
                isPartial = isPartial || difference.isContent
                continue
            }
            var key = Key(action: .ignore, side: difference.side.rule, part: part.pattern)
            key.isList = difference.isElement
            if part == .path { key.place = place }
            if key.side == .request, difference.change == .changed, part.canBeEchoed {
                let known =
                    try echoes
                    ?? [left, right].map { try RequestEcho(of: $0.record, in: $0.source) }
                echoes = known
                if known.allSatisfy({ $0?.holds(part) ?? false }) {
                    key = Key(action: .substitute, side: .request, part: part.pattern)
                }
            }
            var facts = found[key] ?? Facts(example: difference.example)
            facts.count += 1
            facts.places.insert(place)
            found[key] = facts
        }
        if isPartial { partialCount += 1 }
    }

    mutating func noteSingles(_ count: Int) { singleCount += count }

    /// Makes proposals of what was found: for a part that differs at one place of several, for that
    /// place.
    mutating func finish() {
        let sorted = found.sorted {
            ($0.key.side.rawValue, $0.key.part, $0.key.place ?? "")
                < ($1.key.side.rawValue, $1.key.part, $1.key.place ?? "")
        }
        for (key, facts) in sorted {
            let isOne = facts.places.count == 1 && templates.count > 1
            let pattern = key.place ?? (isOne ? facts.places.first : nil)
            let scope = pattern.flatMap { Self.isPlain($0) ? RuleScope(path: $0) : nil }
            // Without a place, all paths would be ignored.
            if key.part == .path, scope == nil { continue }
            let times = facts.count == 1 ? "once" : "\(facts.count) times"
            if key.isList {
                guard case .body(let path) = key.part else { continue }
                let list = String(path.dropLast(path.hasSuffix("[*]") ? 3 : 0))
                lists.append(
                    Proposal(
                        rule: ReplayRule(.ignore, key.side, .body(list + "*"), at: scope),
                        reason: "one side has more elements in \(list), \(times)"))
                continue
            }
            proposals.append(
                Proposal(
                    rule: ReplayRule(key.action, key.side, key.part, at: scope),
                    reason: "differs \(times): \(facts.example)\(Self.warning(key))"))
        }
        found = [:]
        templates = []
    }

    /// Whether it can stand in a line of rules as one word.
    private static func isPlain(_ place: String) -> Bool {
        place.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// That a field is there counts to `replay origin`, and no longer does with a rule for it.
    private static func warning(_ key: Key) -> String {
        guard key.side == .request, case .header(let name) = key.part,
            MatchRule.countsPresence(of: name)
        else { return "" }
        return "; with this rule, 'replay origin' answers a request without it, too"
    }
}

extension MessagePart {
    fileprivate var canBeEchoed: Bool {
        switch self {
        case .query, .header, .body: true
        case .method, .authority, .path, .status, .trailer: false
        }
    }
}

extension Difference {
    /// What a rule calls it; `nil` for what none can name.
    fileprivate var part: MessagePart? {
        switch kind {
        case .authority: .authority
        case .path: .path
        case .query: .query(path)
        case .status: .status
        case .field: .header(path)
        case .trailer: .trailer(path)
        case .json, .form: .body(path)
        case .text, .binary: message == nil ? .body("") : nil
        case .outcome, .version, .interim, .message: nil
        }
    }

    fileprivate var isContent: Bool { [.text, .binary, .message].contains(kind) }

    /// Whether it is an element of a list that the other side does not have.
    fileprivate var isElement: Bool { kind == .json && change != .changed && path.hasSuffix("]") }

    /// Both values as they may be shown, from where they differ.
    fileprivate var example: String {
        // Nothing is known of the secrets in a text.
        if kind == .text || kind == .binary { return "a content without pieces" }
        if let remark { return remark.replacing("differs in", with: "in") }
        let sides = [left, right].map { $0.map(Array.init) }
        let common = zip(sides[0] ?? [], sides[1] ?? []).prefix { $0 == $1 }.count
        let start = common > lengthShown / 2 ? common - lengthShown / 4 : 0
        let texts = sides.map { $0.map { Self.cut($0, from: start) } ?? "nothing" }
        return "\(texts[0]), then \(texts[1])"
    }

    private static func cut(_ text: [Character], from start: Int) -> String {
        let rest = text.dropFirst(start)
        return (start > 0 ? "…" : "") + String(rest.prefix(lengthShown))
            + (rest.count > lengthShown ? "…" : "")
    }
}

/// In characters.
private let lengthShown = 40
