import Base
import HTTP2Frames
import HTTPCodecs
import HTTPModel
import Sockets
import Transport

@testable import HTTP2

/// Runs `body` on an event loop of its own thread, and stops the loop after it.
func withLoop(_ body: @escaping @Sendable (EventLoop) async throws -> Void) async throws {
    let loop = try EventLoop(index: 0)
    startThread(named: "test loop") { loop.run() }
    defer { loop.stop() }
    try await Task(executorPreference: loop) {
        defer { loop.closeAllChannels() }
        try await body(loop)
    }.value
}

/// Two connections that speak with each other.
///
/// `@unchecked Sendable`: every task that uses it runs on its loop.
final class HTTP2Ends: @unchecked Sendable {
    let loop: EventLoop
    let client: HTTP2Connection
    let server: HTTP2Connection

    init(
        _ loop: EventLoop, limits: HTTP2Limits = HTTP2Limits(), idle: UInt64 = 60_000
    ) throws {
        self.loop = loop
        let (near, far) = try Channel.pair(on: loop)
        let times = HTTP2Times(write: 5_000, idle: idle)
        client = HTTP2Connection(PlainStream(near), role: .client, times: times)
        server = HTTP2Connection(PlainStream(far), role: .server, limits: limits, times: times)
    }

    /// Runs both until `body` has come to its end, and sees that they end by themselves then.
    func run(
        _ serve: @escaping @Sendable (HTTP2Stream) async -> Void,
        _ body: @escaping @Sendable (HTTP2Ends) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.client.run() }
            group.addTask { await self.server.run(serve) }
            group.addTask {
                do {
                    try await body(self)
                } catch {
                    self.client.cut()
                    throw error
                }
                self.client.drain()
            }
            try await group.waitForAll()
        }
    }

    func request(
        _ start: String = "GET / HTTP/1.1", endsStream: Bool = true
    ) throws -> HTTP2Stream {
        guard let stream = client.request(try Self.fields(start), endsStream: endsStream) else {
            throw StreamFailure.closed
        }
        return stream
    }

    static func fields(_ start: String) throws -> HTTP2Fields {
        let text = "\(start)\r\nHost: a.test\r\n\r\n"
        guard let (head, _) = try RequestReader.read(Array(text.utf8).span) else {
            throw StreamFailure.closed
        }
        return .request(head, scheme: "https", authority: Array("a.test".utf8)[...], target: nil)
    }
}

/// A raw peer that says what no session says.
///
/// `@unchecked Sendable`: every task that uses it runs on its loop.
final class RawPeer: @unchecked Sendable {
    let connection: HTTP2Connection
    private let wire: PlainStream
    private var parser = FrameParser()

    init(_ loop: EventLoop, _ role: HTTP2Session.Role) throws {
        let (near, far) = try Channel.pair(on: loop)
        wire = PlainStream(near)
        connection = HTTP2Connection(
            PlainStream(far), role: role, times: HTTP2Times(write: 5_000, idle: 60_000))
    }

    func say(_ bytes: [UInt8]) async throws {
        let buffer = ByteBuffer(capacity: max(1, bytes.count))
        buffer.append(bytes)
        try await wire.write(buffer)
    }

    /// Frames that came at once; empty at the end.
    func read() async throws -> [Frame] {
        let buffer = ByteBuffer(capacity: 1 << 16)
        guard try await wire.read(into: buffer) > 0 else { return [] }
        return parser.take(buffer.copy)
    }

    func close() { wire.close() }

    /// Says the last and goes, before anybody else has a turn.
    func leave(saying bytes: [UInt8]) {
        let buffer = ByteBuffer(capacity: bytes.count)
        buffer.append(bytes)
        _ = wire.channel.send(buffer)
        close()
    }
}

/// What has happened, for tasks of one loop.
///
/// `@unchecked Sendable`: every task that uses it runs on one loop.
final class Notes: @unchecked Sendable {
    var lines: [String] = []
    func note(_ line: String) { lines.append(line) }
}

extension HTTP2Stream {
    /// All content that comes.
    func readAll() async throws(HTTP2StreamFailure) -> [UInt8] {
        let buffer = ByteBuffer(capacity: 1 << 16)
        var all: [UInt8] = []
        while try await read(into: buffer) > 0 {
            all += buffer.copy
            buffer.removeAll()
        }
        return all
    }

    /// How much content comes; `nil` if it does not come to its end.
    func count() async -> Int? {
        do throws(HTTP2StreamFailure) {
            return try await readAll().count
        } catch {
            return nil
        }
    }

    func send(_ bytes: [UInt8]) async throws(HTTP2StreamFailure) {
        let buffer = ByteBuffer(capacity: max(1, bytes.count))
        buffer.append(bytes)
        try await write(buffer)
    }

    /// Why no head comes; `nil` if one came, or the end.
    func headFailure() async -> HTTP2StreamFailure? {
        do throws(HTTP2StreamFailure) {
            _ = try await nextHead()
            return nil
        } catch {
            return error
        }
    }

    func readFailure() async -> HTTP2StreamFailure? {
        do throws(HTTP2StreamFailure) {
            _ = try await readAll()
            return nil
        } catch {
            return error
        }
    }

    func writeFailure(_ bytes: [UInt8]) async -> HTTP2StreamFailure? {
        do throws(HTTP2StreamFailure) {
            try await send(bytes)
            return nil
        } catch {
            return error
        }
    }
}
