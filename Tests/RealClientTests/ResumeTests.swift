import Foundation
import Testing

extension RealClientTests {
    /// Downloads in several requests, told as the one thing that they are.
    struct ResumeTests {
        /// Larger than what sockets on the way hold, so that a reader who stops cuts it.
        private static let asset = "/assets/7/40000001"

        @Test(.needs(.bash, .curl, .wget), arguments: ["curl -sS -C - -o", "wget -nv -c -O"])
        func joinsWhatAClientResumes(_ resume: String) async throws {
            let folder = try Folder()
            let proxy = try await ContentProxyProcess(in: folder)
            let url = proxy.url + Self.asset
            let path = folder.path("download")
            // The first program is cut off by the end of who reads from it, the second goes on.
            let first = resume.hasPrefix("curl") ? "curl -s" : "wget -q -O -"
            let script = "\(first) \(url) | head -c 1000000 > \(path); \(resume) \(path) \(url)"
            try await Program.run(
                .bash, ["-c", script], in: folder, variables: ["http_proxy": proxy.proxyURL])
            try await proxy.end()

            let transfers = try await proxy.capture.transfers()
            let transfer = try #require(transfers.first)
            #expect(transfers.count == 1)
            #expect(transfer.schema == "sallyport.transfer/1")
            #expect(transfer.url == url)
            #expect(transfer.state == "complete", "\(transfer)")
            #expect(transfer.parts.map(\.status) == [200, 206])
            #expect(transfer.parts.map(\.endedEarly) == [true, false])
            #expect(transfer.parts[1].asked == "bytes=1000000-")
            #expect(transfer.versions.map(\.total) == [40_000_001])
            #expect(transfer.versions.map(\.sameness) == ["strong-etag"])
            let digests = try await Digests.of([path], in: folder)
            #expect(transfer.versions.map(\.sha256) == digests)
        }

        @Test(.needs(.curl)) func joinsPiecesOfCurl() async throws {
            let folder = try Folder()
            let proxy = try await ContentProxyProcess(in: folder)
            let url = proxy.secureURL + "/assets/9/3000001"
            for range in ["2000000-", "0-999999,1500000-1600000", "900000-1999999"] {
                try await Program.run(
                    .curl,
                    [
                        "-sS", "-x", proxy.proxyURL, "--cacert", proxy.authorityPath, "-r", range,
                        "-o", "/dev/null", url,
                    ], in: folder)
            }
            let path = folder.path("whole")
            try await Program.run(
                .curl, ["-sS", "-o", path, proxy.url + "/assets/9/3000001"], in: folder)
            try await proxy.end()

            let transfers = try await proxy.capture.transfers()
            #expect(transfers.map(\.state) == ["complete"])
            #expect(transfers.first?.parts.map(\.status) == [206, 206, 206])
            let digests = try await Digests.of([path], in: folder)
            #expect(transfers.first?.versions.map(\.sha256) == digests)
        }
    }
}
