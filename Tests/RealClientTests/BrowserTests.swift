import Foundation
import Testing

extension RealClientTests {
    /// A browser that loads a page through the proxy.
    struct BrowserTests {
        private static let assetCount = 50

        @Test(.needs(.chromium, .certutil)) func loadsAPageWithFiftyAssets() async throws {
            let origin = try await Origin()
            let names = try Self.writePage(in: origin.folder)
            let folder = try Folder()
            let proxy = try await ProxyProcess(for: origin, in: folder)
            try await folder.trust(proxy.authorityPath)
            let browser = try Program(
                .chromium,
                Self.options(proxy.url, folder) + ["--dump-dom", "\(origin.url)/page/index.html"],
                in: folder)
            let code = try await browser.end()
            try #require(code == 0, "\(browser.story)")
            // What the page says of itself: how many pictures it got, and that none failed.
            let page = String(decoding: browser.output, as: UTF8.self)
            #expect(page.contains("<title>50 loaded, 0 failed</title>"), "\(browser.story)")
            try await proxy.end()

            let flows = try await proxy.capture.flows(filter: "host=localhost and path~/page/")
            #expect(flows.map(\.url).sorted() == names.map { "\(origin.url)/\($0)" }.sorted())
            var served: [String] = []
            var recorded: [String] = []
            for flow in flows {
                #expect(flow.status == 200 && flow.error == nil, "\(flow)")
                let name = String(flow.url.dropFirst(origin.url.count + 1))
                served.append(origin.path(of: name))
                let content = try await proxy.capture.show(
                    flow.id, "response-body", ["--decoded"])
                recorded.append(try folder.write("recorded/\(name)", content))
            }
            try #require(served.count == names.count)
            let expected = try await Digests.of(served, in: folder)
            #expect(try await Digests.of(recorded, in: folder) == expected)
        }

        @Test(.needs(.chromium, .certutil)) func refusesWithAnAlert() async throws {
            let origin = try await Origin()
            let folder = try Folder()
            let proxy = try await ProxyProcess(for: origin, in: folder)
            try await folder.trust(origin.authority.certificatePath)
            let browser = try Program(
                .chromium,
                Self.options(proxy.url, folder) + ["--dump-dom", "\(origin.url)/byte.bin"],
                in: folder)
            _ = try await browser.end()
            let refusals = try await proxy.capture.refusals(of: "localhost")
            #expect(refusals.first?.alert == "certificate_unknown")
            try await proxy.end()
        }

        /// A page that counts its pictures, each of its own content.
        static func writePage(in folder: Folder) throws -> [String] {
            let assets = (1...assetCount).map { "page/\($0).png" }
            // The smallest PNG there is, with random bytes behind its end.
            let picture = Data(
                base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk"
                    + "YAAAAAYAAjCB0C8AAAAASUVORK5CYII=")
            for asset in assets {
                try folder.write("www/\(asset)", (picture ?? Data()) + Bytes.random(2_000))
            }
            let script = """
                let loaded = 0, failed = 0;
                function tell() { document.title = `${loaded} loaded, ${failed} failed`; }
                """
            let images = (1...assetCount).map {
                "<img src=\"\($0).png\" onload=\"loaded++; tell()\" onerror=\"failed++; tell()\">"
            }
            try folder.write(
                "www/page/index.html",
                "<!doctype html><link rel=icon href=data:,><title></title><script>\(script)</script>"
                    + images.joined(separator: "\n"))
            return assets + ["page/index.html"]
        }

        static func options(_ proxy: String, _ folder: Folder) -> [String] {
            [
                "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--disable-component-update",
                "--user-data-dir=\(folder.path("profile"))", "--proxy-server=\(proxy)",
                "--proxy-bypass-list=<-loopback>",
            ] + (geteuid() == 0 ? ["--no-sandbox"] : [])
        }
    }
}

extension Folder {
    /// Makes the browsers whose home this is trust a CA.
    func trust(_ authority: String) async throws {
        let store = "sql:" + (try folder(".pki/nssdb"))
        try await Program.run(.certutil, ["-d", store, "-N", "--empty-password"], in: self)
        try await Program.run(
            .certutil, ["-d", store, "-A", "-t", "C,,", "-n", "test", "-i", authority], in: self)
    }
}
