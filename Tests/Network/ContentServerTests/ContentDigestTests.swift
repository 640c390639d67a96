import Base
import HTTPServer
import Sockets
import Synchronization
import Testing

@testable import ContentServer

struct ContentDigestTests {
    /// A digest of gigabytes must not hold up a loop's other connections.
    @Test func digestsBesideTheLoop() async throws {
        let loop = try EventLoop(index: 0)
        startThread(named: "test loop") { loop.run() }
        defer { loop.stop() }
        let hash = try await Task(executorPreference: loop) {
            #expect(loop.isCurrent)
            let hash = try await digest {
                #expect(!loop.isCurrent)
                return BytesSource([UInt8]("hello".utf8))
            }
            #expect(loop.isCurrent)
            return hash
        }.value
        #expect(hash.hex == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    }

    @Test func endsWhenCancelled() async throws {
        let task = Task {
            try await digest {
                GeneratedSource(GeneratedContent(seed: 1), range: 0..<UInt64(Int64.max))
            }
        }
        task.cancel()
        await #expect(throws: ResponseInterruption.self) { try await task.value }
    }

    /// A digest that nobody waits for ends; that of what is kept is made all the same.
    @Test func endsWhenTheClientHasGone() async throws {
        let presence = ClientPresence()
        let task = ClientPresence.$current.withValue(presence) {
            Task {
                try await digest {
                    GeneratedSource(GeneratedContent(seed: 1), range: 0..<UInt64(Int64.max))
                }
            }
        }
        presence.leave()
        await #expect(throws: ResponseInterruption.self) { try await task.value }
        let kept = try await ClientPresence.$current.withValue(presence) {
            try await digest(outlivesClient: true) { BytesSource([UInt8]("hello".utf8)) }
        }
        #expect(kept.prefix(4).hex == "2cf24dba")
    }

    /// Digests that take hours, asked for by whoever wants to, leave the others their turn.
    @Test func sharesTheProcessors() async throws {
        let loop = try EventLoop(index: 0)
        startThread(named: "test loop") { loop.run() }
        defer { loop.stop() }
        // The loop's thread judges: the shared ones may all be taken.
        let hash = try await Task(executorPreference: loop) {
            let busy = (0..<32).map { seed in
                Task {
                    try await digest {
                        GeneratedSource(GeneratedContent(seed: seed), range: 0..<UInt64(Int64.max))
                    }
                }
            }
            let end: @Sendable () -> Void = { for task in busy { task.cancel() } }
            let isStarved = Atomic(false)
            let timer = loop.makeTimer {
                isStarved.store(true, ordering: .relaxed)
                end()
            }
            loop.set(timer, due: loop.now + 120_000)
            let hash = try await digest { BytesSource([UInt8]("hello".utf8)) }
            loop.set(timer, due: .max)
            end()
            let wasStarved = isStarved.load(ordering: .relaxed)
            #expect(!wasStarved)
            return hash
        }.value
        #expect(hash.prefix(4).hex == "2cf24dba")
    }
}
