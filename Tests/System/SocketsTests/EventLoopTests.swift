import Base
import Synchronization
import Testing

@testable import Sockets

@Suite(.timeLimit(.minutes(10)))
struct EventLoopTests {
    @Test func runsTasksOnItsOwnThread() async throws {
        try await withLoop { loop in
            #expect(loop.isCurrent)
            await Task.yield()
            #expect(loop.isCurrent)
            async let child = loop.isCurrent
            #expect(await child)
        }
    }

    @Test func isNotCurrentElsewhere() async throws {
        let loop = try EventLoop(index: 7)
        #expect(!loop.isCurrent)
        #expect(loop.index == 7)
    }

    @Test func takesJobsFromManyThreads() async throws {
        let count = try await withLoop { loop in
            await withTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    // On the shared pool: each round trip enters the loop from another thread.
                    group.addTask(executorPreference: nil) {
                        await Task.detached {
                            var sum = 0
                            for _ in 0..<500 {
                                sum += await Task(executorPreference: loop) {
                                    loop.isCurrent ? 1 : 0
                                }.value
                            }
                            return sum
                        }.value
                    }
                }
                return await group.reduce(0, +)
            }
        }
        #expect(count == 4_000)
    }

    @Test func runsActionsOfOtherThreadsInOrder() async throws {
        let notes = Notes()
        try await withLoop { loop in
            await Task.detached {
                for number in 0..<1_000 { loop.execute { notes.add("\(number)") } }
            }.value
            await loop.sleep(milliseconds: 0)
        }
        #expect(notes.all == (0..<1_000).map { "\($0)" })
    }

    @Test func runsActionsOnItsThread() async throws {
        try await withLoop { loop in
            let isCurrent = unsafe await withUnsafeContinuation {
                (continuation: UnsafeContinuation<Bool, Never>) in
                loop.execute { unsafe continuation.resume(returning: loop.isCurrent) }
            }
            #expect(isCurrent)
        }
    }

    @Test func runsTheEndOfARoundAfterItsJobs() async throws {
        let notes = Notes()
        try await withLoop { loop in
            loop.atEndOfRound { notes.add("end") }
            notes.add("before")
            await Task.yield()
            notes.add("after a yield")
            await loop.sleep(milliseconds: 1)
            notes.add("next round")
        }
        #expect(notes.all == ["before", "after a yield", "end", "next round"])
    }

    /// What is put off at the end of a round has a round of its own, and no event to wait for.
    @Test func runsTheEndOfARoundThatAnotherEndAskedFor() async throws {
        let notes = Notes()
        try await withLoop { loop in
            // By then nothing is left that would wake the loop up.
            await loop.sleep(milliseconds: 20)
            loop.atEndOfRound {
                notes.add("first")
                loop.atEndOfRound { notes.add("second") }
            }
            // The next event: a round that waited for it would end behind what it wakes.
            await loop.sleep(milliseconds: 1_000)
            notes.add("event")
        }
        #expect(notes.all == ["first", "second", "event"])
    }

    @Test func sleepsAtLeastAsLongAsAsked() async throws {
        try await withLoop { loop in
            for milliseconds in [0, 1, 8, 30] as [UInt64] {
                let start = loop.now
                await loop.sleep(milliseconds: milliseconds)
                #expect(loop.now >= start + milliseconds)
            }
        }
    }

    @Test func wakesSleepersByTheirTime() async throws {
        let notes = Notes()
        try await withLoop { loop in
            await withDiscardingTaskGroup { group in
                for milliseconds in [60, 20, 40] as [UInt64] {
                    group.addTask(executorPreference: loop) {
                        await loop.sleep(milliseconds: milliseconds)
                        notes.add("\(milliseconds)")
                    }
                }
            }
        }
        #expect(notes.all == ["20", "40", "60"])
    }

    @Test func firesATimerOnceAndNotWhenStopped() async throws {
        let notes = Notes()
        try await withLoop { loop in
            let fired = loop.makeTimer { notes.add("fired") }
            let stopped = loop.makeTimer { notes.add("stopped") }
            loop.set(fired, due: loop.now + 5)
            loop.set(stopped, due: loop.now + 5)
            loop.set(stopped, due: .max)
            await loop.sleep(milliseconds: 50)
        }
        #expect(notes.all == ["fired"])
    }

    @Test func endsWhenItIsStopped() async throws {
        let loop = try EventLoop(index: 0)
        let ended = Notes()
        unsafe await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            startThread(named: "test loop") {
                loop.run()
                ended.add("ended")
                unsafe continuation.resume()
            }
            loop.stop()
        }
        #expect(ended.all == ["ended"])
    }

    @Test func returnsAtOnceWhenStoppedBefore() throws {
        let loop = try EventLoop(index: 0)
        loop.stop()
        loop.run()
    }

    @Test func closesEveryChannel() async throws {
        try await withLoop { loop in
            let (left, right) = try socketPair(loop)
            async let outcome = left.waitAndTell()
            await Task.yield()
            loop.closeAllChannels()
            #expect(await outcome == .closed)
            #expect(right.isClosed)
        }
    }

    /// A descriptor's number is used again at once; an event of the old one must not reach the new.
    @Test func keepsChannelsApartThatHaveOneDescriptorInTurn() async throws {
        try await withLoop { loop in
            for number in 0..<200 as Range<UInt8> {
                let (left, right) = try socketPair(loop)
                right.sendNow([number])
                #expect(await left.receiveSome() == [number])
                left.close()
                right.close()
            }
        }
    }

    @Test func countsProcessors() {
        #expect(availableProcessorCount() >= 1)
    }
}

extension Channel {
    func waitAndTell() async -> WaitOutcome { await waitReadableLatched() }

    private func waitReadableLatched() async -> WaitOutcome {
        mustWaitToRead()
        return await waitReadable()
    }
}
