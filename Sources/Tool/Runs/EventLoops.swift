package import Base
package import Sockets

/// A group of event loops, each on a thread of its own, until the process ends or `stop`.
package final class EventLoops: Sendable {
    package let all: [EventLoop]

    /// Errors: `no-event-loop`.
    package init(count: Int) throws(Failure) {
        DescriptorLimit.raise()
        var made: [EventLoop] = []
        do throws(SystemError) {
            for index in 0..<count { made.append(try EventLoop(index: index)) }
        } catch {
            throw Failure("no-event-loop", party: .tool, "cannot make an event loop: \(error)")
        }
        all = made
        for loop in all { startThread(named: "loop \(loop.index)") { loop.run() } }
    }

    package func stop() {
        for loop in all { loop.stop() }
    }
}
