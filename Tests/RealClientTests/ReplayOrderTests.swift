import Foundation
import Testing

extension RealClientTests {
    /// Equal requests that were answered differently, asked again by curl.
    struct ReplayOrderTests {
        /// What five requests get where three were recorded; 502 where there is no answer.
        @Test(
            .needs(.curl, .python),
            arguments: [
                ("sequence", ["1", "2", "3", "502", "502"]), ("stay", ["1", "2", "3", "3", "3"]),
                ("cycle", ["1", "2", "3", "1", "2"]), ("first", ["1", "1", "1", "1", "1"]),
                ("last", ["3", "3", "3", "3", "3"]),
            ])
        func answersInOrder(_ order: String, _ expected: [String]) async throws {
            let recording = try await Recording(["/a", "/a", "/a"])
            let replay = try await ReplayProcess(
                recording.capture, in: recording.folder, ["--order", order])
            let url = "\(recording.url)/a"
            let answers = try await recording.fetch([url, url, url, url, url], replay.url)
            #expect(answers == expected)
            let misses = try await replay.end()
            #expect(misses.count == expected.count { $0 == "502" })
            #expect(misses.allSatisfy { $0.reason == "exhausted" })
        }

        /// With a fallback, what was not recorded goes to the origin; what was, and is used up, does
        /// not.
        @Test(.needs(.curl, .python)) func fallsBackForWhatIsUnknown() async throws {
            let recording = try await Recording(["/a"])
            let replay = try await ReplayProcess(
                recording.capture, in: recording.folder, ["--fallback", "network"])
            let urls = ["/a", "/a", "/b"].map { recording.url + $0 }
            #expect(try await recording.fetch(urls, replay.url) == ["1", "502", "2"])
            #expect(try await replay.end().map(\.reason) == ["exhausted"])
        }

        /// A client gets as much as there was, and then no end.
        @Test(.needs(.curl, .python), arguments: ["--http1.1", "--http2-prior-knowledge"])
        func breaksOffWhereTheOriginDid(_ version: String) async throws {
            let recording = try await Recording(["/cut"])
            let replayed = recording.folder.path("replayed.sallyport")
            let replay = try await ReplayProcess(
                recording.capture, in: recording.folder,
                ["--capture", replayed]
                    + (version == "--http1.1" ? [] : ["--mode", "reverse:\(recording.url)"]))
            let client = try Program(
                .curl,
                version == "--http1.1"
                    ? ["-sS", "--max-time", "20", "-x", replay.url, "\(recording.url)/cut"]
                    : ["-sS", "--max-time", "20", version, "\(replay.url)/cut"],
                in: recording.folder)
            let code = try await client.end()
            // A part of a file, a reset, or a stream that was reset.
            #expect([18, 56, 92].contains(code), "\(client.story)")
            // A reset that is read with what came before it takes that from curl's user.
            if version == "--http1.1" {
                #expect(client.output == Data("1".utf8), "\(client.story)")
            }
            #expect(try await replay.end().isEmpty)
            let capture = Capture(path: replayed, folder: recording.folder)
            #expect(try await capture.flows().map(\.responseBytes) == [1])
        }

        /// What curl asked of an origin that counts.
        private struct Recording {
            let folder: Folder
            let capture: Capture
            let url: String
            private let origin: RecordingOrigin

            init(_ paths: [String]) async throws {
                folder = try Folder()
                origin = try await RecordingOrigin(in: folder)
                let origin = origin
                url = "http://\(origin.address)"
                let proxy = try await ProxyProcess(
                    trusting: try await TestAuthority(in: folder), reverse: nil, in: folder)
                capture = proxy.capture
                _ = try await fetch(paths.map { "http://\(origin.address)\($0)" }, proxy.url)
                try await proxy.end()
            }

            /// - Returns: for each URL its content, or its status if that is no 200.
            func fetch(_ urls: [String], _ proxy: String) async throws -> [String] {
                let outputs = urls.indices.map { folder.path("\($0).out") }
                let client = try Program(
                    .curl,
                    ["-s", "--max-time", "20", "-x", proxy, "-w", "%{http_code} "]
                        + zip(outputs, urls).flatMap { ["-o", $0, $1] }, in: folder)
                _ = try await client.end()
                let codes = String(decoding: client.output, as: UTF8.self).split(separator: " ")
                return try zip(codes, outputs).map { code, path in
                    if code != "200" { return String(code) }
                    return try String(contentsOfFile: path, encoding: .utf8)
                }
            }
        }
    }
}
