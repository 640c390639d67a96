internal import Base
internal import Replay
internal import Runs
internal import Synchronization
internal import TLS

extension ReplayService {
    /// Lines for people at the end: why less was asked than they may think, and what to do about
    /// what was missed.
    var remarks: [String] {
        var lines: [String] = []
        if missCount > 0 {
            lines.append(
                "\(missCount) of \(requestCount) requests had no recorded answer")
        } else if requestCount == 0 {
            lines.append("no request came")
        }
        if refusalCount > 0 {
            lines.append(
                "on \(refusalCount == 1 ? "a connection" : "\(refusalCount) connections")"
                    + " the client refused the certificate; it has to trust"
                    + " \(authority.certificatePath)")
        }
        return lines
    }

    /// A line for people: how much there is to answer with.
    var summary: String {
        let rest = counts.leftOut > 0 ? "; \(counts.leftOut) without a response are left out" : ""
        return "\(counts.answers) recorded \(counts.answers == 1 ? "answer" : "answers")\(rest)\n"
    }
}

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
