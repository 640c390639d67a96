internal import Base
internal import Replay
package import Runs
internal import Synchronization
package import Terminal

/// Tells on standard error of requests that have no answer.
package final class MissLog: Sendable {
    private let console: Console
    private let isJSON: Bool
    /// What to do is said once, however often it is missed.
    private let hints = Mutex<Set<String>>([])

    package init(_ console: Console, isJSON: Bool) {
        self.console = console
        self.isJSON = isJSON
    }

    package func tell(_ event: RunEvent) {
        do throws(Failure) {
            guard case .miss(let miss) = event else {
                if case .lagged(let count) = event {
                    try console.note("\(count) misses are not listed")
                }
                return
            }
            if isJSON {
                try console.diagnostics.write(miss.json.line + [UInt8(ascii: "\n")])
            } else {
                try console.note(miss.detail)
                let hint = miss.hint
                let isNew = hints.withLock { hints in
                    hints.count < Self.hintLimit && hints.insert(hint).inserted
                }
                if isNew { try console.hint(hint) }
            }
        } catch {
            // Nobody listens; the client was told, and the exit code tells it again.
        }
    }

    /// Nobody reads more.
    private static let hintLimit = 100
}
