import Foundation
import Testing

extension RealClientTests {
    /// Listings that go on while the capture is being written.
    struct FollowTests {
        @Test(.needs(.curl), arguments: [["flows", "list"], ["connections"]])
        func tellsOfRecordsAsTheyEnd(_ command: [String]) async throws {
            let origin = try await Origin()
            let folder = try Folder()
            let proxy = try await ProxyProcess(for: origin, in: folder)
            func get(_ name: String) async throws {
                let client = try Program(
                    .curl,
                    [
                        "-sS", "--proxy", proxy.url, "--cacert", proxy.authorityPath,
                        "--output", "out", "\(origin.url)/\(name)",
                    ], in: folder)
                #expect(try await client.end() == 0, "\(client.story)")
            }
            try await get("before")
            let listing = try Program(
                .sallyport,
                command + [proxy.capture.path, "--follow", "--json", "--limit", "3"], in: folder)
            try await get("during")
            // It ends by itself, once it has told of three.
            try await get("after")
            #expect(try await listing.end() == 0, "\(listing.story)")
            #expect(listing.output.split(separator: UInt8(ascii: "\n")).count == 3)
            try await proxy.end()
        }
    }
}
