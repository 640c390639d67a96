import Base
import HTTPServer
import Testing

@testable import ContentServer

struct DigestSlotsTests {
    private static func server(_ limit: Int, _ clientLimit: Int) -> ContentServer {
        var configuration = ContentServerConfiguration()
        configuration.digestSlots = DigestSlots(
            freeByteLimit: 1000, limit: limit, clientLimit: clientLimit)
        return ContentServer(configuration)
    }

    /// What was answered and not read yet is under way.
    @Test(arguments: ["/assets/1/2k/sha256", "/faults/version:2/assets/1/2k/sha256"])
    func bounds(_ path: String) async throws {
        let server = Self.server(3, 2)
        func ask(_ peer: String, _ path: String) async throws -> ServerResponse {
            await server.answer(try request("GET", path, from: peer), RequestBody([]))
        }
        let first = try await ask("192.0.2.1", path)
        let second = try await ask("192.0.2.1", path)
        let refused = try await ask("192.0.2.1", path)
        #expect([first, second, refused].map(\.status) == [200, 200, 503])
        #expect(refused.first("Retry-After") == "10")
        // What takes little time is digested all the same.
        #expect(try await ask("192.0.2.1", "/assets/1/1000/sha256").status == 200)
        // Of one client there are two, and of all three.
        let third = try await ask("192.0.2.2", path)
        #expect(third.status == 200)
        #expect(try await ask("192.0.2.3", path).status == 503)
        // Once it is made its place is free, and so is that of a client that has gone.
        #expect(try await first.content().count == 65)
        #expect(try await ask("192.0.2.1", path).status == 200)
        withExtendedLifetime((first, second, third)) {}
    }

    @Test func boundsManifests() async throws {
        let none = Self.server(0, 0)
        func ask(_ server: ContentServer, _ path: String) async throws -> Int {
            await server.answer(try request("GET", path), RequestBody([])).status
        }
        #expect(try await ask(none, "/packs/1/manifest.json") == 503)
        let some = Self.server(1, 1)
        // What is known takes no time; a digest that was made holds no place.
        for _ in 0..<3 { #expect(try await ask(some, "/packs/1/manifest.json") == 200) }
    }
}
