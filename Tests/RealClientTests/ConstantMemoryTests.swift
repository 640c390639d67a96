import Foundation
import Testing

extension RealClientTests {
    /// What is larger than any buffer passes in as little memory as what is small.
    struct ConstantMemoryTests {
        /// In bytes, as the route's path and as a number.
        private static let size = (name: "1g", count: 1 << 30)
        /// In bytes; the content of the asset is 36 times as much.
        private static let growthLimit = 30 << 20

        /// A gigabyte from the content server through TLS, the proxy and TLS to curl.
        @Test(.needs(.curl, .bash, .memoryFigures)) func passesAGigabyte() async throws {
            let folder = try Folder()
            let proxy = try await ContentProxyProcess(in: folder, ["--body-limit", "1m"])
            // What the first exchange sets up is not what the size costs.
            let small = try await Self.digest(of: "/assets/7/3m", through: proxy, in: folder)
            #expect(try await small == Self.expectedDigest(of: "/assets/7/3m", at: proxy))
            let before = try proxy.memory

            let path = "/assets/7/\(Self.size.name)"
            let fetched = try await Self.digest(of: path, through: proxy, in: folder)
            let growth = try proxy.memory.peak - before.resident
            #expect(try await fetched == Self.expectedDigest(of: path, at: proxy))
            #expect(growth < Self.growthLimit, "\(growth) bytes")

            try await proxy.end()
            let flows = try await proxy.capture.flows()
            #expect(flows.map(\.responseBytes) == [3 << 20, Int64(Self.size.count)])
            #expect(flows.map(\.error) == [nil, nil])
            let recorded = try FileManager.default.attributesOfItem(atPath: proxy.capture.path)
            let recordedSize = try #require(recorded[.size] as? Int)
            #expect(recordedSize < 8 << 20, "\(recordedSize) bytes for two bodies of a megabyte")
        }

        private static func digest(
            of path: String, through proxy: ContentProxyProcess, in folder: Folder
        ) async throws -> String {
            let pipeline = """
                set -o pipefail
                curl -sS -x "$1" --cacert "$2" "$3" | openssl dgst -sha256 -r
                """
            let answer = try await Program.run(
                .bash,
                [
                    "-c", pipeline, "bash", proxy.proxyURL, proxy.authorityPath,
                    proxy.secureURL + path,
                ], in: folder, within: .seconds(300))
            return String(decoding: answer.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        }

        /// What the content server itself says.
        private static func expectedDigest(
            of path: String, at proxy: ContentProxyProcess
        ) async throws -> String {
            let answer = try await Program.run(
                .curl, ["-sS", "\(proxy.url)\(path)/sha256"], in: proxy.capture.folder,
                within: .seconds(300))
            return String(decoding: answer, as: UTF8.self).trimmingCharacters(in: .newlines)
        }
    }
}
