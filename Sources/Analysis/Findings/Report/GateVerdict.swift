internal import Base

/// What a gate comes to, and why.
package struct GateVerdict: Sendable {
    /// The raw values are a contract.
    package enum Kind: String, Sendable {
        case clean
        case findings
        /// A request had no recorded answer.
        case missed
        case inconclusive
    }

    /// Why the verdict cannot be a clean one; the codes are a contract.
    package struct Reason: Sendable {
        package let code: String
        package let text: String

        package init(code: String, text: String) {
            self.code = code
            self.text = text
        }
    }

    package let kind: Kind
    /// What was not seen, whatever outweighs it.
    package let reasons: [Reason]
    /// What the kind stands for, in words; `nil` if that says all.
    private let detail: String?

    /// A finding that fails outweighs a missed answer, and both what could not be seen.
    ///
    /// - Parameters:
    ///   - besides: reasons that are not the traffic's own.
    ///   - missed: what had no recorded answer, in words; `nil` if nothing had none.
    ///   - isAccepted: whether what was found is what may be there from now on.
    package init(
        _ report: FindingsReport, besides: [Reason] = [], missed: String? = nil,
        isAccepted: Bool = false
    ) {
        reasons = report.reasons.map { Reason(code: $0.code, text: $0.text) } + besides
        let failed = isAccepted ? 0 : report.findings.count(where: report.fails)
        let level = "(--fail-on \(report.gate.standard.text))"
        if failed > 0 {
            kind = .findings
            detail = Quantity.text(failed, "finding") + (failed == 1 ? " fails " : " fail ") + level
        } else if let missed {
            kind = .missed
            detail = missed
        } else {
            kind = reasons.isEmpty ? .clean : .inconclusive
            let isNoted = kind == .clean && !isAccepted && !report.findings.isEmpty
            detail = isNoted ? "nothing fails \(level)" : nil
        }
    }

    /// What is told last, in the words of the table of exit codes.
    package var text: String {
        let unseen = reasons.map(\.text).joined(separator: "; ")
        let rest: String? =
            if unseen.isEmpty { nil } else if kind == .inconclusive { unseen } else {
                "not everything was seen: \(unseen)"
            }
        let parts = [detail, rest].compactMap { $0 }.joined(separator: "; ")
        return "verdict: \(kind.rawValue)" + (parts.isEmpty ? "" : ": \(parts)")
    }
}
