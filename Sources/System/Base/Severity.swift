/// How much harm what was found can do.
package enum Severity: String, Sendable, CaseIterable, Comparable {
    case info
    case low
    case medium
    case high
    case critical

    package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    /// The next worse one; `critical` stays.
    package var raised: Severity { Severity.allCases[min(rank + 1, Severity.allCases.count - 1)] }

    /// The next milder one; `info` stays.
    package var lowered: Severity { Severity.allCases[max(rank - 1, 0)] }

    private var rank: Int {
        switch self {
        case .info: 0
        case .low: 1
        case .medium: 2
        case .high: 3
        case .critical: 4
        }
    }
}
