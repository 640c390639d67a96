import Foundation
import Testing

extension RealClientTests {
    /// What memory a recording proxy takes as requests go by.
    struct MemoryTests {
        @Test(.needs(.wrk, .ps)) func doesNotGrowWithTheRequests() async throws {
            let origin = try await Origin()
            try origin.folder.write("www/kilobyte.bin", Bytes.random(1_024))
            let folder = try Folder()
            let proxy = try await ProxyProcess(for: origin, in: folder, reverse: true)
            try await Self.request(2_000, of: proxy, folder)
            let before = try await Self.residentBytes(of: proxy, folder)
            try await Self.request(20_000, of: proxy, folder)
            let after = try await Self.residentBytes(of: proxy, folder)
            #expect(after - before < 20 << 20, "from \(before) bytes to \(after)")
            try await proxy.end()
            #expect(try await proxy.capture.flows(filter: "status=200").count >= 22_000)
        }

        private static func request(
            _ count: Int, of proxy: ProxyProcess, _ folder: Folder
        ) async throws {
            let load = try Load.start(on: proxy, path: "/kilobyte.bin?", count: count, in: folder)
            let code = try await load.end(within: .seconds(100))
            try #require(code == 0, "\(load.story)")
        }

        private static func residentBytes(
            of proxy: ProxyProcess, _ folder: Folder
        ) async throws -> Int {
            let answer = try await Program.run(
                .ps, ["-o", "rss=", "-p", "\(proxy.processID)"], in: folder)
            let text = String(decoding: answer, as: UTF8.self)
            let kilobytes = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            return kilobytes << 10
        }
    }
}
