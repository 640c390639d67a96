internal import Base
internal import Contents
internal import Traffic

/// ECON-CHATTY: a client that asks again and again for what has not changed.
struct PollingDetector {
    private struct Poll {
        /// How many answers in a row had nothing new.
        var count = 0
        var longest = 0
        var began: Timestamp
        var last: Timestamp
        var seconds: Int64 = 0
        var digest: UInt64?
        let sighting: Sighting
    }

    private var polls: [UInt64: Poll] = [:]

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) {
        let exchange = view.exchange
        guard view.hasOriginResponse, view.method == Array("GET".utf8), isShort(exchange) else {
            return
        }
        let place = evidence.redaction.hash(
            of: Array(exchange.authority.utf8) + Array(view.target.path))
        let start = exchange.startedAt
        guard var poll = polls[place] else {
            guard polls.count < Self.countLimit else { return }
            polls[place] = Poll(
                began: start, last: start, digest: view.responseDigest, sighting: evidence.sighting)
            return
        }
        let interval = start.microseconds - poll.last.microseconds
        let isSame = view.responseDigest != nil && view.responseDigest == poll.digest
        let isEmpty = exchange.status == 204 || exchange.responseBody.size == 0
        if exchange.status == 304 || isSame || isEmpty, (1...Self.interval).contains(interval) {
            poll.count += 1
            if poll.count > poll.longest {
                poll.longest = poll.count
                poll.seconds = (start.microseconds - poll.began.microseconds) / 1_000_000
            }
        } else {
            poll.count = 0
            poll.began = start
        }
        poll.last = start
        if exchange.status == 200 { poll.digest = view.responseDigest }
        polls[place] = poll
    }

    func finish() -> [LateMatch] {
        let found = polls.values.filter { $0.longest >= Self.leastCount }.sorted {
            ($0.sighting.exchange ?? 0) < ($1.sighting.exchange ?? 0)
        }
        return found.map { poll in
            var match = LateMatch(.economyPolling, .low, .firm, at: poll.sighting)
            match.notes = [.measured(.polled(poll.longest, seconds: poll.seconds))]
            return match
        }
    }

    /// One that was held open until there was news is no poll.
    private func isShort(_ exchange: ExchangeRecord) -> Bool {
        exchange.status != 0 && (exchange.durationMicroseconds ?? .max) < 5_000_000
    }

    /// In microseconds.
    private static let interval: Int64 = 60_000_000
    private static let leastCount = 5
    private static let countLimit = 4096
}

extension RuleText {
    static let economyPolling = RuleText(
        title: "Client polls for what has not changed",
        reason: "each question wakes the radio up, and most are for nothing",
        advice: "let the server tell (push, event stream, WebSocket), or ask less often",
        decision:
            "Five or more answers in a row to GETs of one path, each within a minute of the last,"
            + " were 304, empty, or the same content by its digest.",
        exceptions: "Answers that were held back for five seconds or more (long polls).",
        worst: .low,
        weaknesses: [])
}
