internal import HTTPServer

/// Judges which bytes of a target went out, over the records of one client for it.
enum JournalBytes {
    // MARK: Twice

    static func judgeOverlaps(_ records: [JournalRecord]) -> Judgement {
        // What bears another tag is made of other bytes.
        let variants = Dictionary(grouping: records.indices) { records[$0].variant }.values
        var isEmpty = true
        var (found, count) = ([String](), 0)
        var doubt: String?
        for places in variants.sorted(by: { $0[0] < $1[0] }) {
            let sent = places.flatMap { records[$0].sentBytes($0) }
            guard !sent.isEmpty else { continue }
            isEmpty = false
            let sure = overlapping(sent, \.sure, limit: JudgementSum.limit - found.count)
            found += sure.pairs.map { explanation($0, $1, records) }
            count += sure.count
            if count == 0, doubt == nil { doubt = self.doubt(sent, records) }
        }
        if count > 0 { return .wrong(found, count: count) }
        if let doubt { return .unsure(doubt) }
        return isEmpty ? .nothing : .right
    }

    /// Which ranges overlap, the earlier record's first: how many pairs, and some of them.
    ///
    /// Complexity: O(n log n), and O(1) for each pair that is returned.
    private static func overlapping(
        _ sent: [SentBytes], _ range: KeyPath<SentBytes, Range<UInt64>>, limit: Int
    ) -> (pairs: [(SentBytes, SentBytes)], count: Int) {
        let sorted = sent.filter { !$0[keyPath: range].isEmpty }.sorted {
            ($0[keyPath: range].lowerBound, $0.record) < ($1[keyPath: range].lowerBound, $1.record)
        }
        let ends = sorted.map { $0[keyPath: range].upperBound }.sorted()
        var (ended, count) = (0, 0)
        var pairs: [(SentBytes, SentBytes)] = []
        for (index, bytes) in sorted.enumerated() {
            while ends[ended] <= bytes[keyPath: range].lowerBound { ended += 1 }
            count += index - ended
            var next = index + 1
            while pairs.count < limit, next < sorted.count,
                sorted[next][keyPath: range].lowerBound < bytes[keyPath: range].upperBound
            {
                let other = sorted[next]
                pairs.append(bytes.record <= other.record ? (bytes, other) : (other, bytes))
                next += 1
            }
        }
        return (pairs, count)
    }

    private static func explanation(
        _ earlier: SentBytes, _ later: SentBytes, _ records: [JournalRecord]
    ) -> String {
        let both = earlier.sure.clamped(to: later.sure)
        let (first, second) = (records[earlier.record], records[later.record])
        let names =
            earlier.record == later.record
            ? JournalAssertion.name(first)
            : "\(JournalAssertion.name(first)) and \(JournalAssertion.name(second))"
        return "bytes \(both.lowerBound)-\(both.upperBound - 1) of \(second.target) went out twice,"
            + " in \(names)"
    }

    /// Why nobody can tell whether bytes reached the client twice; `nil` if that is known, or if it
    /// went on inside of what it may not have got.
    private static func doubt(_ sent: [SentBytes], _ records: [JournalRecord]) -> String? {
        let (pairs, count) = overlapping(sent, \.possible, limit: pairLimit)
        for (earlier, later) in pairs where !goesOn(later, inside: earlier) {
            let open = [earlier, later].first { records[$0.record].sent == nil }
            let name = JournalAssertion.name(records[(open ?? earlier).record])
            return open == nil
                ? "how much of \(name) its client got is not known, and"
                    + " \(JournalAssertion.name(records[later.record])) asks for some of it again"
                : "\(name) is still going on"
        }
        guard count > pairs.count else { return nil }
        return "more than \(pairLimit) pairs of requests for \(records[0].target) may have got the"
            + " same bytes"
    }

    /// Whether a request begins where its client may have lost the earlier one.
    private static func goesOn(_ later: SentBytes, inside earlier: SentBytes) -> Bool {
        earlier.isCutShort && earlier.record < later.record
            && later.possible.lowerBound > earlier.possible.lowerBound
            && later.possible.lowerBound >= earlier.sure.upperBound
    }

    // MARK: Whole

    static func judgeWhole(_ records: [JournalRecord]) -> Judgement {
        let asked = records.filter { $0.method == "GET" || $0.method == "HEAD" }
        let told = asked.filter { !$0.isSubstitute && [200, 206].contains($0.status) }
        guard let last = version(of: told) else { return judgeUntold(asked) }
        // Bytes of several versions are no whole of any.
        let same = told.filter { $0.variant == last.variant }
        guard let total = same.last(where: { $0.total != nil })?.total else {
            return judgeUnmeasured(same)
        }
        let sent = same.indices.flatMap { same[$0].sentBytes($0) }
        let isAlone = same.count == asked.count || last.validator.isEmpty
        let version = isAlone ? "" : " under \(last.validator)"
        let name = "\(records.first?.target ?? "")\(version)"
        let missing = gaps(sent.map(\.possible), in: total)
        guard missing.isEmpty else {
            return .found(["of the \(total) bytes of \(name), \(text(missing, total)) are missing"])
        }
        let unproven = gaps(proven(sent), in: total)
        guard !unproven.isEmpty else { return .right }
        return .unsure(
            "of the \(total) bytes of \(name), whether \(text(unproven, total)) reached the client is"
                + " not known")
    }

    /// What tells the version that counts: the last that has a validator, if any has, and bytes.
    private static func version(of told: [JournalRecord]) -> JournalRecord? {
        told.last { !$0.validator.isEmpty && !$0.parts.isEmpty }
            ?? told.last { !$0.validator.isEmpty }
            ?? told.last { !$0.parts.isEmpty } ?? told.last
    }

    private static func judgeUntold(_ asked: [JournalRecord]) -> Judgement {
        guard let last = asked.last(where: { !(300..<400).contains($0.status) }) else {
            // What the client has already, or finds elsewhere.
            return .nothing
        }
        if last.status == 0 { return .unsure("\(JournalAssertion.name(last)) is still going on") }
        return .found(["no response told how long \(last.target) is"])
    }

    /// A content that is made while it is sent has no length, but an end.
    private static func judgeUnmeasured(_ same: [JournalRecord]) -> Judgement {
        let whole = same.filter { $0.status == 200 && $0.sent?.end == .whole && !$0.parts.isEmpty }
        if whole.contains(where: { $0.sent?.isDoubtful == false }) { return .right }
        if let doubtful = whole.first ?? same.first(where: { $0.sent == nil }) {
            return .unsure(
                "how much of \(JournalAssertion.name(doubtful)) its client got is not known")
        }
        return .found(["no response told how long \(same.last?.target ?? "") is"])
    }

    /// The bytes that the client surely has. One that goes on inside of what was cut short has all
    /// that was sent ahead of there.
    ///
    /// Complexity: O(n log n), and `pairLimit` pairs: what is behind these stays unproven.
    private static func proven(_ sent: [SentBytes]) -> [Range<UInt64>] {
        // Of those that begin at one place, the last one goes on inside of the most others.
        let last = Dictionary(sent.map { ($0.possible.lowerBound, $0) }) {
            $0.record < $1.record ? $1 : $0
        }
        let places = last.values.sorted { $0.possible.lowerBound < $1.possible.lowerBound }
        var pairsLeft = pairLimit
        return sent.map { bytes in
            guard bytes.isCutShort else { return bytes.sure }
            var next = endIndex(of: places, for: bytes) - 1
            while next >= 0, pairsLeft > 0,
                places[next].possible.lowerBound >= bytes.sure.upperBound
            {
                pairsLeft -= 1
                if goesOn(places[next], inside: bytes) {
                    return bytes.possible.lowerBound..<places[next].possible.lowerBound
                }
                next -= 1
            }
            return bytes.sure
        }
    }

    /// Behind the last place at which a request may go on inside of what was sent.
    private static func endIndex(of places: [SentBytes], for bytes: SentBytes) -> Int {
        var range = places.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let place = places[middle].possible.lowerBound
            // What is behind the end of what was asked for is another part.
            if place <= bytes.possible.upperBound, place < bytes.planned.upperBound {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    private static func gaps(_ ranges: [Range<UInt64>], in total: UInt64) -> [Range<UInt64>] {
        var (end, missing) = (UInt64(0), [Range<UInt64>]())
        for bytes in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if end < min(bytes.lowerBound, total) {
                missing.append(end..<min(bytes.lowerBound, total))
            }
            end = max(end, bytes.upperBound)
        }
        if end < total { missing.append(end..<total) }
        return missing
    }

    private static func text(_ missing: [Range<UInt64>], _ total: UInt64) -> String {
        let ranges = missing.prefix(rangeLimit).map { range in
            range.upperBound == total
                ? "those from \(range.lowerBound) on"
                : "\(range.lowerBound)-\(range.upperBound - 1)"
        }
        let rest = missing.count - ranges.count
        return (ranges + (rest > 0 ? ["\(rest) more ranges"] : [])).joined(separator: ", ")
    }

    /// Of the ranges that one explanation names.
    private static let rangeLimit = 8
    /// Of the pairs that are looked at where nothing is sure.
    private static let pairLimit = 100_000
}
