internal import Base
internal import Contents
internal import Replay
internal import Traffic

/// Tells the messages of one direction apart, in their order.
///
/// What both sides have is passed over; between, messages of one sort stand for each other, and
/// then those of one place. JSON is told by path, other contents as those of exchanges are.
struct MessageDifference {
    private let side: Difference.Side
    private let configuration: ComparisonConfiguration
    private let keys: MessageKeys
    private var found: [Difference] = []
    private var noteCount = 0

    static func differences(
        _ left: ComparedMessages, _ right: ComparedMessages, side: Difference.Side,
        configuration: ComparisonConfiguration
    ) -> [Difference] {
        var difference = MessageDifference(side, configuration)
        guard !configuration.rules.ignoresContents(side.rule) else { return [] }
        difference.compare(left.messages, right.messages)
        if left.rest != right.rest {
            let place = (left.rest == nil ? right : left).messages.count
            let rest = Difference(side, .message, "and on", from: left.rest, to: right.rest)
            difference.append(rest, to: place)
        }
        return difference.found
    }

    private init(_ side: Difference.Side, _ configuration: ComparisonConfiguration) {
        self.side = side
        self.configuration = configuration
        keys = MessageKeys(side, configuration.rules)
    }

    private mutating func compare(_ left: [ComparedMessage], _ right: [ComparedMessage]) {
        for run in SequenceDifference.runs(left.map(keys.content), right.map(keys.content)) {
            let sorts = (
                left[run.left].map(keys.sort), right[run.right].map(keys.sort)
            )
            // Where the sorts agree, the messages differ in the rest.
            var (next, other) = (run.left.lowerBound, run.right.lowerBound)
            for gap in SequenceDifference.runs(sorts.0, sorts.1) {
                let start = run.left.lowerBound + gap.left.lowerBound
                pair(left, next..<start, right, from: other)
                let (before, after) = (gap.left.count, gap.right.count)
                let otherStart = run.right.lowerBound + gap.right.lowerBound
                for offset in 0..<max(before, after) {
                    compare(
                        left, offset < before ? start + offset : nil, right,
                        offset < after ? otherStart + offset : nil)
                }
                (next, other) = (start + before, otherStart + after)
            }
            pair(left, next..<run.left.upperBound, right, from: other)
        }
    }

    private mutating func pair(
        _ left: [ComparedMessage], _ range: Range<Int>, _ right: [ComparedMessage], from start: Int
    ) {
        for (offset, index) in range.enumerated() { compare(left, index, right, start + offset) }
    }

    private mutating func compare(
        _ left: [ComparedMessage], _ index: Int?, _ right: [ComparedMessage], _ other: Int?
    ) {
        guard found.count - noteCount <= configuration.differenceLimit else { return }
        let place = index ?? other ?? 0
        guard let index, let other, left[index].kind == right[other].kind else {
            let difference = Difference(
                side, .message, "", from: index.map { shown(left[$0]) },
                to: other.map { shown(right[$0]) })
            return append(difference, to: place)
        }
        let (before, after) = (left[index], right[other])
        for difference in labels(before, after) { append(difference, to: place) }
        guard !before.holdsSame(as: after) else { return }
        for difference in contents(of: place).differences(content(before), content(after)) {
            append(difference, to: place)
        }
    }

    private mutating func append(_ difference: Difference, to place: Int) {
        if difference.isNote {
            guard noteCount <= configuration.differenceLimit else { return }
            noteCount += 1
        }
        var difference = difference
        difference.message = place + 1
        found.append(difference)
    }

    // MARK: Parts of messages

    private func labels(_ left: ComparedMessage, _ right: ComparedMessage) -> [Difference] {
        var names: [String] = []
        for label in left.labels + right.labels where !names.contains(label.name) {
            names.append(label.name)
        }
        return names.compactMap { name in
            let before = left.labels.last { $0.name == name }?.value
            let after = right.labels.last { $0.name == name }?.value
            guard before != after else { return nil }
            return Difference(
                side, .message, name, from: before.map { shownText($0.utf8) },
                to: after.map { shownText($0.utf8) })
        }
    }

    private func contents(of place: Int) -> ContentDifference {
        var difference = ContentDifference(side: side, configuration: configuration)
        difference.formPrefix = "[\(place)]."
        return difference
    }

    private func content(_ message: ComparedMessage) -> ContentDifference.Content {
        var content = ContentDifference.Content()
        content.bytes = message.bytes
        content.size = message.size
        content.isWhole = message.isWhole
        content.masked = message.masked
        if message.kind == .grpc {
            content.types = [message.labels.isEmpty ? Self.protobuf : Self.bytes]
        } else if message.masked == nil, message.kind != .binary, message.isJSON {
            content.types = [Self.json]
        }
        return content
    }

    /// A message that has no counterpart.
    private func shown(_ message: ComparedMessage) -> String {
        let labels = message.labels.map { "\($0.name) \($0.value)" }
        var texts = [shownText(labels.joined(separator: ", ").utf8)]
        if !message.bytes.isEmpty || labels.isEmpty {
            texts.append(contents(of: 0).shownWhole(content(message)))
        }
        return texts.filter { !$0.isEmpty }.joined(separator: ": ")
    }

    private static let json = Array("application/json".utf8)
    private static let protobuf = Array("application/x-protobuf".utf8)
    private static let bytes = Array("application/octet-stream".utf8)
}

extension ComparedMessage {
    fileprivate var isJSON: Bool {
        JSONTokenizer.mayBegin(bytes[...]) && JSONDocument(bytes) != nil
    }
}
