internal import Base
internal import Contents
internal import HTTPModel
package import Traffic

/// Finds what changes from one recording of the same doings to the next.
package enum VolatileParts {
    /// A rule with why it is proposed.
    package struct Proposal: Sendable, Equatable {
        package let rule: ReplayRule
        package let reason: String
    }

    /// What two captures taught.
    package struct Lesson: Sendable, Equatable {
        package fileprivate(set) var proposals: [Proposal] = []
        /// How many exchanges of the first were compared with one of the second.
        package fileprivate(set) var pairCount = 0
        /// How many of both had no counterpart of their method, origin and path.
        package fileprivate(set) var singleCount = 0
        /// How many pairs have something that is not looked at: messages of a WebSocket, an event
        /// stream, or a content that is too long.
        package fileprivate(set) var partialCount = 0
    }

    /// Pairs the exchanges of two captures by method, origin and path, in their order, and proposes
    /// a rule for each part that differs and would count in a comparison.
    ///
    /// - Parameter shown: what is told of a value in an example.
    package static func lesson(
        _ first: any TrafficSource, _ second: any TrafficSource,
        showing shown: (MessagePart, String) -> String
    ) throws -> Lesson {
        var waiting: [RequestPlace: [Int64]] = [:]
        try each(of: second) { place, id in waiting[place, default: []].append(id) }
        for place in waiting.keys { waiting[place]?.reverse() }
        var found: [ReplayRule: (count: Int, example: String)] = [:]
        var lesson = Lesson()
        try each(of: first) { place, id in
            guard let pair = waiting[place]?.popLast(), let left = try Sample(id, first),
                let right = try Sample(pair, second)
            else {
                lesson.singleCount += 1
                return
            }
            lesson.pairCount += 1
            if left.isPartial || right.isPartial { lesson.partialCount += 1 }
            for (rule, difference) in left.changes(to: right) {
                let count = found[rule]?.count ?? 0
                found[rule] = (count + 1, found[rule]?.example ?? example(difference, shown))
            }
        }
        lesson.singleCount += waiting.values.reduce(0) { $0 + $1.count }
        lesson.proposals = proposals(found)
        return lesson
    }

    private static func proposals(
        _ found: [ReplayRule: (count: Int, example: String)]
    ) -> [Proposal] {
        found.sorted {
            ($0.key.side.rawValue, $0.key.part) < ($1.key.side.rawValue, $1.key.part)
        }
        .map { rule, facts in
            let times = facts.count == 1 ? "once" : "\(facts.count) times"
            let warning = rule.side == .request ? warning(rule.part) : ""
            return Proposal(rule: rule, reason: "differs \(times): \(facts.example)\(warning)")
        }
    }

    /// That a field is there counts to `replay origin`, and no longer does with a rule for it.
    private static func warning(_ part: MessagePart) -> String {
        guard case .header(let name) = part, MatchRule.countsPresence(of: name) else { return "" }
        return "; with this rule, 'replay origin' answers a request without it, too"
    }

    private static func example(
        _ difference: MatchDifference, _ shown: (MessagePart, String) -> String
    ) -> String {
        let sides = [difference.recorded, difference.live].map { value in
            value.map { Array(shown(difference.part, $0)) }
        }
        guard sides[0] != sides[1] else { return "in what is masked" }
        let common = zip(sides[0] ?? [], sides[1] ?? []).prefix { $0 == $1 }.count
        let start = common > lengthShown / 2 ? common - lengthShown / 4 : 0
        let texts = sides.map { $0.map { cut($0, from: start) } ?? "nothing" }
        return "\(texts[0]), then \(texts[1])"
    }

    private static func cut(_ text: [Character], from start: Int) -> String {
        let rest = text.dropFirst(start)
        return (start > 0 ? "…" : "") + String(rest.prefix(lengthShown))
            + (rest.count > lengthShown ? "…" : "")
    }

    /// In characters.
    private static let lengthShown = 40

    /// The pattern for a part. What differs in one element of a list will differ in others, so an
    /// index becomes a star; all else stands for itself.
    static func generalized(_ part: MessagePart) -> MessagePart {
        switch part {
        case .query(let name): .query(Glob.literal(name))
        case .header(let name): .header(Glob.literal(name))
        case .trailer(let name): .trailer(Glob.literal(name))
        case .body(let path): .body(withoutIndices(Glob.literal(path)))
        case .method, .authority, .path, .status: part
        }
    }

    static func withoutIndices(_ path: String) -> String {
        var result: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            result.append(byte)
            guard byte == UInt8(ascii: "[") else { continue }
            let digits = rest.prefix { $0.isASCIIDigit }
            if rest.first == UInt8(ascii: "\"") {
                let length = quotedLength(rest)
                result += rest.prefix(length)
                rest = rest.dropFirst(length)
            } else if !digits.isEmpty, rest[digits.endIndex...].first == UInt8(ascii: "]") {
                result.append(UInt8(ascii: "*"))
                rest = rest[digits.endIndex...]
            }
        }
        return result.text
    }

    /// Of a text in quotes, with both.
    private static func quotedLength(_ text: ArraySlice<UInt8>) -> Int {
        var isEscaped = false
        for (index, byte) in text.enumerated() where index > 0 {
            if byte == UInt8(ascii: "\""), !isEscaped { return index + 1 }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return text.count
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
    private let trailers: [MatchRule.Item]
    private let requestTrailers: [MatchRule.Item]
    /// Whether there is more to it than is looked at.
    let isPartial: Bool

    /// In bytes of one content.
    private static let limit = 1 << 20

    init?(_ id: Int64, _ source: any TrafficSource) throws {
        guard let record = try source.exchange(id),
            var facts = RecordedHeads.request(of: record),
            let head = RecordedHeads.response(record.responseHead)
        else { return nil }
        let isLong = [record.requestBody, record.responseBody].map {
            $0.size > Self.limit || $0.isTruncated
        }
        let type = head.fields.first(.contentType) ?? []
        let isStream = MediaType(type).isEventStream
        if !isLong[0] {
            facts.body = BodyForm(try Self.bytes(of: id, .request, source), of: facts.fields)
        }
        request = facts
        response = head
        content = BodyForm.decoded(try Self.bytes(of: id, .response, source), head.fields)
        contentForm = isLong[1] || isStream ? .none : BodyForm(content, type: type)
        trailers = Self.trailers(of: record.responseBody)
        requestTrailers = Self.trailers(of: record.requestBody)
        isPartial = isLong.contains(true) || isStream || facts.opensWebSocket
    }

    private static func trailers(of body: BodyRecord) -> [MatchRule.Item] {
        let fields = RecordedHeads.trailers(body.trailers)
        return fields.slices.map { slice in
            MatchRule.Item(
                part: .trailer(fields.name(slice).text.lowercased()),
                value: fields.value(slice).text)
        }
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

    /// A rule for each part that differs, with how.
    func changes(to other: Sample) -> [(ReplayRule, MatchDifference)] {
        var changes: [(ReplayRule, MatchDifference)] = []
        var differences = MatchRule().differences(recorded: request, live: other.request)
        let known = Set(differences.map(\.part))
        differences += MatchRule.differences(
            Self.items(of: request.fields) + requestTrailers,
            Self.items(of: other.request.fields) + other.requestTrailers
        ).filter { !known.contains($0.part) }
        for difference in differences {
            var isEchoed = echoes(difference.recorded) && other.echoes(difference.live)
            // Trailers count in 'replay diff' alone.
            if case .trailer = difference.part { isEchoed = false }
            let rule = ReplayRule(
                isEchoed ? .substitute : .ignore, .request,
                VolatileParts.generalized(difference.part))
            changes.append((rule, difference))
        }
        for difference in MatchRule.differences(responseItems, other.responseItems) {
            let rule = ReplayRule(.ignore, .response, VolatileParts.generalized(difference.part))
            changes.append((rule, difference))
        }
        return changes
    }

    private var responseItems: [MatchRule.Item] {
        let content = contentForm.fields.map {
            MatchRule.Item(part: .body($0.path), value: $0.value)
        }
        return [MatchRule.Item(part: .status, value: String(response.status))]
            + Self.items(of: response.fields) + content + trailers
    }

    /// The fields that a comparison counts.
    private static func items(of fields: Fields) -> [MatchRule.Item] {
        fields.slices.compactMap { slice in
            let name = fields.name(slice).text.lowercased()
            guard !PassingFields.madeUp.contains(name), !PassingFields.framing.contains(name) else {
                return nil
            }
            return MatchRule.Item(part: .header(name), value: fields.value(slice).text)
        }
    }

    /// Whether the response holds a value of the request.
    private func echoes(_ value: String?) -> Bool {
        guard let value else { return false }
        let bare = Substitution.bare(value)
        guard bare.count >= Substitution.leastLength else { return false }
        return content.holds(bare) || response.raw.holds(bare)
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
