package import Base
package import Sockets
internal import Transport

/// Passes bytes between a client and a probe's machine until one of them ends.
package struct ProbeRelay {
    private let channel: Channel
    /// In milliseconds, for what the machine says at once.
    private let writeTimeout: UInt64

    package init(_ channel: Channel, writeTimeout: UInt64) {
        self.channel = channel
        self.writeTimeout = writeTimeout
    }

    private var loop: EventLoop { channel.loop }

    /// The channel is not closed.
    ///
    /// - Parameters:
    ///   - early: what the client has sent already; it is given back to the loop.
    ///   - step: called whenever the machine has moved on.
    /// - Returns: who has ended it; the machine was told.
    package func run(
        _ machine: any ProbeMachine, _ early: ByteBuffer?, step: () -> Void = {}
    ) async -> ProbeEnd {
        if let early {
            machine.receive(early.readable)
            loop.buffers.give(early)
        }
        let end = await drive(machine, step)
        machine.noteEnd(end)
        return end
    }

    private func drive(_ machine: any ProbeMachine, _ step: () -> Void) async -> ProbeEnd {
        while true {
            let hasSent = await send(machine.takeOutgoing())
            step()
            if machine.isOver { return hasSent ? .ours : .reset }
            channel.readDeadline = loop.now + machine.patience
            switch await channel.waitReadable() {
            case .ready: break
            case .timedOut:
                machine.noteSilence()
                continue
            case .closed: return .cut
            }
            if let end = receive(into: machine) { return end }
        }
    }

    /// - Returns: the client's end, if it has come.
    private func receive(into machine: any ProbeMachine) -> ProbeEnd? {
        let bytes = loop.buffers.take()
        defer { loop.buffers.give(bytes) }
        switch channel.receive(into: bytes) {
        case .value(0): return .closed
        case .value:
            machine.receive(bytes.readable)
            return nil
        case .wouldBlock: return nil
        case .failed: return .reset
        }
    }

    /// - Returns: whether the client took it.
    private func send(_ bytes: [UInt8]) async -> Bool {
        var sent = 0
        channel.writeDeadline = loop.now + writeTimeout
        while sent < bytes.count {
            let buffer = loop.buffers.take()
            defer { loop.buffers.give(buffer) }
            let count = min(buffer.room, bytes.count - sent)
            buffer.append(bytes.span.extracting(sent..<sent + count))
            sent += count
            do throws(StreamFailure) {
                try await PlainStream(channel).write(buffer)
            } catch {
                // What the client has said before may still wait to be read, an alert above all.
                return false
            }
        }
        return true
    }
}
