internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets

/// The stream of one exchange, with the patience of a client.
///
/// `@unchecked Sendable`: the two tasks that use it run on its loop's executor.
final class ClientStream: @unchecked Sendable {
    private let stream: HTTP2Stream
    private let configuration: ClientConfiguration
    private let loop: EventLoop
    /// While the request goes out, its answer may be long in coming.
    private var isSending = true
    /// When nothing more is waited for, whatever comes; in milliseconds of the loop's clock.
    private var lastMoment = UInt64.max

    init(_ stream: HTTP2Stream, _ configuration: ClientConfiguration, on loop: EventLoop) {
        self.stream = stream
        self.configuration = configuration
        self.loop = loop
    }

    var isClosed: Bool { stream.isClosed }
    /// Whether the origin has ended its direction.
    var hasEnded: Bool { stream.hasEnded }
    var trailers: Fields { stream.trailers }

    // MARK: Sending

    func write(_ bytes: [UInt8]) async throws(HTTP2StreamFailure) {
        let out = loop.buffers.take()
        defer { loop.buffers.give(out) }
        var written = 0
        while written < bytes.count {
            let count = min(bytes.count - written, out.room)
            let all = bytes.span
            out.append(all.extracting(written..<written + count))
            written += count
            stream.writeDeadline = loop.now + configuration.writeTimeout
            try await stream.write(out)
        }
    }

    func end(_ trailers: Fields) {
        stream.end(trailers: trailers.slices.isEmpty ? nil : .trailers(trailers))
        noteSent()
    }

    /// Takes notice that nothing more is sent: the answer is due now.
    func noteSent() {
        isSending = false
        stream.readDeadline = loop.now + configuration.readTimeout
    }

    /// Takes notice that more may be sent, and that what comes has its own time.
    func noteSending() { isSending = true }

    /// Ends our direction, and gives the peer so many milliseconds to end its own.
    func end(awaitingPeerFor time: UInt64) {
        lastMoment = loop.now + time
        end(.none)
        stream.readDeadline = min(stream.readDeadline, lastMoment)
    }

    // MARK: Reading

    func nextHead() async throws(HTTP2StreamFailure) -> HTTP2Head? {
        while true {
            let deadline = begin()
            do throws(HTTP2StreamFailure) {
                return try await stream.nextHead()
            } catch {
                try goOn(after: error, deadline)
            }
        }
    }

    /// Reads a piece of content.
    ///
    /// - Returns: whether there was one.
    func read(_ visit: (Span<UInt8>) -> Void) async throws(HTTP2StreamFailure) -> Bool {
        while true {
            guard loop.now < lastMoment else { throw .timedOut }
            let deadline = begin()
            do throws(HTTP2StreamFailure) {
                try await stream.waitReadable()
                let buffer = loop.buffers.take()
                defer { loop.buffers.give(buffer) }
                guard try await stream.read(into: buffer) > 0 else { return false }
                visit(buffer.readable)
                return true
            } catch {
                try goOn(after: error, deadline)
            }
        }
    }

    private func begin() -> UInt64 {
        let deadline = min(lastMoment, loop.now + configuration.readTimeout)
        stream.readDeadline = deadline
        return deadline
    }

    /// Forgives that nothing came while the request goes out.
    private func goOn(
        after failure: HTTP2StreamFailure, _ deadline: UInt64
    ) throws(HTTP2StreamFailure) {
        guard failure == .silent, isSending else { throw failure }
    }

    // MARK: The end

    func finish(isWhole: Bool) {
        if isWhole {
            stream.abandon()
        } else {
            stream.reset(HTTP2ErrorCode.cancel)
            stream.stopWriting()
            stream.interrupt()
        }
    }
}
