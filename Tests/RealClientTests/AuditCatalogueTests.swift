import Foundation
import Testing

extension RealClientTests {
    /// Suites of chains that others have made, as catalogues.
    @Suite(.needs(.openssl, .python)) struct AuditCatalogueTests {
        private static let count = 208

        /// Each case has a root and a host of its own, and the client is told of both.
        @Test func showsASuiteWithARootForEachCase() async throws {
            let folder = try Folder()
            let suite = try folder.folder("suite")
            try await Program.run(
                .python, [Peer.script("audited/catalogue.py"), suite, "\(Self.count)"], in: folder)
            let log = folder.path("log")
            let audit = try Audit(
                [
                    "--catalogue", suite, "--probe", "chain-suite-*", "--jobs", "2",
                    "--timeout", "60s",
                ],
                [
                    "sh", "-c",
                    "echo {probe} {host} >> \(log); (printf 'GET / HTTP/1.0\\r\\n\\r\\n'; sleep 0.2)"
                        + " | openssl s_client -quiet -verify_quiet -verify_return_error"
                        + " -CAfile {ca} -verify_hostname {host} -servername {host}"
                        + " -connect {host}:{port}",
                ], in: folder)
            let (code, answer) = try await audit.answer(within: .seconds(600))
            #expect(code == 0, "\(audit.program.story)")
            let shown = answer.results.filter { $0.probe.hasPrefix("chain-suite-") }
            #expect(shown.count == Self.count)
            let outcomes = Dictionary(grouping: shown, by: \.outcome).mapValues(\.count)
            #expect(outcomes == ["accepted": Self.count / 4, "refused": Self.count * 3 / 4])
            // Nothing stands apart from the client's other results.
            #expect(Set(answer.results.map(\.destination)) == ["www.shop.test:443"])
            let runs = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            #expect(runs.contains("chain-suite-7 case-7.suite.test"))
            #expect(runs.contains("control-good www.shop.test"))
        }

        /// What a careless client accepts of it is told as of any other probe.
        @Test func judgesACarelessClient() async throws {
            let folder = try Folder()
            let suite = try folder.folder("suite")
            try await Program.run(
                .python, [Peer.script("audited/catalogue.py"), suite, "8"], in: folder)
            let audit = try Audit(
                ["--catalogue", suite, "--probe", "chain-suite-*"],
                [
                    "sh", "-c",
                    "(printf 'GET / HTTP/1.0\\r\\n\\r\\n'; sleep 0.2) | openssl s_client -quiet"
                        + " -CAfile {ca} -servername {host} -connect {host}:{port}",
                ], in: folder)
            let (code, answer) = try await audit.answer()
            #expect(code == 1, "\(audit.program.story)")
            #expect(answer.probes("fail") == Set((2..<8).map { "chain-suite-\($0)" }))
        }

        /// Where the client cannot be told whom to trust, or led to the host, nothing is concluded.
        @Test(.needs(.curl)) func showsNothingThatCannotBe() async throws {
            let folder = try Folder()
            let suite = try folder.folder("suite")
            try await Program.run(
                .python, [Peer.script("audited/catalogue.py"), suite, "8"], in: folder)
            let audit = try Audit(
                ["--no-namespaces", "--catalogue", suite, "--probe", "chain-suite-*"],
                ["curl", "-s", "--cacert", "{ca}", "{url}"], in: folder)
            let (code, answer) = try await audit.answer()
            #expect(code == 0, "\(audit.program.story)")
            let shown = answer.results.filter { $0.probe.hasPrefix("chain-suite-") }
            #expect(shown.count == 8 && shown.allSatisfy { $0.outcome == "not-possible" })
        }

        /// Probes of our own whose anchor is made for the run, or whose server is of another age.
        @Test(.needs(.curl, .java), arguments: ["curl", "java"])
        func showsAnEndedAnchorAndStaticRSA(_ client: String) async throws {
            let command =
                client == "curl"
                ? ["curl", "-s", "--cacert", "{ca}", "{url}"]
                : [
                    "java", "-XX:TieredStopAtLevel=1", Peer.script("audited/Audited.java"),
                    "default", "{url}",
                ]
            let folder = try Folder()
            let audit = try Audit(
                ["--probe", "time-expired-anchor", "--probe", "handshake-static-rsa-only"],
                command, in: folder)
            let (_, answer) = try await audit.answer()
            #expect(answer.outcome("control-good") == "accepted", "\(audit.program.story)")
            let anchor = try #require(answer.results.first { $0.probe == "time-expired-anchor" })
            // Java does not look at the time of what it trusts; OpenSSL refuses it for that alone.
            #expect(anchor.outcome == (client == "curl" ? "refused" : "accepted"))
            #expect(client == "java" || anchor.evidence.contains("certificate_expired"))
            let server = answer.outcome("handshake-static-rsa-only")
            #expect(["accepted", "not-offered"].contains(server), "\(audit.program.story)")
        }
    }
}
