package import Base
internal import Glibc
internal import Sockets
internal import Synchronization

/// What a program writes, read while it runs so that it never waits, and kept up to a limit.
package final class CapturedOutput: Sendable {
    /// The end that the program writes to.
    package let descriptor: Int32
    private let reader: Int32
    private let stopped: Int32
    private let stop: Int32
    private let state = Mutex(State())

    private struct State {
        var first: [UInt8] = []
        var last: [UInt8] = []
        var isDone = false
        var waiting: (@Sendable () -> Void)?
    }

    /// In bytes, of the beginning and of the end each.
    private static let limit = 64 << 10

    /// Errors: `no-pipe`.
    package init() throws(Failure) {
        do throws(SystemError) {
            let output = try PipeEnds()
            (reader, descriptor) = (output.reading, output.writing)
            let wake = try PipeEnds()
            (stopped, stop) = (wake.reading, wake.writing)
        } catch {
            throw Failure("no-pipe", party: .tool, "cannot make a pipe: \(error)")
        }
        startThread(named: "output") { self.read() }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 32 << 10)
        while true {
            var wanted = [
                pollfd(fd: reader, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stopped, events: Int16(POLLIN), revents: 0),
            ]
            guard unsafe poll(&wanted, 2, -1) > 0 else { continue }
            // What was written before the stop is read first.
            guard wanted[0].revents != 0 else { break }
            let count = unsafe Glibc.read(reader, &buffer, buffer.count)
            guard count > 0 else { break }
            keep(buffer.prefix(count))
        }
        close(reader)
        close(stopped)
        let resume = state.withLock { state in
            state.isDone = true
            return state.waiting.take()
        }
        resume?()
    }

    private func keep(_ bytes: ArraySlice<UInt8>) {
        state.withLock { state in
            let room = Self.limit - state.first.count
            state.first += bytes.prefix(room)
            state.last += bytes.dropFirst(room)
            if state.last.count > 2 * Self.limit { state.last.removeFirst(Self.limit) }
        }
    }

    /// Ends the reading, once the program has ended; what it left behind may still write.
    ///
    /// - Returns: the beginning and the end of what was written.
    package func finish() async -> [UInt8] {
        // In this order: while the descriptor is open, the reader does not end by itself.
        close(stop)
        close(descriptor)
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isDone { state.waiting = { continuation.resume() } }
                return state.isDone
            }
            if isDone { continuation.resume() }
        }
        return state.withLock { $0.first + $0.last }
    }
}
