internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import Transport

/// A stream of HTTP/2 that carries another protocol, after CONNECT (RFC 9113 §8.5, RFC 8441).
final class HTTP2TunnelStream: TunnelStream {
    private let stream: HTTP2Stream

    init(_ stream: HTTP2Stream) {
        self.stream = stream
    }

    var readDeadline: UInt64 {
        get { stream.readDeadline }
        set { stream.readDeadline = newValue }
    }

    var writeDeadline: UInt64 {
        get { stream.writeDeadline }
        set { stream.writeDeadline = newValue }
    }

    func read(into buffer: ByteBuffer) async throws(StreamFailure) -> Int {
        do throws(HTTP2StreamFailure) {
            return try await stream.read(into: buffer)
        } catch {
            throw Self.failure(error)
        }
    }

    func waitReadable() async throws(StreamFailure) {
        do throws(HTTP2StreamFailure) {
            try await stream.waitReadable()
        } catch {
            throw Self.failure(error)
        }
    }

    func write(_ buffer: ByteBuffer) async throws(StreamFailure) {
        do throws(HTTP2StreamFailure) {
            try await stream.write(buffer)
        } catch {
            throw Self.failure(error)
        }
    }

    /// A reset is a failure to read.
    var endedInOrder: Bool { true }

    func finish() async { stream.end() }

    func cutOff() { breakOff() }

    func breakOff() { interrupt() }

    func interrupt() { stream.breakOff(HTTP2ErrorCode.cancel) }

    func onLoss(_ action: (() -> Void)?) { stream.onBreak = action }

    private static func failure(_ failure: HTTP2StreamFailure) -> StreamFailure {
        switch failure {
        case .reset, .connectionLost(.peerClosed), .connectionLost(.violation), .malformed: .reset
        case .connectionLost(.failed(let failure)): failure
        case .silent: .timedOut
        case .timedOut, .stopped, .connectionLost, .unsent: .closed
        }
    }
}
