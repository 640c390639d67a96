import Base
import HTTPServer
import Sockets
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
        #expect(try await task.value.count == 32)
    }
}
