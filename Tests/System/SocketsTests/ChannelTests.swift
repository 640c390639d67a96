import Base
import Glibc
import Testing

@testable import Sockets

@Suite(.timeLimit(.minutes(10)))
struct ChannelTests {
    @Test func bringsBytesInOrder() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            left.sendNow([1, 2, 3])
            #expect(await right.receiveSome() == [1, 2, 3])
            #expect(left.bytesSent == 3)
            #expect(right.bytesReceived == 3)
            right.sendNow([4])
            #expect(await left.receiveSome() == [4])
        }
    }

    /// A short read has emptied the kernel's buffer: no other call is made before an event.
    @Test func remembersThatNothingIsThere() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            left.sendNow([1])
            #expect(await right.receiveSome() == [1])
            #expect(!right.isReadableNow)
            left.sendNow([2])
            let buffer = ByteBuffer(capacity: 8)
            #expect(right.receive(into: buffer) == .wouldBlock)
            #expect(await right.waitReadable() == .ready)
            #expect(right.isReadableNow)
            #expect(right.receive(into: buffer) == .value(1))
        }
    }

    /// A pair of sockets has no resets by itself. What was said before one is still read.
    @Test(arguments: [false, true])
    func aPairTellsHowItWasClosed(_ resets: Bool) async throws {
        try await withLoop { loop in
            let (near, far) = try Channel.pair(on: loop)
            near.sendNow([1])
            near.close(reset: resets)
            #expect(await far.receiveSome() == [1])
            #expect(await far.waitReadable() == .ready)
            let end = far.receive(into: ByteBuffer(capacity: 8))
            #expect(end == (resets ? .failed(SystemError(ECONNRESET)) : .value(0)))
        }
    }

    /// A read that fills its buffer says nothing about what is left.
    @Test func readsOnAfterAFullBuffer() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            left.sendNow([1, 2, 3, 4, 5])
            #expect(await right.waitReadable() == .ready)
            for expected in [2, 2, 1] {
                let buffer = ByteBuffer(capacity: 2)
                #expect(right.receiveBeyondShare(into: buffer) == .value(expected))
            }
            #expect(!right.isReadableNow)
        }
    }

    /// A bug of ours costs its connection, and not the process with all others.
    @Test func twoThatWaitForTheSameEndTheChannel() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            #expect(right.receive(into: ByteBuffer(capacity: 1)) == .wouldBlock)
            let outcomes = await withTaskGroup(of: Channel.WaitOutcome.self) { group in
                for _ in 0..<2 { group.addTask { await right.waitReadable() } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes == [.closed, .closed])
            #expect(right.hasConflicted && right.isClosed && !left.isClosed)
        }
    }

    /// Who closed because the peer takes nothing asks afterwards what it had not got.
    @Test func tellsWhatWasNotAcknowledgedBehindTheEnd() async throws {
        try await withLoop { loop in
            let (client, server) = try await connectedPair(loop)
            while true {
                let buffer = ByteBuffer(capacity: 1 << 20)
                buffer.append([UInt8](repeating: 1, count: 1 << 20))
                guard case .value = server.send(buffer), buffer.isEmpty else { break }
            }
            let open = try #require(server.unacknowledgedCount)
            #expect(open > 0)
            server.close()
            #expect(server.unacknowledgedCount == open)
            client.close(reset: true)
        }
    }

    /// The event of a reset may come later than the call that finds it.
    @Test func knowsAResetFromSending() async throws {
        try await withLoop { loop in
            let (client, server) = try await connectedPair(loop)
            client.close(reset: true)
            let buffer = ByteBuffer(capacity: 1)
            buffer.append([1])
            guard case .failed(let error) = server.send(buffer) else {
                Issue.record("the reset is not known")
                return
            }
            #expect(error.isReset && server.isBroken)
        }
    }

    @Test func tellsTheEndBehindTheLastBytes() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            left.sendNow([1, 2])
            left.shutdownWriting()
            // Several rounds, so that the event of the bytes is taken with that of the end.
            await loop.sleep(milliseconds: 20)
            let buffer = ByteBuffer(capacity: 16)
            // Also late in a round, when the others would have their turn first.
            #expect(right.receiveBeyondShare(into: buffer) == .value(2))
            #expect(right.receiveBeyondShare(into: buffer) == .value(0))
            #expect(right.receiveBeyondShare(into: buffer) == .value(0))
            #expect(right.peerEnded)
            #expect(!right.isClosed)
            right.sendNow([9])
            #expect(await left.receiveSome() == [9])
        }
    }

    @Test func waitsUntilThePeerTakesBytes() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            let buffer = ByteBuffer(capacity: 1 << 16)
            var sent = 0
            filling: while true {
                _ = unsafe buffer.fill { space in
                    unsafe space.initializeMemory(as: UInt8.self, repeating: 7)
                    return space.count
                }
                switch left.send(buffer) {
                case .value(let count): sent += count
                case .wouldBlock: break filling
                case .failed(let error): throw error
                }
                buffer.removeAll()
            }
            #expect(sent > 1 << 16)
            #expect(!left.mayWriteNow)
            async let outcome = left.waitWritable()
            var received = 0
            while received < sent { received += await right.receiveSome().count }
            #expect(await outcome == .ready)
            #expect(received == sent)
            #expect(left.bytesSent == Int64(sent))
        }
    }

    // MARK: Deadlines

    @Test func givesUpAtItsDeadline() async throws {
        try await withLoop { loop in
            let (left, _) = try socketPair(loop)
            let due = loop.now + 30
            left.readDeadline = due
            #expect(await left.waitAndTell() == .timedOut)
            #expect(loop.now >= due)
            #expect(!left.isClosed)
            // One that is over already does not wait for another.
            #expect(await left.waitAndTell() == .timedOut)
        }
    }

    @Test func waitsForALaterDeadlineAfterAnEarlierOne() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            left.readDeadline = loop.now + 20
            right.sendNow([1])
            #expect(await left.receiveSome() == [1])
            let due = loop.now + 80
            left.readDeadline = due
            #expect(await left.waitAndTell() == .timedOut)
            #expect(loop.now >= due)
        }
    }

    @Test func takesAnEarlierDeadlineWhileItWaits() async throws {
        try await withLoop { loop in
            let (left, _) = try socketPair(loop)
            left.readDeadline = loop.now + 60_000
            async let outcome = left.waitAndTell()
            await Task.yield()
            left.hurryReading(until: loop.now + 20)
            left.hurryReading(until: loop.now + 30_000)
            #expect(await outcome == .timedOut)
        }
    }

    @Test func keepsBothDirectionsDeadlinesApart() async throws {
        try await withLoop { loop in
            let (left, _) = try socketPair(loop)
            // The first round tells that a new socket takes bytes.
            await loop.sleep(milliseconds: 1)
            left.mustWaitToWrite()
            let start = loop.now
            left.readDeadline = start + 60
            left.writeDeadline = start + 20
            async let reading = left.waitAndTell()
            #expect(await left.waitWritable() == .timedOut)
            #expect(loop.now >= start + 20)
            #expect(await reading == .timedOut)
            #expect(loop.now >= start + 60)
        }
    }

    // MARK: Interruptions

    @Test func goesOnWithoutWaitingWhenInterrupted() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            async let outcome = left.waitAndTell()
            await Task.yield()
            left.interrupt()
            #expect(await outcome == .closed)
            #expect(await left.waitAndTell() == .closed)
            right.sendNow([5])
            await loop.sleep(milliseconds: 10)
            #expect(await left.receiveSome() == [5])
            left.resumeWaiting()
            async let second = left.waitAndTell()
            await Task.yield()
            right.sendNow([6])
            #expect(await second == .ready)
        }
    }

    @Test func wakesBothWaitersWhenItCloses() async throws {
        try await withLoop { loop in
            let (left, _) = try socketPair(loop)
            await loop.sleep(milliseconds: 1)
            left.mustWaitToWrite()
            async let reading = left.waitAndTell()
            async let writing = left.waitWritable()
            await Task.yield()
            left.close()
            left.close()
            #expect(await reading == .closed)
            #expect(await writing == .closed)
            #expect(await left.waitAndTell() == .closed)
        }
    }

    @Test func doesNothingOnceItIsClosed() async throws {
        try await withLoop { loop in
            let (left, right) = try await connectedPair(loop)
            #expect(left.localAddress == right.peerAddress)
            #expect(left.peerAddress == right.localAddress)
            left.close()
            // The number of the descriptor is another connection's now.
            let (other, second) = try await connectedPair(loop)
            let buffer = ByteBuffer(capacity: 8)
            buffer.append([1])
            #expect(left.receive(into: buffer) == .value(0))
            #expect(left.send(buffer) == .failed(SystemError(32)))
            #expect(left.localAddress == nil)
            #expect(left.peerAddress == nil)
            #expect(left.takeError() == nil)
            #expect(!left.isQuiet)
            left.shutdownWriting()
            left.setNoDelay()
            // An end that went to the wrong connection would come before the byte, or in its place.
            other.sendNow([7])
            second.sendNow([8])
            #expect(await second.receiveSome() == [7])
            #expect(await other.receiveSome() == [8])
            #expect(other.isQuiet && second.isQuiet)
        }
    }

    // MARK: The peer's end

    @Test func tellsWhenThePeerEnds() async throws {
        try await withLoop { loop in
            let notes = Notes()
            let (left, right) = try socketPair(loop)
            left.onPeerEnd { notes.add("ended") }
            #expect(left.isQuiet)
            right.sendNow([1])
            await until(loop) { !left.isQuiet }
            #expect(notes.all == [])
            right.shutdownWriting()
            await until(loop) { notes.all == ["ended"] }
        }
    }

    @Test func tellsNobodyWhoNoLongerListens() async throws {
        try await withLoop { loop in
            let notes = Notes()
            let (left, right) = try socketPair(loop)
            left.onPeerEnd { notes.add("ended") }
            left.onPeerEnd(nil)
            right.close()
            await until(loop) { left.isBroken }
            #expect(notes.all == [])
        }
    }

    @Test func tellsAReset() async throws {
        try await withLoop { loop in
            let notes = Notes()
            let (client, server) = try await connectedPair(loop)
            client.onPeerEnd { notes.add("ended") }
            async let outcome = client.waitAndTell()
            await Task.yield()
            server.close(reset: true)
            #expect(await outcome == .ready)
            #expect(client.isBroken)
            #expect(notes.all == ["ended"])
            guard case .failed(let error) = client.receive(into: ByteBuffer(capacity: 8)) else {
                Issue.record("the reset went unseen")
                return
            }
            #expect(error.isReset)
            #expect(error.description == "connection reset by peer")
        }
    }

    @Test func bringsWhatCameBeforeAReset() async throws {
        try await withLoop { loop in
            let (client, server) = try await connectedPair(loop)
            server.sendNow([1, 2])
            await until(loop) { !client.isQuiet }
            server.close(reset: true)
            await until(loop) { client.isBroken }
            #expect(client.isReadableNow)
            #expect(!client.isQuiet)
        }
    }

    @Test func waitsForOneOfSeveral() async throws {
        try await withLoop { loop in
            let (first, _) = try socketPair(loop)
            let (second, peer) = try socketPair(loop)
            await loop.sleep(milliseconds: 1)
            let due = loop.now + 20
            await Channel.waitForEvent(on: [first, second], loop: loop, deadline: due)
            #expect(loop.now >= due)
            peer.sendNow([1])
            await Channel.waitForEvent(on: [first, second], loop: loop, deadline: .max)
            #expect(second.isReadableNow)
            loop.execute { first.close() }
            await Channel.waitForEvent(on: [first, second], loop: loop, deadline: .max)
            #expect(first.isClosed)
        }
    }
}
