package import Audit
internal import Base
internal import Synchronization
internal import Terminal

/// How far the audit of each client has come, redrawn in place; on a terminal only.
package final class AuditLiveTable: Sendable {
    private let stream: OutputStream
    private let state = Mutex(State())

    private struct State {
        var lineCount = 0
        var last: [ListenSchedule.Progress] = []
        /// Whether nobody looks any more; the report tells all of it in the end.
        var isUnseen = false
    }

    /// Of lines that are drawn; those behind are counted.
    private static let lineLimit = 20

    init(_ console: Console) {
        stream = console.diagnostics
    }

    /// Leaves the line on which the terminal shows the key that interrupts.
    func finish() throws(Failure) {
        if stream.isTerminal { try stream.write("\n") }
    }

    package func show(_ progress: [ListenSchedule.Progress]) {
        guard stream.isTerminal else { return }
        state.withLock { state in
            guard progress != state.last, !state.isUnseen else { return }
            state.last = progress
            var lines = progress.prefix(Self.lineLimit).map(Self.line)
            if progress.count > Self.lineLimit {
                lines.append("and \(progress.count - Self.lineLimit) more")
            }
            let columns = (stream.columns ?? 80) - 1
            let up = state.lineCount > 0 ? "\u{1B}[\(state.lineCount)A" : ""
            let text = lines.map {
                "\r\u{1B}[K" + TerminalText.truncated(TerminalText.sanitized($0), columns: columns)
                    + "\n"
            }
            do throws(Failure) {
                try stream.write(up + text.joined())
            } catch {
                state.isUnseen = true
            }
            state.lineCount = lines.count
        }
    }

    /// `curl  www.example.com:443  12/97  1 failed  name-wrong-host`.
    private static func line(_ progress: ListenSchedule.Progress) -> String {
        let failures = progress.failureCount > 0 ? "  \(progress.failureCount) failed" : ""
        let current = progress.current.map { "  \($0)" } ?? ""
        let state = progress.doneCount >= progress.totalCount ? "  done" : current
        return "\(progress.client)  \(progress.destination)  "
            + "\(progress.doneCount)/\(progress.totalCount)\(failures)\(state)"
    }
}
