/// How sure a finding is.
package enum Confidence: String, Sendable, CaseIterable, Comparable {
    /// By a name, an entropy or a statistic alone.
    case tentative
    /// By a published format, or by an anchored name with a plausible value.
    case firm
    /// By a structural proof, or by a value that was planted.
    case certain

    package static func < (left: Confidence, right: Confidence) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .tentative: 0
        case .firm: 1
        case .certain: 2
        }
    }
}
