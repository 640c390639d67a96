import Base
import Sockets
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(10)))
struct PlainStreamTests {
    @Test func bringsWhatWasReadAheadFirst() async throws {
        try await withLoop { loop in
            let (client, server) = try await connectedPair(loop)
            let ahead = loop.buffers.take()
            ahead.append([1, 2, 3])
            let stream = PlainStream(client, readAhead: ahead)
            try await PlainStream(server).send([4, 5])
            try await stream.waitReadable()
            #expect(try await stream.readSome(2) == [1, 2])
            try await stream.waitReadable()
            #expect(try await stream.readSome(2) == [3])
            #expect(try await stream.readExactly(2) == [4, 5])
            // The buffer went back to where it came from.
            #expect(loop.buffers.take() === ahead)
        }
    }

    @Test func readsAtOnce() async throws {
        try await withLoop { loop in
            let pair = try await StreamPair.connected(on: loop)
            try await expectReadsAtOnce(pair.client, pair.server)
        }
    }

    @Test func readsOnAfterNothingWasReadAhead() async throws {
        try await withLoop { loop in
            let (client, server) = try await connectedPair(loop)
            let stream = PlainStream(client, readAhead: loop.buffers.take())
            stream.readDeadline = loop.now + 30
            #expect(await stream.readFailure() == .timedOut)
            stream.readDeadline = .max
            try await PlainStream(server).send([4])
            #expect(try await stream.readSome() == [4])
        }
    }
}
