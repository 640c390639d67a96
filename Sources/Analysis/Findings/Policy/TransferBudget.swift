internal import Base
internal import Traffic

/// What a run may move, such as that of a task in the background; the raw values are the names of a
/// policy's settings.
package enum BudgetedAmount: String, Sendable, CaseIterable {
    case requests
    /// Of contents, both ways.
    case bytes
    /// From the first request to the last answer.
    case seconds

    func text(_ value: Int64) -> String {
        switch self {
        case .requests: Quantity.text(Int(clamping: value), "request")
        case .bytes: "\(Quantity.text(byteCount: value)) bytes"
        case .seconds: "\(value) s"
        }
    }
}

/// ECON-BUDGET: more was moved than the policy allows; the window is the capture, or what of it is
/// judged.
struct BudgetDetector {
    private var used: [BudgetedAmount: Int64] = [:]
    private var first: Timestamp?
    private var last: Timestamp?

    mutating func examine(_ view: ExchangeView) {
        let exchange = view.exchange
        let start = exchange.startedAt
        let end = Timestamp(
            microseconds: start.microseconds.addingSaturated(exchange.durationMicroseconds ?? 0))
        first = min(first ?? start, start)
        last = max(last ?? end, end)
        let size = exchange.requestBody.size.addingSaturated(exchange.responseBody.size)
        used[.requests] = (used[.requests] ?? 0) + 1
        used[.bytes] = (used[.bytes] ?? 0).addingSaturated(size)
    }

    func finish(_ budget: [BudgetedAmount: Int64]) -> [LateMatch] {
        guard let first, let last else { return [] }
        var used = used
        used[.seconds] = (last.microseconds - first.microseconds) / 1_000_000
        let excess = BudgetedAmount.allCases.compactMap { amount -> FindingNote? in
            guard let limit = budget[amount], let spent = used[amount], spent > limit else {
                return nil
            }
            return .measured(.overBudget(amount, spent, of: limit))
        }
        guard !excess.isEmpty else { return [] }
        var match = LateMatch(.economyBudget, .medium, .certain, at: .ofRun(at: first))
        match.notes = excess
        return [match]
    }
}

extension RuleText {
    static let economyBudget = RuleText(
        title: "More moved than the budget allows",
        reason: "systems end tasks in the background that take long or move much, and users pay",
        advice: "load small things first and the rest when the user asks for it",
        decision:
            "The requests of the capture, or of what a filter takes of it, are more, have larger"
            + " contents, or last longer than the policy's [budget] says.",
        exceptions: "Without a budget in the policy nothing is counted.",
        worst: .medium,
        weaknesses: [])
}
