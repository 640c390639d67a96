import Base
import Foundation
import HTTP2Frames
import HTTPServer
import Sockets
import TLS
import Testing
import Transport

/// Runs a server on a loop of its own, and `body` as its client on the same loop.
///
/// - Returns: whether every connection ended by itself.
@discardableResult
func withServer(
    _ answer: @escaping Answer, limits: ServerLimits = ServerLimits(),
    security: HTTPServer.Port.Security = .plain, grace: UInt64 = 5_000,
    _ body: @escaping @Sendable (Laboratory) async throws -> Void
) async throws -> Bool {
    let loop = try EventLoop(index: 0)
    startThread(named: "test loop") { loop.run() }
    defer { loop.stop() }
    let local = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
    let server = try HTTPServer(
        ports: [HTTPServer.Port(local, security)], loops: [loop], limits: limits, answer: answer)
    // On its own loop: a client's time runs while others have the runner's threads.
    let ended = Task(executorPreference: loop) { await server.run() }
    let laboratory = Laboratory(loop: loop, address: server.addresses[0], server: server)
    do {
        try await Task(executorPreference: loop) { try await body(laboratory) }.value
    } catch {
        server.stop(grace: 0)
        _ = await ended.value
        throw error
    }
    server.stop(grace: grace)
    return await ended.value
}

struct Laboratory: Sendable {
    let loop: EventLoop
    let address: SocketAddress
    let server: HTTPServer

    func connect() async throws -> TestClient {
        let channel = try await Channel.connect(
            to: address, on: loop, deadline: loop.now + TestClient.patience)
        return TestClient(PlainStream(channel))
    }

    func connectSecurely(
        to name: String, trusting authority: CertificateAuthority,
        protocols: [String] = ["http/1.1"], as identity: ClientIdentity? = nil
    ) async throws -> TestClient {
        let channel = try await Channel.connect(
            to: address, on: loop, deadline: loop.now + TestClient.patience)
        channel.readDeadline = loop.now + TestClient.patience
        let context = TLSClientContext(
            extraAuthorities: [authority.certificate], trustsSystem: false)
        let session = context.makeSession(
            verifying: name, serverName: SocketAddress(literal: name, port: 0) == nil ? name : nil,
            protocols: protocols, resumptionKey: name)
        session.identity = identity
        let stream = TLSStream(channel, session: session)
        try await stream.handshake()
        return TestClient(stream)
    }

    /// Sends all of `text`, ends our direction, and returns all that comes back.
    func exchange(_ text: String) async throws -> String {
        let client = try await connect()
        defer { client.stream.close() }
        try await client.send(text)
        await client.stream.finish()
        return try await client.receiveAll()
    }
}

/// A client that speaks bytes; what it waits for has a deadline, so that no test hangs.
final class TestClient {
    static let patience: UInt64 = 120_000
    let stream: any ByteStream
    private var received: [UInt8] = []
    var parser = FrameParser()
    var frames: [Frame] = []

    init(_ stream: any ByteStream) {
        self.stream = stream
        stream.readDeadline = stream.loop.now + Self.patience
        stream.writeDeadline = stream.loop.now + Self.patience
    }

    func send(_ text: String) async throws {
        var rest = [UInt8](text.utf8)[...]
        let buffer = ByteBuffer(capacity: 16_384)
        while !rest.isEmpty {
            let piece = rest.prefix(buffer.capacity)
            buffer.append([UInt8](piece))
            try await stream.write(buffer)
            rest = rest.dropFirst(piece.count)
        }
    }

    /// Reads more; `false` at the end.
    private func receive() async throws -> Bool {
        let buffer = ByteBuffer(capacity: 65_536)
        let count = try await stream.read(into: buffer)
        received += buffer.copy
        return count > 0
    }

    /// All that comes until the server ends, without the Date fields.
    func receiveAll() async throws -> String {
        while try await receive() {}
        defer { received = [] }
        return withoutDates(received.text)
    }

    /// What comes through the first `mark`; the rest stays.
    func receive(through mark: String) async throws -> String {
        let mark = [UInt8](mark.utf8)
        while true {
            if let end = firstEnd(of: mark) {
                defer { received.removeFirst(end) }
                return withoutDates(received[..<end].text)
            }
            try #require(try await receive(), "the server ended before \(mark.text)")
        }
    }

    /// The next `count` bytes.
    func receive(count: Int) async throws -> String {
        while received.count < count {
            try #require(try await receive(), "the server ended before \(count) bytes")
        }
        defer { received.removeFirst(count) }
        return received.prefix(count).text
    }

    /// Reads and drops `count` bytes.
    func skip(_ count: Int) async throws {
        var rest = count - received.count
        received = []
        let buffer = ByteBuffer(capacity: 65_536)
        while rest > 0 {
            let got = try await stream.read(into: buffer)
            try #require(got > 0)
            rest -= got
            buffer.removeAll()
        }
    }

    private func firstEnd(of mark: [UInt8]) -> Int? {
        guard received.count >= mark.count else { return nil }
        for start in 0...(received.count - mark.count)
        where received[start..<start + mark.count].elementsEqual(mark) {
            return start + mark.count
        }
        return nil
    }

    func withoutDates(_ text: String) -> String {
        text.split(separator: "\r\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("Date: ") }.joined(separator: "\r\n")
    }
}

/// A test CA of its own, whose files are gone when it is there.
func testAuthority() throws -> CertificateAuthority { try testAuthorityAndKey().authority }

/// A test CA with its key in PEM.
func testAuthorityAndKey() throws -> (authority: CertificateAuthority, key: [UInt8]) {
    let folder = NSTemporaryDirectory() + "sallyport-ca-\(UUID().uuidString)"
    defer {
        for name in ["/ca.pem", "/ca.key", ""] { Files.remove(folder + name) }
    }
    let authority = try CertificateAuthority.open(folder: folder)
    return (
        authority, [UInt8](try #require(FileManager.default.contents(atPath: authority.keyPath)))
    )
}
