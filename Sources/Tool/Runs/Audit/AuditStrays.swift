internal import Confinement

/// What the runs of an audited command left running, which was ended.
package struct AuditStrays: Sendable {
    /// In how many runs each program was, by its name.
    package private(set) var runs: [String: Int] = [:]
    /// Those that could not be ended, such as `sleep (123)`.
    package private(set) var left: [String] = []

    /// Of names that are kept.
    private static let countLimit = 20

    mutating func note(_ ended: StrayProcesses.Ended) {
        for name in Set(ended.ended.map(Self.program))
        where runs[name] != nil || runs.count < Self.countLimit {
            runs[name, default: 0] += 1
        }
        left += ended.left.prefix(Self.countLimit - left.count)
    }

    /// Without its number, which is another in each run.
    private static func program(_ name: String) -> String {
        name.split(separator: " ").dropLast().joined(separator: " ")
    }
}
