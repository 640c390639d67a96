import Base
import Sockets
import TLS
import Testing

@testable import Transport

/// What holds for both kinds of stream.
@Suite(.timeLimit(.minutes(10)))
struct ByteStreamTests {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case plain = "plain"
        case tls12 = "TLS 1.2"
        case tls13 = "TLS 1.3"
        var testDescription: String { rawValue }
    }

    /// Connects two streams of a kind, and runs `body` with them on their loop.
    private func withPair(
        _ kind: Kind,
        _ body: @escaping @Sendable (any ByteStream, any ByteStream, EventLoop) async throws -> Void
    ) async throws {
        let laboratory = try StreamLaboratory()
        try await withLoop { loop in
            switch kind {
            case .plain:
                let pair = try await StreamPair.connected(on: loop)
                try await body(pair.client, pair.server, loop)
            case .tls12:
                let pair = try await laboratory.secured(on: loop, TLSVersions(.tls12, .tls12))
                try await body(pair.client, pair.server, loop)
            case .tls13:
                let pair = try await laboratory.secured(on: loop, TLSVersions(.tls13, .tls13))
                try await body(pair.client, pair.server, loop)
            }
        }
    }

    /// A stream for a task of its loop.
    ///
    /// `@unchecked Sendable`: the task runs on the stream's loop.
    private struct Lent: @unchecked Sendable {
        let stream: any ByteStream
    }

    /// A peer that sends on behind our end is read so far, and no further.
    @Test(arguments: Kind.allCases, [1 << 20, 40 << 20])
    func endsInOrderWithinALimit(_ kind: Kind, _ limit: Int) async throws {
        try await withPair(kind) { client, server, loop in
            let lent = Lent(stream: client)
            let sent = Task(executorPreference: loop) {
                let piece = ByteBuffer(capacity: 1 << 16)
                var count = 0
                while count < 400 << 20 {
                    piece.append([UInt8](repeating: 1, count: 1 << 16))
                    do throws(StreamFailure) {
                        try await lent.stream.write(piece)
                    } catch {
                        break
                    }
                    count += 1 << 16
                }
                return count
            }
            await server.endInOrder(discarding: limit)
            let count = await sent.value
            // What the kernel holds, and whole buffers, come on top.
            #expect(count >= limit - (1 << 16) && count < limit + (30 << 20))
        }
    }

    @Test(arguments: Kind.allCases)
    func carriesBothWaysAtOnce(_ kind: Kind) async throws {
        try await withPair(kind) { client, server, loop in
            let size = 100 << 20
            let lent = [Lent(stream: client), Lent(stream: server)]
            let digests = try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
                for (index, end) in lent.enumerated() {
                    group.addTask(executorPreference: loop) {
                        (index, try await Self.write(size, to: end.stream, seed: index))
                    }
                    group.addTask(executorPreference: loop) {
                        (2 + index, try await Self.read(size, from: end.stream))
                    }
                }
                return try await group.reduce(into: [Int: [UInt8]]()) { $0[$1.0] = $1.1 }
            }
            #expect(digests[0] == digests[3])
            #expect(digests[1] == digests[2])
            #expect(digests[0] != digests[1])
        }
    }

    /// - Returns: the digest of what was written.
    private static func write(
        _ size: Int, to stream: any ByteStream, seed: Int
    ) async throws -> [UInt8] {
        let digest = RunningHash(.sha256)
        var block = (0..<70_001).map { UInt8(truncatingIfNeeded: ($0 &+ seed) &* 31 &+ $0 >> 8) }
        var left = size
        while left > 0 {
            block[0] &+= 1
            let part = Array(block.prefix(left))
            digest.update(part)
            try await stream.send(part)
            left -= part.count
        }
        return digest.finish()
    }

    private static func read(_ size: Int, from stream: any ByteStream) async throws -> [UInt8] {
        let digest = RunningHash(.sha256)
        let buffer = ByteBuffer(capacity: 1 << 16)
        var left = size
        while left > 0 {
            let count = try await stream.read(into: buffer)
            guard count > 0 else { break }
            unsafe buffer.withUnsafeReadable { unsafe digest.update($0) }
            left -= count
            buffer.removeAll()
        }
        return digest.finish()
    }

    @Test(arguments: Kind.allCases)
    func endsOneDirectionAtATime(_ kind: Kind) async throws {
        try await withPair(kind) { client, server, _ in
            try await client.send([1, 2])
            await client.finish()
            #expect(try await server.readExactly(2) == [1, 2])
            #expect(!server.endedInOrder)
            #expect(try await server.readSome() == [])
            #expect(server.endedInOrder)
            try await server.send([3, 4, 5])
            #expect(try await client.readExactly(3) == [3, 4, 5])
            await server.finish()
            #expect(try await client.readSome() == [])
            #expect(try await client.readSome() == [])
            #expect(client.endedInOrder)
        }
    }

    @Test(arguments: Kind.allCases)
    func givesUpReadingAtItsDeadline(_ kind: Kind) async throws {
        try await withPair(kind) { client, server, loop in
            let due = loop.now + 40
            client.readDeadline = due
            #expect(await client.readFailure() == .timedOut)
            #expect(loop.now >= due)
            client.readDeadline = .max
            try await server.send([1])
            #expect(try await client.readSome() == [1])
        }
    }

    @Test(arguments: Kind.allCases)
    func givesUpWritingAtItsDeadline(_ kind: Kind) async throws {
        try await withPair(kind) { client, _, loop in
            let due = loop.now + 100
            client.writeDeadline = due
            let block = [UInt8](repeating: 1, count: 1 << 20)
            await #expect(throws: StreamFailure.timedOut) {
                for _ in 0..<64 { try await client.send(block) }
            }
            #expect(loop.now >= due)
        }
    }

    @Test(arguments: Kind.allCases)
    func goesOnAfterAnInterruption(_ kind: Kind) async throws {
        try await withPair(kind) { client, server, loop in
            let lent = Lent(stream: client)
            async let failure = lent.stream.readFailure()
            await loop.sleep(milliseconds: 20)
            client.channel.interrupt()
            #expect(await failure == .closed)
            client.channel.resumeWaiting()
            try await server.send([7])
            #expect(try await client.readSome() == [7])
        }
    }

    @Test(arguments: Kind.allCases)
    func endsWhoReadsWhenItIsClosed(_ kind: Kind) async throws {
        try await withPair(kind) { client, _, loop in
            let lent = Lent(stream: client)
            async let failure = lent.stream.readFailure()
            await loop.sleep(milliseconds: 20)
            client.close()
            #expect(await failure == .closed)
            #expect(await client.readFailure() == .closed)
            await #expect(throws: StreamFailure.closed) { try await client.send([1]) }
        }
    }

    @Test(arguments: Kind.allCases)
    func tellsAReset(_ kind: Kind) async throws {
        try await withPair(kind) { client, server, _ in
            server.close(reset: true)
            #expect(await client.readFailure() == .reset)
            #expect(!client.endedInOrder)
            await #expect(throws: StreamFailure.reset) {
                for _ in 0..<100 { try await client.send([1]) }
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func waitsUntilSomethingIsThere(_ kind: Kind) async throws {
        try await withPair(kind) { client, server, loop in
            // The tickets of TLS 1.3 are there first.
            try await server.send([0])
            #expect(try await client.readSome() == [0])
            client.readDeadline = loop.now + 40
            await #expect(throws: StreamFailure.timedOut) { try await client.waitReadable() }
            client.readDeadline = .max
            try await server.send([1])
            try await client.waitReadable()
            #expect(try await client.readSome() == [1])
        }
    }
}
