import Foundation
import Testing

extension RealClientTests {
    /// `sallyport audit` on the ways by which clients come, and with what they leave behind.
    struct AuditWayTests {
        /// How a client is led through the proxy.
        struct Way: CustomTestStringConvertible, Sendable {
            let testDescription: String
            /// Of curl, with the proxy's address after it.
            let option: String
        }

        /// A client that follows a redirection into cleartext comes again on another connection, which
        /// is told to be its own by the program.
        @Test(
            .needs(.curl),
            arguments: [
                Way(testDescription: "HTTP", option: "--proxy"),
                Way(testDescription: "SOCKS", option: "--socks5-hostname"),
            ])
        func followsTheClientIntoTheClear(_ way: Way) async throws {
            let folder = try Folder()
            let audit = try Audit(
                ["--listen", "--at", "127.0.0.1:0", "--probe", "plaintext-redirect*"], in: folder)
            let ready = try await audit.ready()
            for _ in 0..<8 {
                _ = try await Program(
                    .curl,
                    [
                        "-sL", "--cacert", ready.ca, way.option, ready.ports[0].listen,
                        "-H", "Authorization: Basic bWU6c2VjcmV0", "--location-trusted",
                        "https://shop.test/",
                    ], in: folder
                ).end()
            }
            audit.program.send(SIGINT)
            let (code, answer) = try await audit.answer()
            #expect(code == 1, "\(audit.program.story)")
            #expect(answer.outcome("plaintext-redirect-to-http") == "accepted")
            #expect(
                answer.probes("fail") == ["plaintext-redirect-leaks-credentials"],
                "\(audit.program.story)")
        }

        /// A client that goes on in cleartext when it has refused a probe, on each way.
        @Test(
            .needs(.curl),
            arguments: [
                Way(testDescription: "HTTP", option: "--proxy"),
                Way(testDescription: "CONNECT", option: "--proxytunnel --proxy"),
                Way(testDescription: "SOCKS", option: "--socks5-hostname"),
            ])
        func seesAFallbackIntoTheClear(_ way: Way) async throws {
            let folder = try Folder()
            let audit = try Audit(
                ["--listen", "--at", "127.0.0.1:0", "--probe", "trust-self-signed"], in: folder)
            let ready = try await audit.ready()
            let curl = "curl -s --cacert \(ready.ca) \(way.option) \(ready.ports[0].listen)"
            // The sound server, one that passes, and the probe.
            for _ in 0..<2 {
                _ = try await Program(
                    .bash, ["-c", "\(curl) https://shop.test/"], in: folder
                ).end()
            }
            let script = "\(curl) https://shop.test/ || \(curl) http://shop.test/"
            #expect(try await Program(.bash, ["-c", script], in: folder).end() == 0)
            audit.program.send(SIGINT)
            let (code, answer) = try await audit.answer()
            #expect(code == 1, "\(audit.program.story)")
            #expect(answer.outcome("trust-self-signed") == "in-clear", "\(audit.program.story)")
        }

        /// A careful and a careless client of one machine at the ports of `--serve`.
        @Test(.needs(.curl, .wget)) func tellsClientsOfPortsApart() async throws {
            let folder = try Folder()
            let audit = try Audit(
                ["--serve", "0-0", "--at", "127.0.0.1:0", "--profile", "quick"], in: folder)
            let ready = try await audit.ready()
            let clients: [(peer: Peer, arguments: [String])] = [
                (.curl, ["-s", "--cacert", ready.ca]),
                (.curl, ["-sk"]),
                (.wget, ["-q", "-t1", "-O-", "--ca-certificate=\(ready.ca)"]),
            ]
            for port in ready.ports {
                let number = port.listen.split(separator: ":").last ?? ""
                for client in clients + clients {
                    _ = try await Program(
                        client.peer, client.arguments + ["https://localhost:\(number)/"],
                        in: folder
                    ).end()
                }
            }
            audit.program.send(SIGINT)
            let (code, answer) = try await audit.answer()
            #expect(code == 1, "\(audit.program.story)")
            let careless = Set(answer.results.filter { $0.verdict == "fail" }.map(\.client))
            #expect(careless == ["curl -sk"], "\(audit.program.story)")
            #expect(Set(answer.results.map(\.client)).count == 3, "\(audit.program.story)")
        }

        /// What the command leaves running is ended and named, wherever the command runs: the tool too,
        /// which stays in its own namespaces itself.
        @Test(.needs(.curl), arguments: [[], ["--no-namespaces"]], ["sleep", "sallyport"])
        func endsWhatIsLeftRunning(_ options: [String], _ program: String) async throws {
            let folder = try Folder()
            let tool = try #require(Peer.sallyport.path)
            let words =
                program == "sleep"
                ? "sleep 1000" : "\(tool) transfer daemon --folder \(folder.path("transfers"))"
            let command = [
                "sh", "-c",
                // It is named by what it is, which the shell and setsid are first.
                "setsid \(words) > /dev/null 2>&1 & echo $! >> \(folder.path("left"));"
                    + " until grep -q '^\(program)' /proc/$!/comm; do :; done; exec curl -s {url}",
            ]
            let audit = try Audit(options + ["--probe", "trust-self-signed"], command, in: folder)
            let (_, answer) = try await audit.answer()
            #expect(answer.results.count == 2, "\(audit.program.story)")
            let errors = String(decoding: audit.program.errors, as: UTF8.self)
            #expect(
                errors.contains(
                    "the command left programs running, which were ended: \(program) (in 2 runs)\n"),
                "\(audit.program.story)")
            let left = try String(contentsOfFile: folder.path("left"), encoding: .utf8)
                .split(separator: "\n").compactMap { pid_t($0) }
            #expect(left.count == 2)
            // A program that has ended may wait to be noticed by its parent.
            for process in left {
                let state = FileManager.default.contents(atPath: "/proc/\(process)/stat")
                #expect(state?.firstRange(of: Data(") Z ".utf8)) != nil || state == nil)
            }
        }
    }
}
