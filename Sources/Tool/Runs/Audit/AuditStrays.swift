internal import Base
internal import Confinement

/// What the runs of an audited command left running, which was ended.
struct AuditStrays {
    /// In how many runs each program was, by its name.
    private var runs: [String: Int] = [:]
    /// Those that could not be ended, such as `sleep (123)`.
    private var left: [String] = []

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

    func tell(_ environment: Environment) throws(Failure) {
        if !runs.isEmpty {
            let programs = runs.sorted { $0.key < $1.key }.map { name, count in
                count == 1 ? name : "\(name) (in \(count) runs)"
            }
            try environment.note(
                "the command left programs running, which were ended: "
                    + programs.joined(separator: ", "))
        }
        if !left.isEmpty {
            try environment.note(
                "the command left programs running, which could not be ended: "
                    + left.joined(separator: ", "))
        }
    }
}
