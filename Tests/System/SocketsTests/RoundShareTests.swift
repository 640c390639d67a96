import Base
import Glibc
import Testing

@testable import Sockets

/// A peer that is always ahead keeps nobody else of the loop waiting.
@Suite(.timeLimit(.minutes(10)))
struct RoundShareTests {
    /// Rounds of the loop that another task of it saw while `body` ran.
    private func rounds(
        _ loop: EventLoop, during body: @escaping @Sendable () async throws -> Void
    ) async throws -> Int {
        let count = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !count.isOver {
                    count.value += 1
                    unsafe await withUnsafeContinuation {
                        (continuation: UnsafeContinuation<Void, Never>) in
                        loop.atEndOfRound { unsafe continuation.resume() }
                    }
                }
            }
            group.addTask {
                await Task.yield()
                try await body()
                count.isOver = true
            }
            try await group.waitForAll()
        }
        return count.value
    }

    /// `@unchecked Sendable`: used by tasks of one loop.
    private final class Counter: @unchecked Sendable {
        var value = 0
        var isOver = false
    }

    private static let pieces = 1_000
    private static let pieceLength = 16 << 10
    /// What moves in all, shared out in rounds.
    private static let leastRounds = pieces * pieceLength / RoundShare.byteLimit

    @Test func readingEndsItsTurn() async throws {
        let count = try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            return try await rounds(loop) {
                let bytes = [UInt8](repeating: 7, count: Self.pieceLength)
                for _ in 0..<Self.pieces {
                    left.sendNow(bytes)
                    // Full to the last byte: nothing tells the channel that the kernel has no more.
                    let buffer = ByteBuffer(capacity: Self.pieceLength)
                    while buffer.room > 0 {
                        if right.receive(into: buffer) == .wouldBlock {
                            try #require(await right.waitReadable() == .ready)
                        }
                    }
                }
            }
        }
        #expect(count >= Self.leastRounds)
    }

    /// Bytes that take their reader long come in small portions, so that the others are not kept
    /// waiting for a whole buffer of them; a transfer that takes no time soon has whole buffers.
    @Test func dearBytesComeInSmallPortions() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            let buffer = ByteBuffer(capacity: 64 << 10)
            let noise = [UInt8](repeating: 7, count: 64 << 10)
            // Reads a portion, of many that wait.
            func read() async throws -> Int {
                left.sendNow(noise)
                buffer.removeAll()
                while right.receive(into: buffer) == .wouldBlock {
                    try #require(await right.waitReadable() == .ready)
                }
                return buffer.count
            }
            func understand(for time: UInt64) {
                let start = MonotonicTime.now().nanoseconds
                while MonotonicTime.now().nanoseconds < start + time {}
            }
            #expect(try await read() <= ReadPortion.first)
            understand(for: 20_000_000)
            #expect(try await read() == ReadPortion.least)
            understand(for: 5_000_000)
            #expect(try await read() == ReadPortion.least)
            // However busy the machine is, some are understood at once.
            var tries = 0
            while try await read() < buffer.capacity, tries < 100_000 { tries += 1 }
            #expect(buffer.room == 0)
            understand(for: 20_000_000)
            #expect(try await read() < ReadPortion.first)
        }
    }

    @Test func writingEndsItsTurn() async throws {
        let count = try await withLoop { loop in
            var ends: [Int32] = [0, 0]
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
            try #require(unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0)
            let drain = ends[1]
            defer { close(drain) }
            let writer = try Channel(descriptor: ends[0], loop: loop)
            return try await rounds(loop) {
                let bytes = ByteBuffer(capacity: Self.pieceLength)
                var drained = [UInt8](repeating: 0, count: 2 * Self.pieceLength)
                for _ in 0..<Self.pieces {
                    bytes.append([UInt8](repeating: 7, count: Self.pieceLength))
                    if writer.hasSentItsShare {
                        try #require(await writer.waitWritable() == .ready)
                    }
                    #expect(writer.send(bytes) == .value(Self.pieceLength))
                    // Whoever reads is always ahead of who writes.
                    #expect(unsafe recv(drain, &drained, drained.count, 0) == Self.pieceLength)
                }
            }
        }
        #expect(count >= Self.leastRounds)
    }

    /// A turn that only pauses is not what a deadline is for: bytes are there.
    @Test(arguments: ["deadline", "interruption", "close"])
    func pausingEndsAsWaitingDoes(_ happens: String) async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            left.sendNow([UInt8](repeating: 7, count: 64))
            try #require(await right.waitReadable() == .ready)
            useUpRound(of: right)
            #expect(right.isReadableNow)
            async let outcome = right.waitReadable()
            await Task.yield()
            switch happens {
            case "deadline": right.hurryReading(until: 0)
            case "interruption": right.interrupt()
            default: right.close()
            }
            #expect(await outcome == (happens == "deadline" ? .ready : .closed))
        }
    }

    /// Bytes that were left for the next round are no event of their own.
    @Test func waitingForOneOfSeveralSeesWhatWasLeft() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            left.sendNow([UInt8](repeating: 7, count: 64))
            try #require(await right.waitReadable() == .ready)
            useUpRound(of: right)
            await Channel.waitForEvent(on: [right], loop: loop, deadline: .max)
            #expect(right.receive(into: ByteBuffer(capacity: 8)) == .value(8))
        }
    }

    @Test func acceptingEndsItsTurn() async throws {
        let count = try await withLoop { loop in
            let bound = try Listener.bind(loopback, sharesPort: false)
            let listener = try Listener(
                descriptor: bound.descriptor, address: bound.address, loop: loop)
            defer { listener.close() }
            var clients: [Channel] = []
            for _ in 0..<32 {
                clients.append(
                    try await Channel.connect(to: bound.address, on: loop, deadline: .max))
            }
            let port = Accepting(listener)
            return try await rounds(loop) {
                for _ in 0..<32 {
                    let taken = try #require(await port.listener.accept())
                    taken.channel.close()
                    let start = MonotonicTime.now().nanoseconds
                    while MonotonicTime.now().nanoseconds < start + RoundShare.timeLimit {}
                }
            }
        }
        #expect(count >= 32 / RoundShare.callMinimum)
    }

    /// `@unchecked Sendable`: used by tasks of one loop.
    private final class Accepting: @unchecked Sendable {
        let listener: Listener

        init(_ listener: Listener) { self.listener = listener }
    }

    /// Reads until the channel must wait for the next round, although bytes are left: the share of
    /// a round that has lasted too long is two reads.
    private func useUpRound(of channel: Channel) {
        let buffer = ByteBuffer(capacity: 8)
        while channel.receive(into: buffer) != .wouldBlock {
            channel.noteTaken()
            let start = MonotonicTime.now().nanoseconds
            while MonotonicTime.now().nanoseconds < start + RoundShare.timeLimit {}
            buffer.removeAll()
        }
    }
}
