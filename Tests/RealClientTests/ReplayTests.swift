import Foundation
import Testing

extension RealClientTests {
    /// Real clients, recorded once and then answered from the capture, with their origins gone.
    struct ReplayTests {
        @Test(.needs(.curl), arguments: ["--http1.1", "--http2"])
        func answersCurl(_ version: String) async throws {
            let folder = try Folder()
            let recording = try await ContentProxyProcess(in: folder)
            let assets = ["\(recording.url)/assets/1/3k", "\(recording.secureURL)/assets/2/900k"]
            let echo = ["\(recording.secureURL)/api/echo?b=2&a=1"]
            let content = [version, "--json", #"{"a": [1, 2]}"#]
            var (proxy, authority) = (recording.proxyURL, recording.authorityPath)
            let recorded = [
                try await Self.fetch(assets, [version], proxy, authority, folder),
                try await Self.fetch(echo, content, proxy, authority, folder),
            ]
            try await recording.end()
            let replay = try await ReplayProcess(recording.capture, in: folder)
            (proxy, authority) = (replay.url, replay.authorityPath)
            #expect(
                try await Self.fetch(assets, [version], proxy, authority, folder) == recorded[0])
            #expect(try await Self.fetch(echo, content, proxy, authority, folder) == recorded[1])
            #expect(try await replay.end().isEmpty)
        }

        /// - Returns: what curl got, with the heads.
        private static func fetch(
            _ urls: [String], _ options: [String], _ proxy: String, _ authority: String,
            _ folder: Folder
        ) async throws -> Data {
            try await Program.run(
                .curl,
                [
                    "--silent", "--show-error", "--fail", "--max-time", "20", "--include",
                    "--suppress-connect-headers", "--proxy", proxy, "--cacert", authority,
                ] + options + urls, in: folder)
        }

        @Test(.needs(.python), arguments: [true, false])
        func answersGRPC(_ isSecure: Bool) async throws {
            let setting = try await HTTP2ApplicationTests.Setting(
                isSecure ? .connectWithTLS : .connect, "grpc-origin.py", version: "2")
            try await Self.call(setting, setting.proxy.url, setting.proxy.authorityPath, isSecure)
            try await setting.proxy.end()
            try await setting.stopOrigin()
            let replay = try await ReplayProcess(setting.proxy.capture, in: setting.folder)
            try await Self.call(setting, replay.url, replay.authorityPath, isSecure)
            #expect(try await replay.end().isEmpty)
        }

        private static func call(
            _ setting: HTTP2ApplicationTests.Setting, _ proxy: String, _ authority: String,
            _ isSecure: Bool
        ) async throws {
            try await Program.run(
                .python,
                [Peer.script("grpc-client.py"), setting.target, isSecure ? authority : ""],
                in: setting.folder, variables: ["grpc_proxy": proxy])
        }

        @Test(.needs(.python), arguments: [true, false])
        func answersAWebSocket(_ isSecure: Bool) async throws {
            let setting = try await HTTP2ApplicationTests.Setting(
                isSecure ? .connectWithTLS : .connect, "websocket-origin.py", version: "auto")
            let target = "\(isSecure ? "wss" : "ws")://\(setting.target)"
            try await Program.run(
                .python,
                [
                    Peer.script("websocket-client.py"), target, setting.proxy.url,
                    setting.proxy.authorityPath,
                ], in: setting.folder)
            try await setting.proxy.end()
            try await setting.stopOrigin()
            let replay = try await ReplayProcess(setting.proxy.capture, in: setting.folder)
            try await Program.run(
                .python,
                [
                    Peer.script("websocket-client.py"), target, replay.url, replay.authorityPath,
                ], in: setting.folder)
            #expect(try await replay.end().isEmpty)
        }

        /// Nothing but the loopback interface is there for the proxy and the browser to use.
        @Test(
            .needs(.chromium, .certutil, .unshare, .nsenter),
            .enabled(if: geteuid() == 0, "only root can make a world of its own"))
        func answersABrowserOffline() async throws {
            let folder = try Folder()
            let capture: Capture
            let url: String
            do {
                let origin = try await Origin()
                _ = try BrowserTests.writePage(in: origin.folder)
                url = "\(origin.url)/page/index.html"
                let proxy = try await ProxyProcess(for: origin, in: folder)
                try await folder.trust(proxy.authorityPath)
                try await Self.load(url, .chromium, [], proxy.url, folder)
                try await proxy.end()
                capture = proxy.capture
            }
            let replay = try await ReplayProcess(capture, in: folder, isAlone: true)
            let chromium = try #require(Peer.chromium.path)
            try await Self.load(
                url, .nsenter, ["--net", "--target", "\(replay.processID)", chromium], replay.url,
                folder)
            let misses = try await replay.end()
            // What the browser asks for on its own account is no part of the page.
            #expect(misses.allSatisfy { !$0.url.contains("localhost") }, "\(misses)")
        }

        private static func load(
            _ url: String, _ peer: Peer, _ before: [String], _ proxy: String, _ folder: Folder
        ) async throws {
            let browser = try Program(
                peer, before + BrowserTests.options(proxy, folder) + ["--dump-dom", url],
                in: folder)
            let code = try await browser.end()
            try #require(code == 0, "\(browser.story)")
            let page = String(decoding: browser.output, as: UTF8.self)
            #expect(page.contains("<title>50 loaded, 0 failed</title>"), "\(browser.story)")
            // The next browser has to ask for everything again.
            try FileManager.default.removeItem(atPath: folder.path("profile"))
        }

        /// Requests that were not recorded, to an origin that counts who comes.
        @Test(.needs(.curl)) func asksNobodyElse() async throws {
            let folder = try Folder()
            let canary = try await ContentProxyProcess(in: folder)
            _ = try await Self.fetch(
                ["\(canary.url)/assets/1/1k"], [], canary.proxyURL, canary.authorityPath, folder)
            // It is written a moment after it was answered.
            _ = try await eventually("the recorded exchange") {
                try await canary.capture.flows().first
            }
            let replay = try await ReplayProcess(canary.capture, in: folder)
            let before = try await canary.capture.connections().count
            // The canary's proxy records whoever comes, whatever it wants.
            let config = (0..<1000).map {
                "url = \"\(canary.proxyURL)/assets/1/1k?unknown=\($0)\"\noutput = \"/dev/null\"\n"
            }
            let file = try folder.write("urls", Data(config.joined().utf8))
            try await Program.run(
                .curl,
                [
                    "--silent", "--max-time", "60", "--proxy", replay.url, "--config", file,
                    "--write-out", "%{http_code}\n",
                ], in: folder)
            let misses = try await replay.end()
            #expect(misses.count == 1000)
            #expect(misses.allSatisfy { $0.nearest?.exchange == 1 })
            try await canary.end()
            #expect(try await canary.capture.connections().count == before)
        }
    }
}
