import Base
import Glibc
import Testing

@testable import Sockets

@Suite(.timeLimit(.minutes(10)))
struct ConnectingTests {
    @Test func tellsARefusal() async throws {
        try await withLoop { loop in
            let refusing = try RefusingPort()
            let error = await #expect(throws: SystemError.self) {
                try await Channel.connect(to: refusing.address, on: loop, deadline: .max)
            }
            #expect(error?.description == "connection refused")
        }
    }

    @Test func givesUpAtTheDeadline() async throws {
        try await withLoop { loop in
            let silent = try SilentPort()
            let due = loop.now + 40
            await #expect(throws: SystemError.timedOut) {
                try await Channel.connect(to: silent.address, on: loop, deadline: due)
            }
            #expect(loop.now >= due)
        }
    }

    @Test func triesNothingWithoutAnAddress() async throws {
        try await withLoop { loop in
            await #expect(throws: SystemError.unreachable) {
                try await Channel.connect(toFirstOf: [], on: loop, deadline: .max)
            }
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// One letter for each address: r refuses, s is silent, a accepts; u is refused by the
        /// system itself, without a packet.
        let addresses: String
        /// Which of them is connected to.
        let winner: Int
        /// How long that takes at least and at most, in milliseconds.
        let duration: ClosedRange<UInt64>
    }

    static let rows = [
        Row(testDescription: "first answers", addresses: "aa", winner: 0, duration: 0...200),
        Row(testDescription: "first refuses", addresses: "ra", winner: 1, duration: 0...200),
        Row(
            testDescription: "first is out of reach", addresses: "ua", winner: 1, duration: 0...200),
        Row(
            testDescription: "silent, then out of reach", addresses: "sua", winner: 2,
            duration: 240...480),
        Row(testDescription: "several refuse", addresses: "rrrra", winner: 4, duration: 0...200),
        Row(testDescription: "first is silent", addresses: "sa", winner: 1, duration: 240...480),
        Row(
            testDescription: "two are silent", addresses: "ssa", winner: 2, duration: 490...740),
        Row(
            testDescription: "silent, then refused", addresses: "sra", winner: 2,
            duration: 240...480),
        Row(
            testDescription: "refused, then silent", addresses: "rsa", winner: 2,
            duration: 240...480),
    ]

    @Test(arguments: rows)
    func connectsToTheFirstThatAnswers(_ row: Row) async throws {
        try await withLoop { loop in
            let bound = try Listener.bind(loopback, sharesPort: false)
            let listener = try Listener(
                descriptor: bound.descriptor, address: bound.address, loop: loop)
            defer { listener.close() }
            let (silent, refusing) = (try SilentPort(), try RefusingPort())
            let addresses = row.addresses.map { letter in
                switch letter {
                case "r": refusing.address
                case "s": silent.address
                case "u": SocketAddress(address: [255, 255, 255, 255], port: 9)
                default: bound.address
                }
            }
            // On a busy machine a try may take longer, but not each of several.
            var durations: [UInt64] = []
            while durations.count < 4, durations.last.map({ $0 > row.duration.upperBound }) ?? true
            {
                let start = loop.now
                let (channel, address) = try await Channel.connect(
                    toFirstOf: addresses, on: loop, deadline: loop.now + 10_000)
                durations.append(loop.now - start)
                #expect(address == addresses[row.winner])
                let (server, _) = try #require(await listener.accept())
                channel.sendNow([1])
                #expect(await server.receiveSome() == [1])
                channel.close()
            }
            #expect(durations.contains { row.duration.contains($0) }, "\(durations) ms")
            #expect(durations.allSatisfy { $0 >= row.duration.lowerBound }, "\(durations) ms")
        }
    }

    @Test(arguments: ["rr", "rrr"])
    func tellsTheLastRefusal(_ addresses: String) async throws {
        try await withLoop { loop in
            let refusing = try RefusingPort()
            await #expect(throws: SystemError(111)) {
                try await Channel.connect(
                    toFirstOf: addresses.map { _ in refusing.address }, on: loop, deadline: .max)
            }
        }
    }

    @Test func givesUpOnAllAtTheDeadline() async throws {
        try await withLoop { loop in
            let silent = try SilentPort()
            let due = loop.now + 300
            await #expect(throws: SystemError.timedOut) {
                try await Channel.connect(
                    toFirstOf: [silent.address, silent.address, silent.address], on: loop,
                    deadline: due)
            }
            #expect(loop.now >= due)
        }
    }

    /// A shutdown closes the attempts, and must not wait for their deadline.
    @Test func endsWhenItsChannelsAreClosed() async throws {
        try await withLoop { loop in
            let silent = try SilentPort()
            let start = loop.now
            let timer = loop.makeTimer { loop.closeAllChannels() }
            loop.set(timer, due: loop.now + 30)
            await #expect(throws: SystemError.self) {
                try await Channel.connect(
                    toFirstOf: [silent.address, silent.address], on: loop, deadline: start + 2_000)
            }
            #expect(loop.now < start + 1_000)
        }
    }

    @Test func leavesNoAttemptOpen() async throws {
        await #expect(processExitsWith: .success) {
            try await withLoop { loop in
                let (silent, refusing) = (try SilentPort(), try RefusingPort())
                let bound = try Listener.bind(loopback, sharesPort: false)
                let probe = dup(0)
                close(probe)
                limitDescriptors(UInt(probe) + 8)
                // Each race leaves one channel, which is closed here, and no loser.
                for _ in 0..<6 {
                    let (channel, _) = try await Channel.connect(
                        toFirstOf: [silent.address, refusing.address, bound.address],
                        on: loop, deadline: loop.now + 10_000)
                    channel.close()
                }
            }
        }
    }
}
