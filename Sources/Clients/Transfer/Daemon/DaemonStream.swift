internal import Base
internal import Sockets
internal import Transport

/// Lines over a local socket.
///
/// `@unchecked Sendable`: used on its loop; one task reads while another one writes.
final class DaemonStream: @unchecked Sendable {
    let channel: Channel
    private let stream: PlainStream
    private var lines = DaemonLines()
    /// Whether the other end says nothing more.
    private var hasEnded = false

    init(_ channel: Channel) {
        self.channel = channel
        stream = PlainStream(channel)
    }

    /// The next line; `nil` at the end between two lines.
    ///
    /// Errors: `line-too-long`, `connection-lost`.
    func next() async throws(Failure) -> [UInt8]? {
        while true {
            if let line = try lines.next() { return line }
            guard !hasEnded else {
                guard lines.isEmpty else {
                    throw Failure("connection-lost", party: .client, "a line has no end")
                }
                return nil
            }
            do throws(StreamFailure) {
                try await stream.waitReadable()
            } catch {
                throw Self.lost(error)
            }
            try receive()
        }
    }

    /// Waits until something has come, or the end, or nothing can.
    func waitForMore() async {
        while lines.isEmpty, !hasEnded {
            do throws(StreamFailure) {
                try await stream.waitReadable()
            } catch {
                return
            }
            do throws(Failure) {
                try receive()
            } catch {
                // Whoever reads next hears of it.
                return
            }
        }
    }

    private func receive() throws(Failure) {
        let buffer = channel.loop.buffers.take()
        defer { channel.loop.buffers.give(buffer) }
        do throws(StreamFailure) {
            guard let count = try stream.readAtOnce(into: buffer) else { return }
            lines.append(buffer.copy)
            if count == 0 { hasEnded = true }
        } catch {
            throw Self.lost(error)
        }
    }

    /// - Parameter line: not longer than a line may be.
    ///
    /// Errors: `connection-lost`.
    func send(_ line: [UInt8], patience: UInt64) async throws(Failure) {
        let buffer = ByteBuffer(capacity: line.count + 1)
        buffer.append(line)
        buffer.append("\n")
        let (due, overflow) = channel.loop.now.addingReportingOverflow(patience)
        channel.writeDeadline = overflow ? .max : due
        do throws(StreamFailure) {
            try await stream.write(buffer)
        } catch {
            throw Self.lost(error)
        }
    }

    private static func lost(_ failure: StreamFailure) -> Failure {
        Failure("connection-lost", party: .tool, "the other end \(failure.detail)")
    }
}
