package import Base
package import Sockets

/// The bytes of a socket as they are, after those that were read ahead of it.
package final class PlainStream: ByteStream {
    package let channel: Channel
    /// Bytes that were read before the stream was made.
    private var readAhead: ByteBuffer?
    package private(set) var endedInOrder = false

    package init(_ channel: Channel, readAhead: ByteBuffer? = nil) {
        self.channel = channel
        self.readAhead = readAhead
    }

    package func read(into buffer: ByteBuffer) async throws(StreamFailure) -> Int {
        if let count = takeReadAhead(into: buffer) { return count }
        while true {
            if let count = try judge(channel.receive(into: buffer)) { return count }
            try await channel.awaitReadable()
        }
    }

    package func readAtOnce(into buffer: ByteBuffer) throws(StreamFailure) -> Int? {
        if let count = takeReadAhead(into: buffer) { return count }
        return try judge(channel.receiveBeyondShare(into: buffer))
    }

    private func takeReadAhead(into buffer: ByteBuffer) -> Int? {
        guard let readAhead else { return nil }
        let count = min(readAhead.count, buffer.room)
        buffer.append(readAhead.readable.extracting(..<count))
        readAhead.consume(count)
        if readAhead.isEmpty {
            channel.loop.buffers.give(readAhead)
            self.readAhead = nil
        }
        return count > 0 ? count : nil
    }

    /// How many bytes came, 0 at the peer's end; `nil` for none yet.
    private func judge(_ outcome: SystemCallOutcome) throws(StreamFailure) -> Int? {
        switch outcome {
        case .value(let count):
            if count == 0 {
                if channel.isClosed { throw .closed }
                endedInOrder = true
            }
            return count
        case .wouldBlock: return nil
        case .failed(let error): throw StreamFailure(error)
        }
    }

    package func waitReadable() async throws(StreamFailure) {
        if readAhead != nil { return }
        try await channel.awaitReadable()
    }

    package func write(_ buffer: ByteBuffer) async throws(StreamFailure) {
        try await channel.sendAll(buffer)
    }

    package func writeAtOnce(_ buffer: ByteBuffer) throws(StreamFailure) -> Bool {
        try channel.sendAtOnce(buffer)
    }

    package var holdsBytes: Bool { readAhead != nil }

    package func finish() async {
        channel.shutdownWriting()
    }
}

extension Channel {
    func awaitReadable() async throws(StreamFailure) {
        switch await waitReadable() {
        case .ready: return
        case .timedOut: throw .timedOut
        case .closed: throw .closed
        }
    }

    /// Sends all that the buffer holds.
    func sendAll(_ buffer: ByteBuffer) async throws(StreamFailure) {
        while try !sendAtOnce(buffer) { try await awaitWritable() }
    }

    /// Sends what is taken without waiting; whether that was all.
    func sendAtOnce(_ buffer: ByteBuffer) throws(StreamFailure) -> Bool {
        while !buffer.isEmpty {
            if hasSentItsShare { return false }
            switch send(buffer) {
            case .value: continue
            case .wouldBlock: return false
            case .failed(let error): throw isClosed ? .closed : StreamFailure(error)
            }
        }
        return true
    }

    private func awaitWritable() async throws(StreamFailure) {
        switch await waitWritable() {
        case .ready: return
        case .timedOut: throw .timedOut
        case .closed: throw .closed
        }
    }
}
