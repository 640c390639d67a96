internal import Base

/// Something that a client must have done right, judged over what the journal has of it.
package enum JournalAssertion: Sendable, Equatable {
    /// No byte went to the same client twice.
    case noByteTwice
    /// Who goes on behind a beginning names the version that it has (RFC 9110 §13.1.5).
    case resumesWithIfRange
    /// Nothing is asked for more than so many times again, and not before so many milliseconds.
    case retries(atMost: UInt64, milliseconds: UInt64)
    /// Nothing in cleartext.
    case nothingInClear
    /// All bytes of each representation went out.
    case coversWhole
    /// So many requests of a client went on at once, at some time.
    case parallel(atLeast: UInt64)

    /// As it is written: `no-byte-twice`, `if-range`, `retries:3:1s`, `no-cleartext`, `whole`,
    /// `parallel:4`.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count) {
        case ("no-byte-twice", 1): self = .noByteTwice
        case ("if-range", 1): self = .resumesWithIfRange
        case ("no-cleartext", 1): self = .nothingInClear
        case ("whole", 1): self = .coversWhole
        case ("parallel", 2):
            guard let count = decimal([UInt8](parts[1].utf8)) else { return nil }
            self = .parallel(atLeast: count)
        case ("retries", 2...3):
            guard let count = decimal([UInt8](parts[1].utf8)),
                let time = parts.count == 3 ? Quantity.microseconds(parts[2]) : 0
            else { return nil }
            self = .retries(atMost: count, milliseconds: UInt64(time / 1000))
        default: return nil
        }
    }

    package static let words = [
        "no-byte-twice", "if-range", "retries:N[:TIME]", "no-cleartext", "whole", "parallel:N",
    ]

    package struct Verdict: Sendable, Equatable {
        package enum Outcome: String, Sendable {
            case passed, failed
            /// No record says anything about it.
            case unseen
        }

        package let outcome: Outcome
        /// What was not right, or nearly was.
        package let explanations: [String]
    }

    /// - Parameter records: by client, and then in the order of its requests.
    package func judge(_ records: [JournalRecord]) -> Verdict {
        let records = records.filter { !$0.target.hasPrefix("/.sallyport/") }
        guard !records.isEmpty else { return Verdict(outcome: .unseen, explanations: []) }
        var found: [String] = []
        if self == .nothingInClear {
            found = records.filter { $0.scheme == "http" }.map {
                "\(Self.name($0)) went to http://\($0.host)\($0.target)"
            }
        } else if case .parallel(let count) = self {
            found = Self.serial(records, count)
        } else {
            // A beginning may be had by a URL with faults, and the rest by the one without.
            let groups = Dictionary(grouping: records) {
                "\($0.client) \($0.host) \($0.resource)"
            }
            let judged = groups.keys.sorted().compactMap { judge(one: groups[$0] ?? []) }
            guard !judged.isEmpty else { return Verdict(outcome: .unseen, explanations: []) }
            found = judged.flatMap(\.self)
        }
        let shown = found.prefix(Self.limit)
        let rest = found.count - shown.count
        return Verdict(
            outcome: found.isEmpty ? .passed : .failed,
            explanations: shown + (rest > 0 ? ["and \(rest) more"] : []))
    }

    /// - Parameter records: the requests of one client for one target.
    /// - Returns: what was not right; `nil` if there is nothing to judge.
    private func judge(one records: [JournalRecord]) -> [String]? {
        switch self {
        case .noByteTwice: Self.overlaps(records)
        case .resumesWithIfRange: Self.blindResumptions(records)
        case .retries(let limit, let pause): Self.retries(records, limit, pause)
        case .coversWhole: Self.gaps(records)
        case .nothingInClear, .parallel: []
        }
    }

    private static func serial(_ records: [JournalRecord], _ count: UInt64) -> [String] {
        let clients = Dictionary(grouping: records, by: \.client)
        return clients.keys.sorted().compactMap { client in
            let most = 1 + (clients[client]?.map(\.alongside).max() ?? 0)
            guard most < count else { return nil }
            return "\(client) had \(most) requests at once at most, where \(count) are asked for"
        }
    }

    private static func overlaps(_ records: [JournalRecord]) -> [String]? {
        var earlier: [(record: JournalRecord, bytes: Range<UInt64>)] = []
        var found: [String] = []
        for record in records.prefix(recordLimit) {
            guard let bytes = record.bytes else { continue }
            for (other, known) in earlier where known.overlaps(bytes) {
                let both = known.clamped(to: bytes)
                found.append(
                    "bytes \(both.lowerBound)-\(both.upperBound - 1) of \(record.target) went out"
                        + " twice, in \(name(other)) and \(name(record))")
            }
            earlier.append((record, bytes))
        }
        return earlier.isEmpty ? nil : found
    }

    private static func blindResumptions(_ records: [JournalRecord]) -> [String]? {
        var known: JournalRecord?
        var found: [String]?
        for record in records {
            defer { if record.status == 200 || record.status == 206 { known = record } }
            guard let from = record.askedFrom, from > 0, let known else { continue }
            found = found ?? []
            let what = "\(name(record)) goes on at byte \(from) of \(record.target)"
            guard
                let condition = record.conditions.first(where: {
                    $0.lowercased().hasPrefix("if-range: ")
                })
            else {
                let other = record.conditions.first.map { " (it has \($0))" } ?? ""
                found?.append("\(what) without If-Range\(other)")
                continue
            }
            let value = condition.dropFirst("if-range: ".count)
            if value.hasPrefix("W/") {
                found?.append("\(what) with a weak tag, which never matches")
            } else if value != known.entityTag ?? "", value != known.lastModified ?? "" {
                found?.append(
                    "\(what) with If-Range \(value), but \(name(known)) got"
                        + " \(known.entityTag ?? known.lastModified ?? "no validator")")
            }
        }
        return found
    }

    private static func retries(
        _ records: [JournalRecord], _ limit: UInt64, _ pause: UInt64
    ) -> [String] {
        var found: [String] = []
        if let first = records.first, UInt64(records.count) > limit + 1 {
            found.append(
                "\(first.client) asked \(records.count) times for \(first.resource), that is"
                    + " \(records.count - 1) retries where \(limit) are allowed")
        }
        for (earlier, later) in zip(records, records.dropFirst()) {
            let gap = later.begunAt - min(earlier.begunAt, later.begunAt)
            guard gap < pause else { continue }
            found.append(
                "\(name(later)) came \(gap) ms behind \(name(earlier)), where \(pause) ms are asked"
                    + " for")
        }
        return found
    }

    private static func gaps(_ records: [JournalRecord]) -> [String] {
        guard let last = records.last(where: { $0.total != nil }), let total = last.total else {
            return records.last.map { ["no response told how long \($0.target) is"] } ?? []
        }
        var (end, missing) = (UInt64(0), [Range<UInt64>]())
        // Bytes of several versions are no whole of any.
        let same = records.filter { $0.validator == last.validator }
        for bytes in same.compactMap(\.bytes).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if end < min(bytes.lowerBound, total) {
                missing.append(end..<min(bytes.lowerBound, total))
            }
            end = max(end, bytes.upperBound)
        }
        if end < total { missing.append(end..<total) }
        guard !missing.isEmpty else { return [] }
        let version = same.count == records.count ? "" : " under \(last.validator)"
        let target = records.first?.target ?? ""
        let ranges = missing.prefix(rangeLimit).map { range in
            range.upperBound == total
                ? "those from \(range.lowerBound) on"
                : "\(range.lowerBound)-\(range.upperBound - 1)"
        }
        let rest = missing.count - ranges.count
        let shown = ranges + (rest > 0 ? ["\(rest) more ranges"] : [])
        return [
            "of the \(total) bytes of \(target)\(version), \(shown.joined(separator: ", "))"
                + " are missing"
        ]
    }

    private static func name(_ record: JournalRecord) -> String {
        "request \(record.ordinal) of \(record.client)"
    }

    private static let limit = 20
    /// Pairs are compared among so many.
    private static let recordLimit = 1000
    /// Of the ranges that one explanation names.
    private static let rangeLimit = 8
}
