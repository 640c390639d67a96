internal import Base
internal import Redaction
internal import Traffic

/// One comparison on its way: goes through what was aligned and fills the report.
struct ComparisonRun {
    typealias Side = (subject: CaptureComparison.Subject, signatures: [ExchangeSignature])

    private let configuration: ComparisonConfiguration
    private let left: Side
    private let right: Side
    private let alignment: Alignment
    private(set) var report: ComparisonReport
    private var timings = TimingGroups()

    init(
        _ configuration: ComparisonConfiguration, _ left: Side, _ right: Side,
        _ alignment: Alignment
    ) {
        self.configuration = configuration
        self.left = left
        self.right = right
        self.alignment = alignment
        report = ComparisonReport(left: left.subject.name, right: right.subject.name)
        report.counts.left = left.signatures.count
        report.counts.right = right.signatures.count
    }

    mutating func go() throws {
        // There is nothing to align with; what there is on one side says nothing of the other.
        guard !report.isInconclusive else { return }
        let repeats = Repeats(left.signatures, right.signatures, alignment)
        for step in steps() {
            switch step.kind {
            case .pair(let pair): try take(pair)
            case .removed(let place):
                report.counts.removed += 1
                if takesMore() { report.entries.append(try removed(place, repeats)) }
            case .added(let place):
                report.counts.added += 1
                if takesMore() { report.entries.append(try added(place, repeats)) }
            }
        }
        try tellTimings()
    }

    // MARK: Order

    private struct Step {
        enum Kind {
            case pair(Alignment.Pair)
            case removed(Int)
            case added(Int)
        }

        let position: Int
        let kind: Kind
    }

    /// Everything in the order of the left capture, what was added behind what it follows.
    private func steps() -> [Step] {
        var steps = alignment.pairs.map { Step(position: $0.left, kind: .pair($0)) }
        steps += alignment.removed.map { Step(position: $0, kind: .removed($0)) }
        steps.sort { $0.position < $1.position }
        let inOrder = alignment.pairs.filter { !$0.isMoved }
        var next = 0
        var anchor = -1
        var addedSteps: [Step] = []
        for place in alignment.added {
            while next < inOrder.count, inOrder[next].right < place {
                anchor = inOrder[next].left
                next += 1
            }
            addedSteps.append(Step(position: anchor, kind: .added(place)))
        }
        return Self.merged(steps, addedSteps)
    }

    private static func merged(_ steps: [Step], _ added: [Step]) -> [Step] {
        var result: [Step] = []
        var rest = added[...]
        while rest.first.map({ $0.position < 0 }) ?? false { result.append(rest.removeFirst()) }
        for step in steps {
            result.append(step)
            while let first = rest.first, first.position <= step.position {
                result.append(first)
                rest.removeFirst()
            }
        }
        return result + rest
    }

    // MARK: Entries

    private mutating func take(_ pair: Alignment.Pair) throws {
        let (before, after) = (left.signatures[pair.left], right.signatures[pair.right])
        timings.add(before, after, place: pair.left)
        if pair.isMoved { report.counts.moved += 1 }
        let isEqual = before.isEqual(to: after)
        if isEqual && !(pair.isMoved && configuration.withNotes) {
            report.counts.equal += 1
            return
        }
        let comparison = try comparison(of: pair)
        let differences = try isEqual ? [] : comparison.differences()
        let isDifferent = differences.contains { !$0.isNote }
        if isDifferent {
            report.counts.different += 1
        } else {
            report.counts.equal += 1
            if !differences.isEmpty { report.counts.noted += 1 }
        }
        let hasNotes = pair.isMoved || !differences.isEmpty
        if isDifferent || configuration.withNotes && hasNotes, takesMore() {
            report.entries.append(entry(comparison, differences, isMoved: pair.isMoved))
        }
    }

    /// Whether one more entry is told; it is counted otherwise.
    private mutating func takesMore() -> Bool {
        guard report.entries.count >= configuration.entryLimit else { return true }
        report.omitted += 1
        return false
    }

    private func comparison(of pair: Alignment.Pair) throws -> ExchangeComparison {
        let (before, after) = (try record(left, pair.left), try record(right, pair.right))
        var comparison = ExchangeComparison(
            configuration: configuration,
            left: .init(before, left.signatures[pair.left], left.subject.source),
            right: .init(after, right.signatures[pair.right], right.subject.source))
        // What is not told is counted: nothing need be masked, nor be looked for twice.
        if report.entries.count >= configuration.entryLimit {
            comparison.isBrief = true
            comparison.configuration.withSecrets = true
            comparison.configuration.differenceLimit = 0
        }
        return comparison
    }

    private func entry(
        _ comparison: ExchangeComparison, _ differences: [Difference], isMoved: Bool
    ) -> ComparisonReport.Entry {
        var told = configuration.withNotes ? differences : differences.filter { !$0.isNote }
        let isCut = told.count > configuration.differenceLimit
        // What counts goes before notes.
        if isCut, told.contains(where: { !$0.isNote }) { told.removeAll(where: \.isNote) }
        let (left, right) = named(comparison.left.record, comparison.right.record)
        return ComparisonReport.Entry(
            left: left, right: right, isMoved: isMoved,
            differences: Array(told.prefix(configuration.differenceLimit)), isCut: isCut)
    }

    private func removed(_ place: Int, _ repeats: Repeats) throws -> ComparisonReport.Entry {
        ComparisonReport.Entry(
            left: try exchange(left, place), right: nil,
            repeats: repeats.left(left.signatures[place]))
    }

    private func added(_ place: Int, _ repeats: Repeats) throws -> ComparisonReport.Entry {
        ComparisonReport.Entry(
            left: nil, right: try exchange(right, place),
            repeats: repeats.right(right.signatures[place]))
    }

    private func exchange(_ side: Side, _ place: Int) throws -> ComparisonReport.Exchange {
        named(try record(side, place))
    }

    private func record(_ side: Side, _ place: Int) throws -> ExchangeRecord {
        let id = side.signatures[place].id
        guard let record = try side.subject.source.exchange(id) else {
            throw Failure("no-such-exchange", party: .tool, "no exchange has the number \(id)")
        }
        return record
    }

    private func named(
        _ left: ExchangeRecord, _ right: ExchangeRecord
    ) -> (left: ComparisonReport.Exchange, right: ComparisonReport.Exchange) {
        let name = named(left)
        guard left.requestHead == right.requestHead, left.scheme == right.scheme,
            left.authority == right.authority
        else { return (name, named(right)) }
        return (
            name,
            ComparisonReport.Exchange(
                id: right.id, method: name.method, url: name.url, status: status(of: right))
        )
    }

    private func status(of record: ExchangeRecord) -> Int? {
        record.status == 0 ? nil : record.status
    }

    private func named(_ record: ExchangeRecord) -> ComparisonReport.Exchange {
        let target = RequestTargetParts(record.requestHead)
        let origin = Array("\(record.scheme.rawValue)://\(record.authority)".utf8)
        let isPath = record.requestHead[target.path].first == UInt8(ascii: "/")
        let url = isPath ? origin + record.requestHead[target.path.lowerBound..<target.end] : origin
        return ComparisonReport.Exchange(
            id: record.id, method: record.requestHead[target.method].text,
            url: shownLine(configuration.withSecrets ? url : URLRedaction.redact(url)),
            status: status(of: record))
    }

    // MARK: Timing

    private mutating func tellTimings() throws {
        for group in timings.groups.values.sorted(by: { $0.place < $1.place }) {
            guard let difference = TimingDifference(group.left, group.right) else { continue }
            let record = try record(left, group.place)
            let target = RequestTargetParts(record.requestHead)
            let path = PathTemplate.text(record.requestHead[target.path])
            report.timings.append(
                ComparisonReport.Timing(
                    method: record.requestHead[target.method].text, authority: record.authority,
                    path: configuration.withSecrets ? path : URLRedaction.redact(path),
                    difference: difference))
        }
    }
}

/// The durations of pairs, by place.
private struct TimingGroups {
    struct Group {
        /// Of one of its exchanges on the left.
        let place: Int
        var left: [Int64] = []
        var right: [Int64] = []
    }

    private(set) var groups: [Int: Group] = [:]

    mutating func add(_ left: ExchangeSignature, _ right: ExchangeSignature, place: Int) {
        guard left.durationMicroseconds >= 0, right.durationMicroseconds >= 0 else { return }
        groups[left.group, default: Group(place: place)].left.append(left.durationMicroseconds)
        groups[left.group]?.right.append(right.durationMicroseconds)
    }
}

/// Which exchange a lone one repeats: one with the same request that has a counterpart.
private struct Repeats {
    private struct Request: Hashable {
        let group: Int
        let target: Int
        let body: Int

        init(_ signature: ExchangeSignature) {
            (group, target, body) = (signature.group, signature.target, signature.requestBody)
        }
    }

    private var leftRequests: [Request: Int64] = [:]
    private var rightRequests: [Request: Int64] = [:]

    init(
        _ left: [ExchangeSignature], _ right: [ExchangeSignature], _ alignment: Alignment
    ) {
        let (wantsLeft, wantsRight) = (!alignment.removed.isEmpty, !alignment.added.isEmpty)
        guard wantsLeft || wantsRight else { return }
        for pair in alignment.pairs.reversed() {
            let (before, after) = (left[pair.left], right[pair.right])
            if wantsLeft { leftRequests[Request(before)] = before.id }
            if wantsRight { rightRequests[Request(after)] = after.id }
        }
    }

    func left(_ signature: ExchangeSignature) -> Int64? { leftRequests[Request(signature)] }

    func right(_ signature: ExchangeSignature) -> Int64? { rightRequests[Request(signature)] }
}
