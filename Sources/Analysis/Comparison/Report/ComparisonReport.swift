/// What differs between two captures.
package struct ComparisonReport: Sendable {
    /// One exchange as a report names it.
    package struct Exchange: Sendable, Equatable {
        package let id: Int64
        package let method: String
        /// With secrets masked unless they were asked for.
        package let url: String
        /// `nil` if no response came.
        package let status: Int?
    }

    /// Exchanges that differ, or one that has no counterpart.
    package struct Entry: Sendable, Equatable {
        package let left: Exchange?
        package let right: Exchange?
        package var isMoved = false
        /// What is only on one side says here which exchange of its side it repeats, as a retry.
        package var repeats: Int64?
        package var differences: [Difference] = []
        /// Whether there are more differences than are told.
        package var isCut = false

        /// Whether there is more to it than notes.
        package var isDifferent: Bool {
            left == nil || right == nil || differences.contains { !$0.isNote }
        }
    }

    /// A place whose exchanges became clearly slower or faster.
    package struct Timing: Sendable, Equatable {
        package let method: String
        package let authority: String
        /// With `{}` for what names one thing of many.
        package let path: String
        package let difference: TimingDifference
    }

    package struct Counts: Sendable, Equatable {
        package var left = 0
        package var right = 0
        /// Pairs without a difference, those with notes too.
        package var equal = 0
        package var different = 0
        package var added = 0
        package var removed = 0
        /// Pairs that have another place among the others.
        package var moved = 0
        /// Of the equal pairs, those with notes.
        package var noted = 0

        package init() {}
    }

    /// What the captures are called.
    package let left: String
    package let right: String
    package var counts = Counts()
    /// In the order of the left capture, with what was added behind what it follows.
    package var entries: [Entry] = []
    /// How many entries are counted and not told.
    package var omitted = 0
    package var timings: [Timing] = []

    package init(left: String, right: String) {
        self.left = left
        self.right = right
    }

    /// Whether there was nothing to compare on one side or both.
    package var isInconclusive: Bool { counts.left == 0 || counts.right == 0 }

    /// Whether the captures differ; timing does not count.
    package var isDifferent: Bool { counts.different + counts.added + counts.removed > 0 }
}
