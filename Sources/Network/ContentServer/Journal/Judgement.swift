/// What an assertion makes of the records that it judges together.
enum Judgement {
    /// They have nothing of what it judges.
    case nothing
    /// What was not right; empty if all was.
    ///
    /// - count: of all that was not right, of which a part may be told.
    case wrong([String], count: Int)
    /// They do not tell, and why.
    case unsure(String)

    static let right = wrong([], count: 0)

    static func found(_ explanations: [String]) -> Judgement {
        .wrong(explanations, count: explanations.count)
    }
}

/// Judgements put together: one that is wrong decides, and then one that is unsure.
struct JudgementSum {
    private var explanations: [String] = []
    private var count = 0
    private var doubts: [String] = []
    private var isEmpty = true

    mutating func add(_ judgement: Judgement) {
        switch judgement {
        case .nothing: return
        case .wrong(let found, let count):
            explanations += found.prefix(Self.limit - explanations.count)
            self.count += count
        case .unsure(let why): doubts.append(why)
        }
        isEmpty = false
    }

    var verdict: JournalAssertion.Verdict {
        if count > 0 { return verdict(.failed, explanations, count) }
        let isUnsure = isEmpty || !doubts.isEmpty
        return verdict(
            isUnsure ? .unseen : .passed, Array(doubts.prefix(Self.limit)), doubts.count)
    }

    private func verdict(
        _ outcome: JournalAssertion.Verdict.Outcome, _ shown: [String], _ count: Int
    ) -> JournalAssertion.Verdict {
        let rest = count - shown.count
        return JournalAssertion.Verdict(
            outcome: outcome, explanations: shown + (rest > 0 ? ["and \(rest) more"] : []))
    }

    /// Of what is told.
    static let limit = 20
}
