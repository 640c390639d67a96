import Foundation
import Testing

extension RealClientTests {
    /// `sallyport audit` on real clients, correct and careless ones.
    struct AuditTests {
        /// What the quick profile says is what is known of the client.
        @Test(.needs(), arguments: AuditedClient.quick)
        func tellsTheTruth(_ client: AuditedClient) async throws {
            if client.peer.name == "go" {
                // As in `CaptureAllTests`: audited if it is there, and asked for by nothing.
                guard client.peer.path != nil else { try Test.cancel("there is no Go") }
            }
            try client.peer.needed(for: client.name)
            let folder = try Folder()
            let audit = try Audit(
                ["--profile", "quick", "--jobs", "2", "--port", "\(client.port)"],
                try await client.prepared(in: folder), in: folder)
            let (code, answer) = try await audit.answer()
            #expect(
                answer.outcome("control-good") == (client.isControlled ? "accepted" : "refused"),
                "\(audit.program.story)")
            #expect(answer.probes("fail") == client.fails, "\(audit.program.story)")
            #expect(answer.probes("inconclusive").isEmpty, "\(audit.program.story)")
            // What a client refuses that refuses a sound server too is not to its credit.
            #expect(code == (!client.fails.isEmpty ? 1 : client.isControlled ? 0 : 3))
            #expect(answer.results.count == 13)
        }

        /// No correct client is accused, whatever it is shown.
        @Test(
            .needs(.curl, .wget),
            arguments: [["curl", "-s", "{url}"], ["wget", "-q", "-t1", "-O-", "{url}"]])
        func accusesNoCorrectClient(_ command: [String]) async throws {
            let folder = try Folder()
            let audit = try Audit(["--jobs", "2"], command, in: folder)
            let (code, answer) = try await audit.answer()
            #expect(answer.probes("fail").isEmpty, "\(answer.probes("fail"))")
            #expect(answer.probes("inconclusive").isEmpty, "\(answer.probes("inconclusive"))")
            #expect(code == 0)
            // Every connection of every probe is in the capture.
            let recorded = Set(try await audit.capture.connections().map { Int($0.id) })
            #expect(Set(answer.results.flatMap(\.connections)).isSubset(of: recorded))
        }

        /// What is shown is genuine to the last byte, but the signature is not.
        @Test(.needs(.curl)) func presentsTheOriginsChainForGotoFail() async throws {
            let origin = try await Origin()
            let folder = try Folder()
            let audit = try Audit(
                [
                    "--no-namespaces", "--probe", "handshake-goto-fail-origin", "--origin",
                    "127.0.0.1:\(origin.port)",
                ],
                [
                    "curl", "-sS", "--cacert", origin.authority.certificatePath, "--capath",
                    folder.path, "{url}",
                ], in: folder)
            let (_, answer) = try await audit.answer()
            #expect(answer.outcome("handshake-goto-fail-origin") == "refused")
            let result = answer.results.first { $0.probe == "handshake-goto-fail-origin" }
            // The chain verified: else the alert would be unknown_ca.
            #expect(result?.evidence.contains("decrypt_error") == true, "\(audit.program.story)")
        }

        @Test(.needs(.chromium, .certutil)) func auditsABrowserWithItsPreconnects() async throws {
            let folder = try Folder()
            let first = try Audit(["--probe", "control-good"], ["true"], in: folder)
            _ = try await first.program.end()
            try await folder.trust(folder.path("state/sallyport/audit/ca.pem"))
            try FileManager.default.removeItem(atPath: first.capture.path)
            let audit = try Audit(
                ["--profile", "quick"],
                [
                    "chromium", "--headless=new", "--disable-gpu", "--disable-dev-shm-usage",
                    "--no-first-run", "--no-sandbox", "--disable-background-networking",
                    "--disable-component-update", "--user-data-dir=\(folder.path("profile"))",
                    "--dump-dom", "{url}",
                ], in: folder)
            let (code, answer) = try await audit.answer()
            #expect(answer.outcome("control-good") == "accepted", "\(audit.program.story)")
            #expect(answer.probes("fail").isEmpty && answer.probes("inconclusive").isEmpty)
            #expect(code == 0, "\(audit.program.story)")
        }

        struct SecondTry: CustomTestStringConvertible, Sendable {
            let testDescription: String
            let second: String
            let outcome: String
            let mistake: String
        }

        /// A client that refuses, and has another way to go on.
        @Test(
            .needs(.curl),
            arguments: [
                SecondTry(
                    testDescription: "in cleartext", second: "http://{host}/login?password=secret",
                    outcome: "in-clear", mistake: "fallback-to-clear"),
                SecondTry(
                    testDescription: "without verification", second: "-k {url}",
                    outcome: "accepted", mistake: "retries-unverified"),
            ])
        func seesASecondTry(_ row: SecondTry) async throws {
            let folder = try Folder()
            let audit = try Audit(
                ["--profile", "quick", "--jobs", "2"],
                ["sh", "-c", "curl -s {url} || curl -s \(row.second)"], in: folder)
            let (code, answer) = try await audit.answer()
            #expect(code == 1, "\(audit.program.story)")
            #expect(answer.outcome("control-good") == "accepted")
            #expect(answer.outcome("trust-self-signed") == row.outcome)
            #expect(answer.outcome("name-wrong-host") == row.outcome)
            #expect(answer.diagnosis.map(\.mistake) == [row.mistake], "\(audit.program.story)")
        }

        /// A client that asks for the same in cleartext whatever happens is not accused of falling back.
        @Test(.needs(.curl)) func knowsWhatIsAskedInClearAnyway() async throws {
            let folder = try Folder()
            let audit = try Audit(
                ["--profile", "quick", "--jobs", "2"],
                ["sh", "-c", "curl -s {url}; code=$?; curl -s http://{host}/version; exit $code"],
                in: folder)
            let (code, answer) = try await audit.answer()
            #expect(code == 0 && answer.probes("fail").isEmpty, "\(audit.program.story)")
            #expect(answer.outcome("control-good") == "accepted")
        }

        /// A program that the first host's refusal ends comes to the second when the first is sound.
        @Test(.needs(.curl), arguments: [(careless: "-k", code: Int32(1)), ("--fail", 0)])
        func comesToTheSecondHost(_ row: (careless: String, code: Int32)) async throws {
            let folder = try Folder()
            let command = [
                "sh", "-ec",
                "curl -sS https://first.test/; curl -sS \(row.careless) https://second.test/",
            ]
            let audit = try Audit(
                ["--probe", "trust-self-signed", "--probe", "name-wrong-host"], command, in: folder)
            let (code, answer) = try await audit.answer()
            #expect(code == row.code, "\(audit.program.story)")
            let verdicts = answer.results.filter { $0.probe != "control-good" }.map {
                "\($0.destination) \($0.verdict)"
            }
            let second = row.code == 0 ? "pass" : "fail"
            #expect(
                verdicts.sorted()
                    == ["first.test:443 pass", "first.test:443 pass"]
                    + ["second.test:443 \(second)", "second.test:443 \(second)"])
        }

        /// What one host's server says on the command's output proves nothing of another host.
        @Test(.needs(.curl)) func isNotAccusedForAnotherHost() async throws {
            let folder = try Folder()
            let command = [
                "sh", "-c", "curl -sk https://first.test/; curl -s https://second.test/",
            ]
            let audit = try Audit(["--probe", "trust-self-signed"], command, in: folder)
            let (code, answer) = try await audit.answer()
            #expect(code == 1, "\(audit.program.story)")
            let failed = answer.results.filter { $0.verdict == "fail" }.map(\.destination)
            #expect(failed == ["first.test:443"], "\(audit.program.story)")
        }

        /// A client that tries five times gets one verdict.
        @Test(.needs(.curl)) func bearsRetries() async throws {
            let folder = try Folder()
            let command = [
                "sh", "-c", "for i in 1 2 3 4 5; do curl -s {url} && exit; done; exit 9",
            ]
            let audit = try Audit(["--profile", "quick"], command, in: folder)
            let (code, answer) = try await audit.answer()
            #expect(code == 0 && answer.probes("fail").isEmpty, "\(audit.program.story)")
            let shown = answer.results.first { $0.probe == "trust-self-signed" }
            #expect(shown?.connections.count == 5)
        }

        @Test(.needs(.swiftCompiler)) func auditsURLSession() async throws {
            let folder = try Folder()
            let source = try String(
                contentsOfFile: Peer.script("captured/session.swift"), encoding: .utf8)
            let path = try folder.write("main.swift", source)
            let program = folder.path("session")
            try await Program.run(.swiftCompiler, [path, "-o", program], in: folder)
            let audit = try Audit(["--profile", "quick"], [program, "{url}"], in: folder)
            let (code, answer) = try await audit.answer()
            #expect(code == 0 && answer.probes("fail").isEmpty, "\(audit.program.story)")
            #expect(answer.outcome("control-good") == "accepted")
        }

        /// Three clients at once at one host, each with verdicts of its own.
        @Test(.needs(.curl, .wget, .python)) func tellsClientsApartWhileTheyUseTheProxy()
            async throws
        {
            let folder = try Folder()
            let audit = try Audit(
                ["--listen", "--at", "127.0.0.1:0", "--profile", "quick", "--targets", "*.test"],
                in: folder)
            let ready = try await audit.ready()
            let proxy = "http://\(ready.ports[0].listen)"
            let commands: [(peer: Peer, arguments: [String])] = [
                (.curl, ["-s", "--cacert", ready.ca, "-x", proxy, "https://shop.test/"]),
                (
                    .wget,
                    [
                        "-q", "-t1", "-O-", "--no-check-certificate", "-e", "https_proxy=\(proxy)",
                        "https://shop.test/",
                    ]
                ),
                (.python, ["-c", Self.nameless, proxy, "https://shop.test/", ready.ca]),
            ]
            // Between two probes a connection passes, which leads to no such host here.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for command in commands {
                    group.addTask {
                        for _ in 0..<40 {
                            _ = try await Program(command.peer, command.arguments, in: folder).end()
                        }
                    }
                }
                try await group.waitForAll()
            }
            audit.program.send(SIGINT)
            let (code, answer) = try await audit.answer()
            #expect(code == 1, "\(audit.program.story)")
            func fails(_ client: String) -> Set<String> {
                Set(
                    answer.results.filter {
                        $0.client.hasPrefix(client) && $0.destination == "shop.test:443"
                            && $0.verdict == "fail"
                    }.map(\.probe))
            }
            #expect(fails("curl").isEmpty, "\(audit.program.story)")
            #expect(fails("wget").count == 7, "\(audit.program.story)")
            #expect(fails("python") == ["name-wrong-host"], "\(audit.program.story)")
            let names = Set(answer.results.map(\.client))
            #expect(names.count == 3, "\(names)")
        }

        /// It looks at the chain, but not at the name.
        private static let nameless = """
            import ssl, sys, urllib.request as u
            context = ssl.create_default_context(cafile=sys.argv[3])
            context.check_hostname = False
            opener = u.build_opener(
                u.ProxyHandler({"https": sys.argv[1]}), u.HTTPSHandler(context=context))
            opener.open(sys.argv[2], timeout=10).read()
            """

        /// What was not shown before an interruption is not known.
        @Test(.needs(.curl)) func isNotCleanWhenInterrupted() async throws {
            let folder = try Folder()
            let command = ["sh", "-c", "curl -s {url} && touch \(folder.path("ran")); sleep 60"]
            let audit = try Audit(["--profile", "quick"], command, in: folder)
            try await eventually("the first run") {
                FileManager.default.fileExists(atPath: folder.path("ran")) ? () : nil
            }
            audit.program.send(SIGINT)
            let (code, answer) = try await audit.answer()
            #expect(code == 3, "\(audit.program.story)")
            #expect(answer.outcome("control-good") == "accepted", "\(audit.program.story)")
            #expect(answer.probes("inconclusive").count == 12, "\(audit.program.story)")
        }

        /// Nobody watches for a signal while keys are made, which may take half a minute.
        @Test(.needs()) func isEndedWhileItMakesKeys() async throws {
            let folder = try Folder()
            let audit = try Audit(["--probe", "control-leaf-rsa8192"], ["true"], in: folder)
            try await eventually("the note on keys") {
                String(decoding: audit.program.errors, as: UTF8.self).contains("making RSA keys")
                    ? () : nil
            }
            // Where the tests were begun in the background, interrupts are ignored by all that they start.
            audit.program.send(SIGTERM)
            let code = try await audit.program.end()
            #expect(code == SIGTERM, "\(audit.program.story)")
            let keys = folder.path("state/sallyport/audit-keys/rsa8192.pem")
            #expect(!FileManager.default.fileExists(atPath: keys))
        }

        /// Standard output is a file here.
        @Test(.needs(.curl)) func writesSARIFBeforeItsReport() async throws {
            let folder = try Folder()
            let audit = try Audit(
                ["--sarif", "/dev/stdout", "--probe", "control-good"], ["curl", "-s", "{url}"],
                in: folder)
            let (code, answer) = try await audit.answer()
            #expect(code == 0, "\(audit.program.story)")
            #expect(answer.outcome("control-good") == "accepted")
            let lines = audit.program.output.split(separator: 0x0A)
            #expect(lines.count == 2, "\(audit.program.story)")
            let first = String(decoding: lines.first ?? Data(), as: UTF8.self)
            #expect(first.hasPrefix("{") && first.contains("sarif"), "\(first)")
        }

        /// Half a CA is a mistake on the command line, whatever the command.
        @Test(
            .needs(),
            arguments: [["audit"], ["proxy"], ["run"], ["ca", "show"]], ["--ca-file", "--ca-key"])
        func wantsBothHalvesOfACA(_ command: [String], _ option: String) async throws {
            let folder = try Folder()
            let rest = ["audit", "run"].contains(command[0]) ? ["--", "true"] : []
            let program = try Program(
                .sallyport, command + [option, folder.path("ca")] + rest, in: folder)
            #expect(try await program.end() == 2, "\(program.story)")
            let errors = String(decoding: program.errors, as: UTF8.self)
            #expect(errors.contains("hint: give --ca-file and --ca-key together"))
        }

        /// A client that waits has refused nothing, although its end is one when it is ended.
        @Test(.needs(.python, .openssl)) func isNotRefusedByWhoWaits() async throws {
            let folder = try Folder()
            let audit = try Audit(
                ["--timeout", "2s", "--probe", "trust-self-signed"],
                ["python3", "-c", Self.asking, "{host}", "{port}"], in: folder)
            let (code, answer) = try await audit.answer()
            #expect(answer.outcome("control-good") == "accepted", "\(audit.program.story)")
            #expect(answer.outcome("trust-self-signed") == "inconclusive", "\(audit.program.story)")
            #expect(code == 3)
        }

        /// It asks somebody what to do about a self-signed certificate, and gets no answer.
        private static let asking = """
            import socket, ssl, subprocess, sys, time
            to = socket.create_connection((sys.argv[1], int(sys.argv[2])))
            tls = ssl._create_unverified_context().wrap_socket(to, server_hostname=sys.argv[1])
            names = subprocess.run(
                ["openssl", "x509", "-inform", "der", "-noout", "-subject", "-issuer"],
                input=tls.getpeercert(True), capture_output=True).stdout.decode().splitlines()
            if len({name.split("=", 1)[1] for name in names}) == 1: time.sleep(60)
            tls.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
            print(tls.recv(65536))
            """

        /// One port a probe, for a test suite of the client's own.
        @Test(.needs(.curl)) func servesAPortForEachProbe() async throws {
            let folder = try Folder()
            let audit = try Audit(
                ["--serve", "0-0", "--at", "127.0.0.1:0", "--profile", "quick"], in: folder)
            let ready = try await audit.ready()
            #expect(ready.ports.count == 13)
            for port in ready.ports {
                let number = port.listen.split(separator: ":").last ?? ""
                _ = try await Program(
                    .curl, ["-s", "--cacert", ready.ca, "https://localhost:\(number)/"], in: folder
                ).end()
            }
            audit.program.send(SIGINT)
            let (_, answer) = try await audit.answer()
            #expect(answer.outcome("control-good") == "accepted", "\(audit.program.story)")
            #expect(answer.probes("fail").isEmpty, "\(audit.program.story)")
        }
    }
}
