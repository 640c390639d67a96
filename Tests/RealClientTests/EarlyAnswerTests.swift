import Foundation
import Testing

extension RealClientTests {
    /// An upload that its origin refuses while it comes: the client gets the answer, as it does of
    /// the origin itself, although it reads only when it has sent all of it.
    struct EarlyAnswerTests {
        struct Uploader: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let peer: Peer
            let arguments:
                @Sendable (_ url: String, _ proxy: ProxyProcess, _ file: String) -> [String]
        }

        private static let size = 12_000_000

        private static let script = """
            import http.client, os, ssl, sys, urllib.parse
            url, proxy, ca, file = map(urllib.parse.urlsplit, sys.argv[1:5])
            client = http.client.HTTPSConnection(
                proxy.hostname, proxy.port, context=ssl.create_default_context(cafile=ca.path))
            client.set_tunnel(url.hostname, url.port)
            client.request("PUT", url.path, open(file.path, "rb").read())
            print(client.getresponse().status, end="")
            """

        private static let uploaders =
            ["--http2", "--http1.1"].map { version in
                Uploader(testDescription: "curl \(version)", peer: .curl) { url, proxy, file in
                    [
                        "-sS", "-m", "60", "-o", "/dev/null", "-w", "%{http_code}", version, "-H",
                        "Expect:", "--cacert", proxy.authorityPath, "--proxy", proxy.url, "-T",
                        file, url,
                    ]
                }
            } + [
                Uploader(testDescription: "http.client", peer: .python) { url, proxy, file in
                    ["-c", script, url, proxy.url, proxy.authorityPath, file]
                }
            ]

        @Test(.needs(), arguments: uploaders, [true, false])
        func arrives(_ uploader: Uploader, _ isHTTP2: Bool) async throws {
            let origin = try await Origin(http2: isHTTP2)
            let folder = try Folder()
            let file = try folder.write("upload", Data(count: Self.size))
            let proxy = try await ProxyProcess(for: origin, in: folder)
            let client = try Program(
                uploader.peer, uploader.arguments("\(origin.url)/small/x", proxy, file), in: folder)
            let code = try await client.end()
            #expect(code == 0, "\(client.story)")
            #expect(String(decoding: client.output, as: UTF8.self) == "413", "\(client.story)")
            try await proxy.end()
            let flows = try await proxy.capture.flows(filter: "path=/small/x")
            #expect(flows.map(\.status) == [413])
        }
    }
}
