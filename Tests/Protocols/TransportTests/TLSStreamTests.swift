import Base
import Sockets
import TLS
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(10)))
struct TLSStreamTests {
    private let laboratory: StreamLaboratory

    init() throws { laboratory = try StreamLaboratory() }

    struct Row: CustomTestStringConvertible, Sendable {
        let versions: TLSVersions
        var testDescription: String { versions.maximum.name }
    }

    static let rows = [
        Row(versions: TLSVersions(.tls12, .tls12)), Row(versions: TLSVersions(.tls13, .tls13)),
    ]

    // MARK: Handshakes

    /// How a handshake ended.
    private static func failure(of stream: TLSStream) async -> StreamFailure? {
        do throws(StreamFailure) {
            try await stream.handshake()
            return nil
        } catch {
            return error
        }
    }

    @Test func tellsWhoIsSilent() async throws {
        try await withLoop { [laboratory] loop in
            let pair = try await laboratory.connected(on: loop)
            pair.server.readDeadline = loop.now + 30
            let failure = await Self.failure(of: pair.server)
            #expect(failure == .tls(TLSFailure(.timedOut, "silent in the handshake")))
        }
    }

    @Test func tellsWhoBreaksOff() async throws {
        try await withLoop { [laboratory] loop in
            for isReset in [false, true] {
                for isServer in [false, true] {
                    let pair = try await laboratory.connected(on: loop)
                    let (stream, other) =
                        isServer ? (pair.server, pair.client) : (pair.client, pair.server)
                    other.close(reset: isReset)
                    let ended = await Self.failure(of: stream)
                    guard case .tls(let failure) = ended else {
                        Issue.record(
                            "reset \(isReset), server \(isServer): \(ended.debugDescription)")
                        continue
                    }
                    #expect(failure.reason == (isReset ? .peerReset : .peerClosed))
                }
            }
        }
    }

    @Test func tellsWhatIsNoTLS() async throws {
        try await withLoop { [laboratory] loop in
            let pair = try await laboratory.connected(on: loop)
            let plain = PlainStream(pair.client.channel)
            try await plain.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
            let failure = await Self.failure(of: pair.server)
            #expect(failure == .tls(TLSFailure(.protocolError, "http request")))
        }
    }

    @Test func goesOnFromAHelloThatWasReadAhead() async throws {
        try await withLoop { [laboratory] loop in
            let (client, server) = try await connectedPair(loop)
            let pair = StreamPair(
                client: TLSStream(client, session: laboratory.clientSession()),
                server: TLSStream(server, session: laboratory.serverSession()))
            async let handshake: Void = pair.client.handshake()
            let hello = loop.buffers.take()
            _ = try await PlainStream(server).read(into: hello)
            let stream = TLSStream(
                server, session: laboratory.serverSession(), readAhead: hello)
            try await stream.handshake()
            try await handshake
            try await stream.send([1, 2])
            #expect(try await pair.client.readExactly(2) == [1, 2])
        }
    }

    /// A client that refuses the certificate says so and is gone; what we send then meets its
    /// reset, and the reason lies in front of that, unread.
    @Test func findsTheAlertBehindAReset() async throws {
        try await withLoop { [laboratory] loop in
            let (client, server) = try await connectedPair(loop)
            let session = laboratory.clientSession()
            session.outgoing = ByteBuffer(capacity: 1 << 14)
            _ = session.handshake()
            let hello = loop.buffers.take()
            hello.append(session.outgoing?.copy ?? [])
            try await PlainStream(client).send([21, 3, 3, 0, 2, 2, 48])
            // Until the alert and the reset have arrived, in this order.
            await until(loop) { !server.isQuiet }
            client.close(reset: true)
            await until(loop) { server.isBroken }
            let stream = TLSStream(
                server, session: laboratory.serverSession(), readAhead: hello)
            guard case .tls(let failure) = await Self.failure(of: stream) else {
                Issue.record("the alert went unseen")
                return
            }
            #expect(failure.reason == .alertReceived(TLSAlert(isFatal: true, code: 48)))
        }
    }

    // MARK: Buffers

    /// What is there is read in the caller's own turn, so that the buffer stays the caller's.
    @Test(arguments: rows)
    func readsAtOnce(_ row: Row) async throws {
        try await withLoop { [laboratory] loop in
            let pair = try await laboratory.secured(on: loop, row.versions)
            try await expectReadsAtOnce(pair.client, pair.server)
            #expect(pair.server.endedInOrder)
        }
    }

    @Test(arguments: rows)
    func holdsNoBufferWhileItIsIdle(_ row: Row) async throws {
        try await withLoop { [laboratory] loop in
            let pair = try await laboratory.secured(on: loop, row.versions)
            // The tickets of TLS 1.3 may still be on their way to the client.
            await loop.sleep(milliseconds: 20)
            for stream in [pair.client, pair.server] {
                stream.readDeadline = loop.now + 30
                #expect(await stream.readFailure() == .timedOut)
                #expect(stream.session.incoming == nil)
                #expect(stream.session.outgoing == nil)
                stream.readDeadline = .max
            }
            for (source, target) in [(pair.client, pair.server), (pair.server, pair.client)] {
                try await source.send([1, 2, 3])
                #expect(try await target.readExactly(3) == [1, 2, 3])
                #expect(source.session.outgoing == nil)
                #expect(target.session.incoming == nil)
                #expect(target.session.outgoing == nil)
            }
        }
    }

    /// A stream that was only secured, and waits in a pool without having been read.
    @Test(arguments: rows)
    func holdsNoBufferAfterItsHandshake(_ row: Row) async throws {
        try await withLoop { [laboratory] loop in
            let pair = try await laboratory.secured(on: loop, row.versions)
            #expect(pair.client.session.incoming == nil)
            #expect(pair.client.session.outgoing == nil)
            #expect(pair.server.session.incoming == nil)
            #expect(pair.server.session.outgoing == nil)
        }
    }

    // MARK: Data inside OpenSSL

    /// The socket is empty and will tell of nothing, but a record waits inside.
    @Test(arguments: rows)
    func wakesForWhatWaitsInside(_ row: Row) async throws {
        try await withLoop { [laboratory] loop in
            let pair = try await laboratory.secured(on: loop, row.versions)
            try await pair.server.send([0])
            _ = try await pair.client.readExactly(1)
            // Two records in one send, so that they arrive together.
            let plain = ByteBuffer(capacity: 200)
            let wire = ByteBuffer(capacity: 4096)
            pair.server.session.outgoing = wire
            for byte in [1, 2] as [UInt8] {
                plain.append([UInt8](repeating: byte, count: 100))
                #expect(pair.server.session.write(plain) == .done)
            }
            pair.server.session.outgoing = nil
            try await PlainStream(pair.server.channel).send(wire.copy)
            await until(loop) { !pair.client.channel.isQuiet }
            // Who is not woken is told so then.
            pair.client.readDeadline = loop.now + 30_000
            for expected in [60, 40, 60, 40] {
                try await pair.client.waitReadable()
                #expect(try await pair.client.readSome(60).count == expected)
            }
            pair.client.readDeadline = loop.now + 30
            await #expect(throws: StreamFailure.timedOut) {
                try await pair.client.waitReadable()
            }
        }
    }

    /// Half a record has come: there is nothing to read, and no reason to spin.
    @Test(arguments: rows)
    func waitsForTheRestOfARecord(_ row: Row) async throws {
        try await withLoop { [laboratory] loop in
            let pair = try await laboratory.secured(on: loop, row.versions)
            try await pair.server.send([0])
            _ = try await pair.client.readExactly(1)
            let plain = ByteBuffer(capacity: 200)
            plain.append([UInt8](repeating: 1, count: 200))
            let wire = ByteBuffer(capacity: 4096)
            pair.server.session.outgoing = wire
            #expect(pair.server.session.write(plain) == .done)
            pair.server.session.outgoing = nil
            let bytes = wire.copy
            let raw = PlainStream(pair.server.channel)
            try await raw.send(Array(bytes.prefix(50)))
            async let read = pair.client.readSome()
            await loop.sleep(milliseconds: 30)
            try await raw.send(Array(bytes.dropFirst(50)))
            #expect(try await read.count == 200)
        }
    }

    // MARK: Ends

    /// RFC 8446 §6.1: without close_notify the peer may have been cut off.
    @Test(arguments: rows)
    func tellsAnEndWithoutGoodbye(_ row: Row) async throws {
        try await withLoop { [laboratory] loop in
            let pair = try await laboratory.secured(on: loop, row.versions)
            try await pair.server.send([1])
            pair.server.channel.shutdownWriting()
            #expect(try await pair.client.readExactly(1) == [1])
            #expect(try await pair.client.readSome() == [])
            #expect(!pair.client.endedInOrder)
        }
    }

    /// A writer that is in the middle is not cut off by an end that another task asks for.
    @Test(arguments: rows)
    func endsAfterWhatIsBeingSent(_ row: Row) async throws {
        try await withLoop { [laboratory] loop in
            let pair = try await laboratory.secured(on: loop, row.versions)
            // More than the kernel takes, and less than the stream takes over.
            let size = 8 << 20
            pair.client.channel.readDeadline = .max
            async let writing: Void = pair.client.send([UInt8](repeating: 9, count: size))
            await loop.sleep(milliseconds: 20)
            async let finishing: Void = pair.client.finish()
            let received = try await pair.server.readExactly(size)
            #expect(received.count > 0)
            // Whatever was taken over before the end came whole.
            if received.count < size { #expect(pair.server.endedInOrder) }
            await finishing
            do { try await writing } catch {}
        }
    }
}
