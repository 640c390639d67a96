internal import Base
internal import HTTPServer

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

    /// How many are judged at once.
    package static let countLimit = 16

    package static let words = [
        "no-byte-twice", "if-range", "retries:N[:TIME]", "no-cleartext", "whole", "parallel:N",
    ]

    package struct Verdict: Sendable, Equatable {
        package enum Outcome: String, Sendable {
            case passed, failed
            /// The records do not tell.
            case unseen
        }

        package let outcome: Outcome
        /// What was not right, or nearly was, or why nothing can be said.
        package let explanations: [String]
    }

    /// - Parameter records: by client, and then in the order of its requests.
    ///
    /// Complexity: O(n log n), but for what clients left behind that did not read to the end.
    package func judge(_ records: [JournalRecord]) -> Verdict {
        let records = records.filter { !$0.target.hasPrefix("/.sallyport/") }
        var sum = JudgementSum()
        switch self {
        case .nothingInClear:
            if !records.isEmpty { sum.add(Self.judgeCleartext(records)) }
        case .parallel(let count):
            for one in Self.groups(records, by: \.client) {
                sum.add(JournalConcurrency.judge(one, atLeast: count))
            }
        case .retries(let limit, let pause):
            for one in Self.groups(records, by: { Target($0, method: $0.method) }) {
                sum.add(Self.retries(one, limit, pause))
            }
        case .noByteTwice:
            for one in Self.groups(records, by: { Target($0) }) {
                sum.add(JournalBytes.judgeOverlaps(one))
            }
        case .coversWhole:
            for one in Self.groups(records, by: { Target($0) }) {
                sum.add(JournalBytes.judgeWhole(one))
            }
        case .resumesWithIfRange:
            for one in Self.groups(records, by: { Target($0) }) {
                sum.add(Self.blindResumptions(one))
            }
        }
        return sum.verdict
    }

    /// What is judged together. A beginning may be had by a URL with faults, and the rest by the one
    /// without.
    private struct Target: Hashable {
        let client: String
        let host: String
        let hash: Int
        let method: String

        init(_ record: JournalRecord, method: String = "") {
            (client, host, hash) = (record.client, record.host, record.targetHash)
            self.method = method
        }
    }

    /// In the order of their first records.
    private static func groups(
        _ records: [JournalRecord], by key: (JournalRecord) -> some Hashable
    ) -> [[JournalRecord]] {
        Dictionary(grouping: records.indices) { key(records[$0]) }.values
            .sorted { $0[0] < $1[0] }.map { $0.map { records[$0] } }
    }

    private static func judgeCleartext(_ records: [JournalRecord]) -> Judgement {
        .found(
            records.filter { $0.scheme == "http" }.map {
                "\(name($0)) went to http://\($0.host)\($0.target)"
            })
    }

    private static func blindResumptions(_ records: [JournalRecord]) -> Judgement {
        // An answer without bytes, such as to HEAD, tells nothing of those that the client has.
        var answers = records.filter { !$0.sentBytes(0).isEmpty }
            .compactMap { record in record.answered.map { (at: $0, record: record) } }
            .sorted { $0.at < $1.at }[...]
        var known = KnownAnswers()
        var (found, isUnsure, isAny) = ([String](), false, false)
        for record in records {
            // Nobody can name what was told behind the request.
            while let next = answers.first, next.at < record.begun {
                known.add(next.record)
                answers.removeFirst()
            }
            guard let from = record.askedFrom, let last = known.last else { continue }
            isAny = true
            guard !known.mayHave(ifRange(of: record)),
                let blindness = blindness(record, from, known.sure ?? last)
            else { continue }
            if known.sure == nil { isUnsure = true } else { found.append(blindness) }
        }
        guard found.isEmpty, isUnsure else { return isAny ? .found(found) : .nothing }
        return .unsure("nobody knows whether the client got what it goes on with")
    }

    /// What a client may go on with: of what it has surely got bytes of, the last, and all behind it
    /// that it may have got bytes of.
    private struct KnownAnswers {
        private(set) var sure: JournalRecord?
        private(set) var last: JournalRecord?
        /// The validators of those that it may have.
        private var doubtful: Set<String> = []

        mutating func add(_ record: JournalRecord) {
            last = record
            guard record.sentBytes(0).allSatisfy(\.sure.isEmpty) else {
                (sure, doubtful) = (record, [])
                return
            }
            doubtful.formUnion([record.entityTag, record.lastModified].compactMap(\.self))
        }

        /// A weak tag never matches.
        func mayHave(_ condition: String?) -> Bool {
            condition.map { !$0.hasPrefix("W/") && doubtful.contains($0) } ?? false
        }
    }

    private static func ifRange(of record: JournalRecord) -> String? {
        let name = "if-range: "
        return record.conditions.first { $0.lowercased().hasPrefix(name) }
            .map { String($0.dropFirst(name.count)) }
    }

    private static func blindness(
        _ record: JournalRecord, _ from: UInt64, _ known: JournalRecord
    ) -> String? {
        let what = "\(name(record)) goes on at byte \(from) of \(record.target)"
        guard let value = ifRange(of: record) else {
            let other = record.conditions.first.map { " (it has \($0))" } ?? ""
            return "\(what) without If-Range\(other)"
        }
        if value.hasPrefix("W/") { return "\(what) with a weak tag, which never matches" }
        guard value != known.entityTag, value != known.lastModified else { return nil }
        return "\(what) with If-Range \(value.isEmpty ? "that is empty" : value), but"
            + " \(name(known)) got \(known.entityTag ?? known.lastModified ?? "no validator")"
    }

    private static func retries(
        _ records: [JournalRecord], _ limit: UInt64, _ pause: UInt64
    ) -> Judgement {
        let pairs = zip(records, records.dropFirst()).filter { isRetry($1, of: $0) }
        var found: [String] = []
        if let first = records.first, UInt64(pairs.count) > limit {
            found.append(
                "\(first.client) asked \(pairs.count + 1) times for \(first.resource), that is"
                    + " \(pairs.count) retries where \(limit) are allowed")
        }
        for (earlier, later) in pairs {
            let gap = later.begunAt - min(earlier.begunAt, later.begunAt)
            guard gap < pause else { continue }
            found.append(
                "\(name(later)) came \(gap) ms behind \(name(earlier)), where \(pause) ms are asked"
                    + " for")
        }
        return .found(found)
    }

    /// Whether a request asks for the same again: one that brings content may bring another, unless
    /// the one before it has failed.
    private static func isRetry(_ later: JournalRecord, of earlier: JournalRecord) -> Bool {
        if ["GET", "HEAD", "OPTIONS", "DELETE"].contains(later.method) { return true }
        guard let sent = earlier.sent else { return false }
        return sent.end != .whole || earlier.status >= 400
    }

    static func name(_ record: JournalRecord) -> String {
        "request \(record.ordinal) of \(record.client)"
    }
}
