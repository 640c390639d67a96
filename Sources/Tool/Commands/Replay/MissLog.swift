internal import Base
internal import Replay
internal import Runs
internal import Synchronization

/// Tells on standard error of requests that have no answer.
final class MissLog: Sendable {
    private let environment: Environment
    private let isJSON: Bool
    /// What to do is said once, however often it is missed.
    private let hints = Mutex<Set<String>>([])

    init(_ environment: Environment, isJSON: Bool) {
        self.environment = environment
        self.isJSON = isJSON
    }

    func tell(_ event: RunEvent) {
        do throws(Failure) {
            guard case .miss(let miss) = event else {
                if case .lagged(let count) = event {
                    try environment.note("\(count) misses are not listed")
                }
                return
            }
            if isJSON {
                try environment.diagnostics.write(miss.json.line + [UInt8(ascii: "\n")])
            } else {
                try environment.note(miss.detail)
                let hint = miss.hint
                let isNew = hints.withLock { hints in
                    hints.count < Self.hintLimit && hints.insert(hint).inserted
                }
                if isNew { try environment.hint(hint) }
            }
        } catch {
            // Nobody listens; the client was told, and the exit code tells it again.
        }
    }

    /// Nobody reads more.
    private static let hintLimit = 100
}
