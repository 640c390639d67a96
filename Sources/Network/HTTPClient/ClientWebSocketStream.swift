internal import Base
internal import HTTP2
internal import Sockets
internal import Transport

/// What the frames of a WebSocket pass over: a connection of HTTP/1, or a stream of HTTP/2.
protocol ClientWebSocketStream: AnyObject {
    var loop: EventLoop { get }

    func write(_ bytes: [UInt8]) async throws(Failure)

    /// Reads what comes next; whoever waits for it ends the wait.
    ///
    /// - Returns: whether anything came.
    func readPiece(_ visit: (Span<UInt8>) -> Void) async throws(Failure) -> Bool

    /// Ends reading, soon.
    ///
    /// - Parameter isOrderly: whether both sides have closed.
    func end(isOrderly: Bool)
}

/// A connection that has switched with 101.
final class HTTP1WebSocketStream: ClientWebSocketStream {
    private let leg: ClientLeg
    /// In milliseconds.
    private let writeTimeout: UInt64

    init(_ leg: ClientLeg, writeTimeout: UInt64) {
        self.leg = leg
        self.writeTimeout = writeTimeout
    }

    var loop: EventLoop { leg.stream.loop }

    func write(_ bytes: [UInt8]) async throws(Failure) {
        do throws(StreamFailure) {
            try await leg.write(bytes, timeout: writeTimeout)
        } catch {
            throw leg.failure(of: error)
        }
    }

    func readPiece(_ visit: (Span<UInt8>) -> Void) async throws(Failure) -> Bool {
        try await leg.readPiece(visit)
    }

    func end(isOrderly: Bool) { leg.stream.interrupt() }
}

/// A stream whose extended CONNECT was answered with 2xx.
final class HTTP2WebSocketStream: ClientWebSocketStream {
    private let stream: ClientStream
    private let leg: HTTP2ClientLeg
    private let exchange: ClientExchange

    init(_ stream: ClientStream, of leg: HTTP2ClientLeg, _ exchange: ClientExchange) {
        self.stream = stream
        self.leg = leg
        self.exchange = exchange
    }

    var loop: EventLoop { leg.connection.stream.loop }

    func write(_ bytes: [UInt8]) async throws(Failure) {
        do throws(HTTP2StreamFailure) {
            try await stream.write(bytes)
        } catch {
            throw exchange.failure(of: error)
        }
    }

    func readPiece(_ visit: (Span<UInt8>) -> Void) async throws(Failure) -> Bool {
        do throws(HTTP2StreamFailure) {
            return try await stream.read(visit)
        } catch {
            throw exchange.failure(of: error)
        }
    }

    func end(isOrderly: Bool) {
        if isOrderly {
            stream.end(awaitingPeerFor: Self.closePatience)
        } else {
            stream.finish(isWhole: false)
        }
    }

    /// In milliseconds: how long the origin may take to end its direction when both have closed.
    private static let closePatience: UInt64 = 1_000
}
