internal import HTTPServer

/// Judges how many requests of a client went on at once, by their beginnings and ends.
enum JournalConcurrency {
    /// - Parameter records: of one client.
    static func judge(_ records: [JournalRecord], atLeast count: UInt64) -> Judgement {
        let client = records.first?.client ?? ""
        // When a client left, nobody can tell: it surely was there when it asked.
        let sure = most(records) { $0.sent.map(hasLeft) == true ? $0.begun : $0.ended }
        guard sure < count else { return .right }
        let most = most(records) { $0.ended }
        guard most < count else {
            return .unsure(
                "\(client) had \(most) requests at once at most, but left some of them, and when"
                    + " is not known")
        }
        return .found([
            "\(client) had \(most) requests at once at most, where \(count) are asked for"
        ])
    }

    /// Whether the client went away ahead of its answer, or broke off the connection behind one that
    /// it may not have waited for.
    private static func hasLeft(_ sent: SentResponse) -> Bool {
        sent.end == .left || sent.isDoubtful
    }

    /// - Parameter end: `nil` for a request that goes on.
    private static func most(
        _ records: [JournalRecord], _ end: (JournalRecord) -> UInt64?
    ) -> UInt64 {
        let begins = records.map(\.begun).sorted()
        let ends = records.map { end($0) ?? .max }.sorted()
        var (ended, most) = (0, 0)
        for (index, begin) in begins.enumerated() {
            while ends[ended] < begin { ended += 1 }
            most = max(most, index + 1 - ended)
        }
        return UInt64(most)
    }
}
