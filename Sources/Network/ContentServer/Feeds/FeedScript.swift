internal import Base

/// What a feed does from one poll to the next.
struct FeedScript {
    enum Step: String, CaseIterable {
        /// Another item.
        case new
        /// Nothing happened.
        case none
        /// 503.
        case fail
        /// Nothing happened, but the validators say otherwise.
        case flap
        /// The newest item comes twice.
        case duplicate
        /// The document ends in its middle.
        case cut
        /// 410, from now on.
        case gone
    }

    private let steps: [Step]

    /// Steps with commas between, which begin anew behind the last; `nil` if one is unknown.
    init?(_ text: [UInt8]?) {
        guard let text else {
            steps = [.new, .none]
            return
        }
        let words = text.split(separator: 0x2C, maxSplits: Self.limit)
        let steps = words.compactMap { Step(rawValue: $0.text) }
        guard steps.count == words.count, !steps.isEmpty, steps.count <= Self.limit else {
            return nil
        }
        self.steps = steps
    }

    /// What poll number `ordinal` finds, counted from 0, and how many items there are then.
    func poll(_ ordinal: UInt64) -> (step: Step, itemCount: UInt64) {
        let count = UInt64(steps.count)
        if let gone = steps.firstIndex(of: .gone), ordinal >= UInt64(gone) { return (.gone, 0) }
        let seen = steps.prefix(Int(ordinal % count) + 1).count { $0 == .new }
        let each = steps.count { $0 == .new }
        return (
            steps[Int(ordinal % count)],
            Self.firstCount + UInt64(seen) + ordinal / count * UInt64(each)
        )
    }

    /// Items before the first poll.
    private static let firstCount: UInt64 = 10
    private static let limit = 64
}
