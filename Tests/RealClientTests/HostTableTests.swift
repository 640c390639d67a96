import Foundation
import Testing

extension RealClientTests {
    /// Names that the system's own table of hosts has, in namespaces of a command.
    @Suite(
        .enabled(if: geteuid() == 0 || Peer.isRequired, "only root can lay a table of its own"),
        .needs(.unshare, .python, .curl))
    struct HostTableTests {
        private static let table = """
            127.0.0.1 localhost app.local
            192.0.2.80 api.internal web.internal

            """

        private func start(_ words: [String], in folder: Folder) throws -> Program {
            let table = try folder.write("hosts", Self.table)
            return try Program(
                .unshare,
                [
                    "--mount", "--net", Peer.python.path ?? "", Peer.script("captured/hosts.py"),
                    table, Peer.sallyport.path ?? "",
                ] + words, in: folder, lastSignal: SIGTERM)
        }

        /// They are recorded by their names, also where two share an address.
        @Test(arguments: ["api.internal", "web.internal"])
        func areRecordedByName(_ name: String) async throws {
            let folder = try Folder()
            let capture = Capture(path: folder.path("run.sallyport"), folder: folder)
            let run = try start(
                [
                    "run", "--capture-all", "--capture", capture.path, "--fail-on", "critical",
                    "--", "curl", "-sS", "http://\(name)/",
                ], in: folder)
            _ = try await run.end()
            #expect(String(decoding: run.output, as: UTF8.self) == "from \(name)\n", "\(run.story)")
            let connections = try await capture.connections()
            #expect(connections.map(\.host) == [name], "\(connections)")
            #expect(try await capture.flows().map(\.url) == ["http://\(name)/"])
        }

        /// What stands for this machine still does.
        @Test(arguments: ["localhost", "app.local"])
        func loopbackStays(_ name: String) async throws {
            let folder = try Folder()
            let run = try start(
                [
                    "run", "--capture-all", "--capture", folder.path("run.sallyport"), "--",
                    "getent", "ahostsv4", name,
                ], in: folder)
            _ = try await run.end()
            let output = String(decoding: run.output, as: UTF8.self)
            #expect(output.hasPrefix("127.0.0.1 "), "\(run.story)")
        }

        /// They are led to the probes, wherever the table sends them.
        @Test(arguments: [
            ["--host", "api.internal", "--", "curl", "-s", "{url}"],
            ["--host", "app.local", "--", "curl", "-s", "{url}"],
            ["--", "curl", "-s", "https://web.internal/"],
            ["--", "curl", "-s", "https://app.local/"],
            ["--targets", "*.local", "--", "curl", "-s", "https://app.local/"],
        ])
        func areAudited(_ words: [String]) async throws {
            let folder = try Folder()
            let audit = try start(
                ["audit", "--json", "--capture", folder.path("audit.sallyport")]
                    + ["--probe", "trust-self-signed"] + words, in: folder)
            let code = try await audit.end(within: .seconds(120))
            #expect(code == 0, "\(audit.story)")
            let line = try #require(audit.output.split(separator: 0x0A).last)
            let answer = try JSONDecoder().decode(AuditAnswer.self, from: Data(line))
            #expect(answer.outcome("control-good") == "accepted", "\(audit.story)")
            #expect(answer.outcome("trust-self-signed") == "refused", "\(audit.story)")
        }
    }
}
