import Base
import Glibc
import Sockets
import TLS
import Testing

@testable import Transport

/// Runs `body` on an event loop of its own thread, and stops the loop after it.
@discardableResult
func withLoop<Result: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws -> Result
) async throws -> Result {
    let loop = try EventLoop(index: 0)
    startThread(named: "test loop") { loop.run() }
    defer { loop.stop() }
    return try await Task(executorPreference: loop) {
        defer { loop.closeAllChannels() }
        return try await body(loop)
    }.value
}

/// The two ends of a TCP connection over the loopback address.
func connectedPair(_ loop: EventLoop) async throws -> (client: Channel, server: Channel) {
    let loopback = SocketAddress(address: [127, 0, 0, 1], port: 0)
    let bound = try Listener.bind(loopback, sharesPort: false)
    let listener = try Listener(descriptor: bound.descriptor, address: bound.address, loop: loop)
    defer { listener.close() }
    let client = try await Channel.connect(to: bound.address, on: loop, deadline: .max)
    guard let (server, _) = await listener.accept() else { throw StreamFailure.closed }
    return (client, server)
}

/// The two ends of a connection, for the tasks of one loop.
///
/// `@unchecked Sendable`: every task that uses it runs on the loop of its channels.
final class StreamPair<Stream: ByteStream>: @unchecked Sendable {
    let client: Stream
    let server: Stream

    init(client: Stream, server: Stream) {
        self.client = client
        self.server = server
    }
}

extension StreamPair where Stream == PlainStream {
    static func connected(on loop: EventLoop) async throws -> StreamPair {
        let (client, server) = try await connectedPair(loop)
        return StreamPair(client: PlainStream(client), server: PlainStream(server))
    }
}

/// An authority in a folder of its own, and streams that trust it.
final class StreamLaboratory: Sendable {
    let authority: CertificateAuthority
    private let folder: String

    init() throws {
        var template = [CChar]("/tmp/transport-tests-XXXXXX".utf8CString)
        folder = unsafe String(cString: mkdtemp(&template))
        authority = try CertificateAuthority.open(folder: "\(folder)/ca")
    }

    deinit {
        for name in ["ca/ca.pem", "ca/ca.key", "ca", ""] { Files.remove("\(folder)/\(name)") }
    }

    func clientSession(_ versions: TLSVersions = .modern) -> TLSSession {
        TLSClientContext(
            versions: versions, extraAuthorities: [authority.certificate], trustsSystem: false
        ).makeSession(
            verifying: "a.test", serverName: "a.test", protocols: [], resumptionKey: "a.test")
    }

    func serverSession(_ versions: TLSVersions = .modern) -> TLSSession {
        TLSServerContext(
            authority: authority, versions: versions,
            ticketKey: [UInt8](repeating: 1, count: 80)
        ).makeSession(for: "a.test", protocols: [])
    }

    /// Two streams that have not shaken hands yet.
    func connected(
        on loop: EventLoop, _ versions: TLSVersions = .modern
    ) async throws -> StreamPair<TLSStream> {
        let (client, server) = try await connectedPair(loop)
        return StreamPair(
            client: TLSStream(client, session: clientSession(versions)),
            server: TLSStream(server, session: serverSession(versions)))
    }

    /// Two streams that may be used.
    func secured(
        on loop: EventLoop, _ versions: TLSVersions = .modern
    ) async throws -> StreamPair<TLSStream> {
        let pair = try await connected(on: loop, versions)
        async let client: Void = pair.client.handshake()
        try await pair.server.handshake()
        try await client
        return pair
    }
}

extension ByteStream {
    func send(_ bytes: [UInt8]) async throws(StreamFailure) {
        let buffer = ByteBuffer(capacity: max(1, bytes.count))
        buffer.append(bytes)
        try await write(buffer)
    }

    /// Reads once, so many bytes at the most.
    func readSome(_ limit: Int = 1 << 16) async throws(StreamFailure) -> [UInt8] {
        let buffer = ByteBuffer(capacity: limit)
        _ = try await read(into: buffer)
        return buffer.copy
    }

    /// Reads so many bytes.
    func readExactly(_ count: Int) async throws(StreamFailure) -> [UInt8] {
        var result: [UInt8] = []
        while result.count < count {
            let some = try await readSome(count - result.count)
            if some.isEmpty { break }
            result += some
        }
        return result
    }

    /// Why the stream brings nothing, `nil` if it brought something or came to its end.
    func readFailure() async -> StreamFailure? {
        do throws(StreamFailure) {
            _ = try await readSome()
            return nil
        } catch {
            return error
        }
    }
}

/// Nothing yet, then what was sent, then the end, each without waiting.
func expectReadsAtOnce(_ peer: some ByteStream, _ stream: some ByteStream) async throws {
    let buffer = stream.loop.buffers.take()
    defer { stream.loop.buffers.give(buffer) }
    #expect(try stream.readAtOnce(into: buffer) == nil)
    let sent = ByteBuffer(capacity: 2)
    sent.append([4, 5])
    try await peer.write(sent)
    try await stream.waitReadable()
    #expect(try stream.readAtOnce(into: buffer) == 2)
    #expect(buffer.copy == [4, 5])
    await peer.finish()
    try await stream.waitReadable()
    #expect(try stream.readAtOnce(into: buffer) == 0)
    #expect(try stream.readAtOnce(into: buffer) == 0)
}

/// Lets the loop go on until something holds; the test fails if it never does.
func until(_ loop: EventLoop, _ holds: () -> Bool) async {
    for _ in 0..<20_000 where !holds() { await loop.sleep(milliseconds: 1) }
    #expect(holds())
}
