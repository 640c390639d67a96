import Foundation
import Testing

extension RealClientTests {
    /// The ways in which clients use a proxy that they know, as curl has them.
    struct WaysInTests {
        /// How curl is told to come in, and what is recorded of that.
        struct Row: CustomTestStringConvertible, Sendable {
            let scheme: String
            let mode: String
            /// Whether the client looks the origin's name up itself.
            var resolves = false
            var testDescription: String { scheme }
        }

        static let rows = [
            Row(scheme: "http", mode: "explicit"), Row(scheme: "https", mode: "explicit"),
            Row(scheme: "socks4", mode: "socks", resolves: true),
            Row(scheme: "socks4a", mode: "socks"),
            Row(scheme: "socks5", mode: "socks", resolves: true),
            Row(scheme: "socks5h", mode: "socks"),
        ]

        private func curl(
            _ row: Row, _ proxy: ProxyProcess, _ url: String, _ folder: Folder,
            login: String? = nil
        ) async throws -> (code: Int32, body: Data) {
            let program = try Program(
                .curl,
                [
                    "--silent", "--show-error", "--fail", "--max-time", "20", "--proxy",
                    "\(row.scheme)://\(proxy.address)", "--cacert", proxy.authorityPath,
                    "--proxy-cacert", proxy.authorityPath, url,
                ] + (login.map { ["--proxy-user", $0] } ?? []), in: folder)
            return (try await program.end(), program.output)
        }

        @Test(.needs(.curl, .sqlite), arguments: rows)
        func curlComesIn(_ row: Row) async throws {
            let origin = try await Origin()
            let folder = try Folder()
            let proxy = try await ProxyProcess(for: origin, in: folder)
            let wanted = try Data(contentsOf: URL(fileURLWithPath: origin.path(of: "small.bin")))
            let got = try await curl(row, proxy, "\(origin.url)/small.bin", folder)
            #expect(got.code == 0)
            #expect(got.body == wanted)
            try await proxy.end()
            let flows = try await proxy.capture.flows()
            let host = row.resolves ? "127.0.0.1" : "localhost"
            #expect(flows.map(\.url) == ["https://\(host):\(origin.port)/small.bin"])
            #expect(flows.first?.responseBytes == Int64(wanted.count))
            let told = try await proxy.capture.query(
                "SELECT mode, origin_host, outcome FROM connection"
                    + " WHERE origin_host <> '' ORDER BY id DESC LIMIT 1")
            #expect(told == "\(row.mode)|\(host)|completed")
        }

        static let logins: [(login: String?, isServed: Bool)] = [
            ("jane:s3cret", true), ("jane:wrong", false), (nil, false),
        ]

        @Test(.needs(.curl), arguments: rows.filter { !$0.scheme.hasPrefix("socks4") }, logins)
        func passwordIsAsked(_ row: Row, _ login: (login: String?, isServed: Bool)) async throws {
            let origin = try await Origin()
            let folder = try Folder()
            let file = try folder.write("logins", "joe:other\njane:s3cret\n")
            let proxy = try await ProxyProcess(for: origin, in: folder, ["--proxy-auth", file])
            let got = try await curl(
                row, proxy, "\(origin.url)/byte.bin", folder, login: login.login)
            #expect((got.code == 0) == login.isServed, "\(got.code)")
            #expect((got.body == Data("x".utf8)) == login.isServed)
            try await proxy.end()
            let served = try await proxy.capture.flows(filter: "method=GET")
                .filter { $0.status == 200 }
            #expect(served.count == (login.isServed ? 1 : 0))
        }

        /// Each at its port; the first is told as the place to come to.
        @Test(.needs(.curl)) func severalAtOnce() async throws {
            let origin = try await Origin()
            let folder = try Folder()
            let proxy = try await ProxyProcess(
                for: origin, in: folder,
                [
                    "--mode", "explicit", "--mode", "reverse:\(origin.url)@127.0.0.1:0", "--mode",
                    "reverse:tcp://localhost:\(origin.port)@[::1]:0",
                ])
            #expect(
                proxy.ports.map(\.mode) == [
                    "explicit", "reverse:\(origin.url)", "reverse:tcp://localhost:\(origin.port)",
                ])
            let common = ["--silent", "--show-error", "--fail", "--cacert", proxy.authorityPath]
            let first = try await Program.run(
                .curl, common + ["--proxy", proxy.url, "\(origin.url)/byte.bin"], in: folder)
            #expect(first == Data("x".utf8))
            for port in proxy.ports.dropFirst() {
                let place = "localhost:\(origin.port):\(port.listen)"
                let got = try await Program.run(
                    .curl, common + ["--connect-to", place, "\(origin.url)/byte.bin"], in: folder)
                #expect(got == Data("x".utf8), "\(port)")
            }
            try await proxy.end()
            let flows = try await proxy.capture.flows()
            #expect(flows.map(\.status) == [200, 200, 200])
        }

        /// What one proxy is told to leave alone, another that it asks sees.
        @Test(.needs(.curl), arguments: ["http", "socks5"])
        func chainOfTwo(_ scheme: String) async throws {
            let origin = try await Origin()
            let folder = try Folder()
            let file = try folder.write("login", "jane:s3cret\n")
            let second = try await ProxyProcess(
                for: origin, in: folder, capture: "second.sallyport", ["--proxy-auth", file])
            let first = try await ProxyProcess(
                for: origin, in: folder, capture: "first.sallyport",
                [
                    "--upstream", "localhost=\(scheme)://\(second.address)", "--upstream-auth",
                    file, "--pass-through", "localhost",
                ])
            let got = try await Program.run(
                .curl,
                [
                    "--silent", "--show-error", "--fail", "--proxy", first.url, "--cacert",
                    second.authorityPath, "\(origin.url)/byte.bin",
                ], in: folder)
            #expect(got == Data("x".utf8))
            try await first.end()
            try await second.end()
            #expect(try await first.capture.connections().map(\.outcome) == ["passed-through"])
            #expect(try await first.capture.flows().isEmpty)
            let flows = try await second.capture.flows(filter: "method=GET")
            #expect(flows.map(\.url) == ["\(origin.url)/byte.bin"])
        }
    }
}
