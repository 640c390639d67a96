package import Base
package import Runs
package import Terminal
internal import Traffic

/// Writes a line for each record that has ended.
///
/// On a thread of its own: a terminal that is slow, or stopped, must not hold the traffic up, nor
/// the end of the tool.
package enum LiveLogTask {
    /// Errors: `no-event-loop`.
    package static func start(
        _ subscription: RunSubscription, to console: Console
    ) throws(Failure) {
        let log = LiveLog(for: console.output, console.palette)
        let output = console.output
        let loops = try EventLoops(count: 1)
        Task(executorPreference: loops.all[0]) {
            while let events = await subscription.next() {
                let lines = events.compactMap { line($0, log) }
                do throws(Failure) {
                    try output.write(lines.map { $0 + "\n" }.joined())
                } catch {
                    // Nobody looks any more; the capture has it all.
                    return
                }
            }
        }
    }

    private static func line(_ event: RunEvent, _ log: LiveLog) -> String? {
        switch event {
        case .traffic(.exchange(let snapshot)):
            snapshot.record.durationMicroseconds == nil ? nil : log.line(for: snapshot.record)
        case .traffic(.connection(let connection)):
            connection.closedAt == nil ? nil : log.line(for: connection)
        case .lagged(let count): "… \(count) events not shown"
        default: nil
        }
    }
}
