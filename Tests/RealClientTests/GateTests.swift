import Foundation
import Testing

extension RealClientTests {
    /// What makes the gate of `sallyport run` red, and that nothing else does.
    struct GateTests {
        /// Neither a finding nor the lack of traffic is told by what others recorded before.
        @Test(.needs(.curl)) func judgesItsOwnRecordsAlone() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let get = ["curl", "-sS", "--output", "out", "\(content.url)/assets/1/10"]
            let rows: [(command: [String], code: Int32, says: String)] = [
                (get + ["--user", "tester:Correct-Horse-7"], 1, "PLAIN-HTTP-BASIC"),
                (["true"], 3, "inconclusive: nothing was recorded"),
                (get, 0, "looked at 1 exchange on 1 connection"),
            ]
            for row in rows {
                let run = try Gate(
                    row.command, in: folder, ["--loopback-as-remote"])
                #expect(try await run.program.end() == row.code, "\(run.program.story)")
                #expect(run.talk.contains(row.says), "\(run.talk)")
            }
            try await content.end()
        }

        /// Several in one second, too, have a capture each.
        @Test func keepsRunsApart() async throws {
            let folder = try Folder()
            for _ in 1...3 {
                let run = try Program(.sallyport, ["run", "--", "true"], in: folder)
                #expect(try await run.end() == 3, "\(run.story)")
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.filter { $0.hasSuffix(".sallyport") }.count == 3, "\(names)")
        }

        @Test(.needs(.curl)) func knowsItsOwnAnswers() async throws {
            let folder = try Folder()
            // Nothing listens at port 1.
            let run = try Gate(
                ["curl", "-sS", "--output", "out", "http://127.0.0.1:1/"], in: folder)
            #expect(try await run.program.end() == 3, "\(run.program.story)")
            #expect(run.talk.contains("inconclusive: no origin answered"), "\(run.talk)")
        }

        /// The command's, the verdict's, or the one that tells most.
        @Test(
            .needs(.curl),
            arguments: [
                ("verdict", "exit 7", 3), ("command", "exit 7", 7), ("both", "exit 7", 7),
                ("both", "true", 1), ("command", "true", 0), ("command", "kill -9 $$", 137),
            ])
        func endsAsItIsTold(_ whose: String, _ end: String, _ code: Int32) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            // Without a failure of its own there is a finding.
            let user = end == "true" ? "--user tester:Correct-Horse-7" : ""
            let run = try Gate(
                ["sh", "-c", "curl -sS \(user) -o out \(content.url)/assets/1/10; \(end)"],
                in: folder, ["--loopback-as-remote", "--exit-status", whose])
            #expect(try await run.program.end() == code, "\(run.program.story)")
            try await content.end()
        }

        /// A password that goes past the proxy is not seen; that something went past is.
        @Test(
            .needs(.curl, .python, .unshare),
            arguments: [
                (
                    [], 3,
                    "inconclusive: only what heeds the proxy variables was seen: 1 connection"
                        + " went past, to 203.0.113.7:80 (curl)\n"
                ),
                (
                    ["--expect-past", "203.0.113.7"], 0,
                    "1 connection went past the proxy as expected, to 203.0.113.7:80 (curl)\n"
                ),
                (["--expect-past", "*:80"], 0, "as expected"),
                (["--expect-past", "203.0.113.7:81"], 3, "went past, to"),
            ])
        func seesWhatGoesPast(_ options: [String], _ code: Int32, _ says: String) async throws {
            let folder = try Folder()
            // Another machine of a network of its own: it takes connections, and never answers.
            let script = """
                ip link set lo up
                ip address add 10.9.0.1/32 dev lo
                ip route add local 203.0.113.0/24 dev lo src 10.9.0.1
                "$PYTHON" -c 'import http.server as s, socket, threading, sys
                silent = socket.create_server(("0.0.0.0", 80))
                origin = s.HTTPServer(("127.0.0.1", 0), s.SimpleHTTPRequestHandler)
                print(origin.server_port, flush=True)
                origin.serve_forever()' >port 2>/dev/null &
                trap "kill $!" EXIT
                while ! [ -s port ]; do sleep 0.05; done
                "$TOOL" run --capture run.sallyport "$@" -- sh -c "
                    curl -sS -o out http://127.0.0.1:$(cat port)/
                    env -i \(Peer.curl.path ?? "") -sS --max-time 1 http://203.0.113.7/ || true"
                """
            let program = try Program(
                .unshare, ["--net", "sh", "-c", script, "sh"] + options, in: folder,
                variables: ["PYTHON": Peer.python.path ?? "", "TOOL": Peer.sallyport.path ?? ""])
            #expect(try await program.end() == code, "\(program.story)")
            #expect(String(decoding: program.errors, as: UTF8.self).contains(says))
        }

        /// What goes on after the command is told, as nothing of it is seen any more.
        @Test(.needs(.curl)) func namesWhatIsLeftRunning() async throws {
            let folder = try Folder()
            let run = try Gate(
                ["sh", "-c", "sleep 1000 >/dev/null 2>&1 </dev/null & echo $! >daemon"], in: folder)
            _ = try await eventually("the verdict of \(run.program.story)") {
                run.talk.contains("verdict:") ? true : nil
            }
            let text = try String(contentsOfFile: folder.path("daemon"), encoding: .utf8)
            let daemon = try #require(Int32(text.trimmingCharacters(in: .newlines)))
            kill(daemon, SIGKILL)
            _ = try await run.program.end()
            let words = "left running by the command, and what it does from now on is not seen: "
            #expect(run.talk.contains(words + "sleep (\(daemon))"), "\(run.talk)")
        }

        /// A server near by has answered before anybody could see who asked.
        @Test(.needs(.python, .unshare)) func seesWhatIsOverAtOnce() async throws {
            let folder = try Folder()
            let script = """
                ip link set lo up
                ip address add 10.9.0.1/32 dev lo
                ip route add local 203.0.113.0/24 dev lo src 10.9.0.1
                "$TOOL" run --capture run.sallyport -- "$PYTHON" -c '
                import socket, urllib.request
                near = socket.create_server(("0.0.0.0", 80))
                for _ in range(10):
                    c = socket.create_connection(("203.0.113.7", 80))
                    s = near.accept()[0]
                    c.close()
                    s.close()
                '
                """
            let program = try Program(
                .unshare, ["--net", "sh", "-c", script], in: folder,
                variables: ["PYTHON": Peer.python.path ?? "", "TOOL": Peer.sallyport.path ?? ""])
            #expect(try await program.end() == 3, "\(program.story)")
            let talk = String(decoding: program.errors, as: UTF8.self)
            #expect(talk.contains("to 203.0.113.7:80"), "\(talk)")
        }

        /// Nothing that can be judged was seen, and something was.
        @Test(
            .needs(.curl, .python),
            arguments: [
                (
                    true,
                    "s.socket(type=2).sendto(b'password=geheim', ('203.0.113.9', 9))",
                    "inconclusive: datagrams were seen"
                ),
                (
                    true,
                    "c = s.create_connection(near.getsockname()); a = near.accept()[0]; c.close(); a.recv(1)",
                    "inconclusive: connections were seen"
                ),
                (
                    false,
                    "s.create_connection(os.environ['http_proxy'][7:].rstrip('/').split(':')).close()",
                    "inconclusive: connections were seen"
                ),
                (
                    false, "os.system('curl -s -o page http://sallyport.test/')",
                    "inconclusive: the tool's own page"
                ),
            ])
        func isNotGreenForNothing(
            _ isConfined: Bool, _ line: String, _ says: String
        ) async throws {
            let folder = try Folder()
            let code = """
                import os, socket as s
                near = s.create_server(("127.0.0.1", 0))
                try: \(line)
                except OSError: pass
                """
            let run = try Gate(
                [Peer.python.path ?? "", "-c", code], in: folder,
                (isConfined ? ["--capture-all"] : []) + ["--sarif", folder.path("run.sarif")])
            #expect(try await run.program.end() == 3, "\(run.program.story)")
            #expect(run.talk.contains("verdict: \(says)"), "\(run.talk)")
            let log = try String(contentsOfFile: folder.path("run.sarif"), encoding: .utf8)
            #expect(log.contains("\"executionSuccessful\":false"))
            let check = try Program(
                .sallyport, ["check", folder.path("run.sallyport")], in: folder)
            #expect(try await check.end() == 3, "\(check.story)")
        }

        /// A service of this machine is told of, and no reason to fail.
        @Test(.needs(.curl)) func letsLoopbackBe() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let script = """
                curl -sS -o out \(content.url)/assets/1/10
                curl -sS --noproxy '*' --limit-rate 1m --max-time 1 -o out \\
                    \(content.url)/assets/1/100m || true
                """
            let run = try Gate(["sh", "-c", script], in: folder)
            #expect(try await run.program.end() == 0, "\(run.program.story)")
            let place = "127.0.0.1:\(content.port) (curl)"
            #expect(
                run.talk.contains(
                    "1 connection went past the proxy and stayed on this machine, to \(place)"),
                "\(run.talk)")
            try await content.end()
        }

        /// Whoever is led here is connected before it can see that nothing listens on ::1.
        @Test(.needs(.curl)) func leadsLocalhostToWhereItListens() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let url = "http://[::1]:\(content.port)/assets/1/10"
            let run = try Gate(
                ["curl", "-sS", "--fail", "--output", "out", url], in: folder, ["--capture-all"])
            #expect(try await run.program.end() == 0, "\(run.program.story)")
            try await content.end()
        }

        /// What was recorded is there although its origin is gone; what was not is told.
        @Test(.needs(.curl), arguments: [[], ["--capture-all"]])
        func answersFromACapture(_ options: [String]) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let url = "\(content.secureURL)/assets/1/10"
            let get = ["curl", "-sS", "--fail", "--output", "out", url]
            let recorded = try Gate(
                get, in: folder, ["--origin-ca", content.authorityPath] + options)
            #expect(try await recorded.program.end() == 0, "\(recorded.program.story)")
            try await content.end()
            let first = try Data(contentsOf: URL(filePath: folder.path("out")))
            try folder.write("out", "")
            let session = ["--replay", folder.path("run.sallyport")] + options
            let again = try Gate(get, in: folder, session, capture: "again")
            #expect(try await again.program.end() == 0, "\(again.program.story)")
            #expect(try Data(contentsOf: URL(filePath: folder.path("out"))) == first)
            let other = try Gate(
                ["curl", "-sS", "\(content.secureURL)/assets/1/11"], in: folder, session,
                capture: "other")
            #expect(try await other.program.end() == 1, "\(other.program.story)")
            #expect(other.talk.contains("1 request had no recorded answer"), "\(other.talk)")
            let itself = try Gate(get, in: folder, session)
            #expect(try await itself.program.end() == 2, "\(itself.program.story)")
        }

        /// Whether a command is told of the proxy or led to it does not change what it asked for: a
        /// session that was recorded in one way is there in the other.
        @Test(.needs(.curl)) func recordsWhatTheClientAskedFor() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let paths = [
                "http://localhost:\(content.port)", "http://127.0.0.1:\(content.port)",
                content.secureURL,
            ].map { "\($0)/assets/1/10" }
            let get = ["curl", "-sS", "--fail"] + paths.flatMap { ["--output", "out", $0] }
            let ways: [(name: String, options: [String])] = [
                ("told", []), ("led", ["--capture-all"]),
            ]
            for way in ways {
                let run = try Gate(
                    get, in: folder, ["--origin-ca", content.authorityPath] + way.options,
                    capture: way.name)
                #expect(try await run.program.end() == 0, "\(run.program.story)")
                let capture = Capture(path: folder.path("\(way.name).sallyport"), folder: folder)
                #expect(try await capture.flows().map(\.url) == paths)
            }
            try await content.end()
            for (recorded, way) in [(ways[0], ways[1]), (ways[1], ways[0])] {
                let replayed = ["--replay", folder.path("\(recorded.name).sallyport")]
                let run = try Gate(get, in: folder, replayed + way.options, capture: "again")
                #expect(try await run.program.end() == 0, "\(run.program.story)")
            }
        }

        /// The streams are the command's own.
        @Test(.needs(.curl)) func writesOneDocument() async throws {
            let folder = try Folder()
            let run = try Gate(
                ["sh", "-c", "echo out; echo err >&2; exit 7"], in: folder,
                ["--json", "--output", folder.path("run.json"), "--junit", folder.path("run.xml")])
            #expect(try await run.program.end() == 3, "\(run.program.story)")
            #expect(String(decoding: run.program.output, as: UTF8.self) == "out\n")
            let lines = run.talk.split(separator: "\n").map(String.init)
            try #require(lines.count == 2 && lines[0] == "err", "\(run.talk)")
            let file = try String(contentsOfFile: folder.path("run.json"), encoding: .utf8)
            #expect(file == lines[1] + "\n")
            let document = try JSONDecoder().decode(Document.self, from: Data(file.utf8))
            #expect(document.schema == "sallyport.run/1" && document.verdict == "inconclusive")
            #expect(document.commandStatus == 7)
            #expect(document.reasons.map(\.code) == ["nothing-recorded", "command-failed"])
            let cases = try String(contentsOfFile: folder.path("run.xml"), encoding: .utf8)
            #expect(cases.contains("the command exited with 7"))
        }

        /// That a client takes our certificate does not say that it looked at it.
        @Test(.needs(.curl), arguments: [true, false])
        func saysThatItDoesNotTestVerification(_ isSecure: Bool) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let url = isSecure ? content.secureURL : content.url
            let run = try Gate(
                ["curl", "-sSk", "--output", "out", "\(url)/assets/1/10"], in: folder,
                ["--origin-ca", content.authorityPath])
            #expect(try await run.program.end() == 0, "\(run.program.story)")
            try await content.end()
            let says = run.talk.contains("'sallyport audit -- COMMAND'")
            #expect(says == isSecure, "\(run.talk)")
        }
    }
}

/// What a run writes for programs.
private struct Document: Decodable {
    let schema: String
    let verdict: String
    let commandStatus: Int32
    let reasons: [Reason]

    struct Reason: Decodable {
        let code: String
    }
}

/// `sallyport run` of a command, into one capture if none is named.
struct Gate {
    let program: Program

    init(
        _ command: [String], in folder: Folder, _ options: [String] = [], capture: String = "run"
    ) throws {
        program = try Program(
            .sallyport,
            ["run", "--capture", folder.path("\(capture).sallyport")] + options + ["--"] + command,
            in: folder)
    }

    /// What the tool said, and the command on its standard error.
    var talk: String { String(decoding: program.errors, as: UTF8.self) }
}
