import Foundation
import Testing

extension RealClientTests {
    /// `sallyport run --capture-all` with programs that nobody told of the proxy.
    @Suite(
        .capturedWorld,
        .enabled(if: geteuid() == 0 || Peer.isRequired, "only root can make a world of its own"),
        .needs(.unshare, .nsenter, .git, .python))
    struct CaptureAllTests {
        @Test(arguments: CapturedProgram.all)
        func captures(_ row: CapturedProgram) async throws {
            if row.name.hasPrefix("Go ") {
                // The one program that is captured if it is there, and asked for by nothing.
                guard row.peer.path != nil else { try Test.cancel("there is no Go") }
            }
            try row.peer.needed(for: row.name)
            let folder = try Folder()
            let run = try CapturedRun(try await row.command(folder), in: folder)
            let code = try await run.program.end()
            let isWhole = row.code == 0
            #expect(code == (isWhole ? 0 : 3), "\(run.program.story)")
            #expect(run.talk.contains("the command exited with \(row.code);"), "\(run.talk)")
            #expect(run.talk.contains("sallyport: leak-proof:"), "\(run.talk)")
            if let prints = row.prints { #expect(run.output == prints) }
            let connections = try await run.capture.connections().filter { $0.host == row.origin }
            #expect(!connections.isEmpty)
            for connection in connections {
                #expect(connection.mode == "captured" && connection.port == row.port)
                #expect(connection.process?.name?.hasPrefix(row.process) ?? false)
            }
            try await expect(row.sight, of: row, in: run, connections)
        }

        private func expect(
            _ sight: CapturedProgram.Sight, of row: CapturedProgram, in run: CapturedRun,
            _ connections: [Capture.Connection]
        ) async throws {
            let story: Comment = "\(connections)"
            switch sight {
            case .exchanges(let paths):
                let origin = "https://\(row.origin)\(row.port == 443 ? "" : ":\(row.port)")"
                let flows = try await run.capture.flows()
                for path in paths {
                    let flow = flows.first { $0.url == origin + path }
                    #expect(flow?.status == 200 && flow?.error == nil, "\(flows)")
                }
                #expect(connections.allSatisfy { $0.tlsVersion != nil }, story)
            case .dialogue(let name, let upgrade, let text):
                #expect(connections.allSatisfy { $0.protocol == name }, story)
                #expect(connections.allSatisfy { $0.upgrade == upgrade }, story)
                #expect(connections.allSatisfy { $0.tlsVersion != nil }, story)
                try await expect(text, saidIn: connections, of: run)
            case .clear(let name, let text):
                #expect(connections.allSatisfy { $0.protocol == name }, story)
                #expect(connections.allSatisfy { $0.tlsVersion == nil }, story)
                try await expect(text, saidIn: connections, of: run)
            case .refused:
                #expect(connections.allSatisfy { $0.outcome == "client-refused" }, story)
                #expect(
                    run.talk.contains("not decrypted: \(row.origin):\(row.port)"), "\(run.talk)")
            }
        }

        private func expect(
            _ text: String, saidIn connections: [Capture.Connection], of run: CapturedRun
        ) async throws {
            var said = Data()
            for connection in connections { said += try await run.capture.dialogue(connection.id) }
            #expect(said.firstRange(of: Data(text.utf8)) != nil)
        }

        /// Not even of one that the caller goes by.
        @Test func commandIsToldOfNoProxy() async throws {
            let folder = try Folder()
            let run = try CapturedRun(
                ["env"], in: folder,
                variables: ["https_proxy": "http://proxy.test:3128", "NO_PROXY": "*", "MARK": "1"])
            _ = try await run.program.end()
            let names = run.output.split(separator: "\n").compactMap {
                $0.split(separator: "=").first
            }
            #expect(names.contains("MARK"))
            #expect(names.filter { $0.lowercased().hasSuffix("proxy") }.isEmpty)
        }

        /// One that it uses by itself is seen, and what goes through it is not called decrypted.
        @Test(.needs(.curl)) func tunnelsThroughAnotherProxyAreListed() async throws {
            let (folder, world) = (try Folder(), try #require(CapturedWorld.current))
            let proxy = try world.start(
                [Peer.python.path ?? "", Peer.script("captured/tunnel-proxy.py")], in: folder)
            _ = try await eventually("the proxy of \(proxy.story)") {
                proxy.output.isEmpty ? nil : true
            }
            let run = try CapturedRun(
                [
                    "curl", "-sS", "--cacert", world.authority.certificatePath, "--proxy",
                    "http://proxy.test:3128", "https://web.test/hello.txt",
                ], in: folder)
            _ = try await run.program.end()
            #expect(run.output == "from the origin\n", "\(run.program.story)")
            #expect(run.talk.contains("not decrypted: proxy.test:3128, 1 connection: a tunnel"))
        }

        @Test func datagramsAreListed() async throws {
            let command = [
                Peer.python.path ?? "", Peer.script("captured/datagrams.py"),
                Peer.script("captured/quic-initial.hex"),
            ]
            let folder = try Folder()
            let run = try CapturedRun(command, in: folder)
            #expect(try await run.program.end() == 3, "\(run.program.story)")
            #expect(run.output == "quic.test knows no version of it\ntime.test refused\n")
            let quic =
                "QUIC to example.com:443 for alpn (refused, 1 datagram; it did not come by TCP"
                + " instead)"
            let time = "UDP to time.test:123 (refused, 1 datagram)"
            #expect(run.talk.contains("sallyport: tried: \(quic)\n"), "\(run.talk)")
            #expect(run.talk.contains("sallyport: tried: \(time)\n"), "\(run.talk)")
            let connections = try await run.capture.connections()
            #expect(connections.map(\.protocol) == ["quic", "ntp"])
            #expect(connections.map(\.host) == ["example.com", "time.test"])
            #expect(connections.map(\.outcome) == ["refused", "refused"])
            #expect(connections.first?.sni == "example.com")
            #expect(connections.first?.ja4?.hasPrefix("q") == true)
            #expect(connections.first?.notes.map(\.code) == ["quic-only", "quic-offer"])
            #expect(connections.first?.notes.last?.detail == "alpn")
            let again = try Folder()
            let asJSON = try CapturedRun(command, in: again, options: ["--json"])
            _ = try await asJSON.program.end()
            let coverage = try #require(try RunDocument(in: asJSON.program.errors)).confinement
            #expect(coverage.leakProof && coverage.tried == [quic, time])
        }

        /// A client that comes by TCP instead can do without QUIC.
        @Test func datagramsThatTCPFollowsAreListed() async throws {
            let command = [
                Peer.python.path ?? "", Peer.script("captured/datagrams.py"),
                Peer.script("captured/quic-initial.hex"), "then-tcp",
            ]
            let run = try CapturedRun(command, in: try Folder())
            _ = try await run.program.end()
            let quic = "QUIC to example.com:443 for alpn (refused, 1 datagram)"
            #expect(run.talk.contains("sallyport: tried: \(quic)\n"), "\(run.talk)")
        }

        @Test(.needs(.chromium)) func browsersQUICIsListed() async throws {
            let folder = try Folder()
            let run = try CapturedRun(
                [
                    "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                    "--disable-dev-shm-usage", "--user-data-dir=\(folder.path("profile"))",
                    "--origin-to-force-quic-on=web.test:443", "--dump-dom",
                    "https://web.test/hello.txt",
                ], in: folder)
            _ = try await run.program.end()
            #expect(run.talk.contains("tried: QUIC to web.test:443"), "\(run.talk)")
            // Told to use QUIC only, it does not fall back.
            let connections = try await run.capture.connections().filter { $0.host == "web.test" }
            #expect(connections.map(\.protocol) == ["quic"], "\(connections)")
            #expect(connections.map(\.outcome) == ["refused"])
        }

        @Test func ownServersAreReached() async throws {
            let folder = try Folder()
            let run = try CapturedRun(
                [Peer.python.path ?? "", Peer.script("captured/own-server.py")], in: folder)
            #expect(try await run.program.end() == 0, "\(run.program.story)")
            #expect(run.output == "from itself\n")
            let connections = try await run.capture.connections()
            #expect(connections.map(\.host) == ["127.0.0.1"])
            #expect(connections.map(\.exchanges) == [1])
        }

        /// A line for each way in which connections end, the same with and without us; and whatever
        /// listens on the same port outside gets none of it.
        @Test func connectionsLiveAsWithoutUs() async throws {
            let (folder, world) = (try Folder(), try #require(CapturedWorld.current))
            let python = Peer.python.path ?? ""
            let (outside, port) = try await listener(in: folder, world)
            let life = [python, Peer.script("captured/life.py"), "\(port)"]
            let plain = try world.start(
                [
                    "unshare", "-n", "sh", "-c",
                    "ip link set lo up && exec \"$@\"", "sh",
                ] + life, in: folder)
            #expect(try await plain.end() == 0, "\(plain.story)")
            let run = try CapturedRun(life, in: folder)
            #expect(try await run.program.end() == 0, "\(run.program.story)")
            #expect(run.output == String(decoding: plain.output, as: UTF8.self))
            #expect(run.output.split(separator: "\n").count == 13)
            #expect(String(decoding: outside.output, as: UTF8.self) == "\(port)\n")
            let connections = try await run.capture.connections()
            #expect(connections.allSatisfy { $0.host == "127.0.0.1" && $0.port == port })
        }

        /// Says its port, and then whatever it gets, on the loopback outside.
        private func listener(
            in folder: Folder, _ world: CapturedWorld
        ) async throws -> (program: Program, port: Int) {
            let script = """
                import socket, sys
                s = socket.create_server(('127.0.0.1', 0))
                print(s.getsockname()[1], flush=True)
                while True: print('got', s.accept()[0].recv(1000), flush=True)
                """
            let program = try world.start([Peer.python.path ?? "", "-c", script], in: folder)
            let port = try await eventually("the port of \(program.story)") {
                Int(String(decoding: program.output, as: UTF8.self).dropLast())
            }
            return (program, port)
        }

        /// A connection that is opened anew for the same client leads to the same server, and never
        /// to who listens on the same port outside.
        @Test func ownServersAreReachedAgain() async throws {
            let (folder, world) = (try Folder(), try #require(CapturedWorld.current))
            let (outside, port) = try await listener(in: folder, world)
            let command = [
                Peer.python.path ?? "", Peer.script("captured/redials.py"), "\(port)",
            ]
            // Each stream of HTTP/2 takes a connection of its own then.
            let run = try CapturedRun(command, in: folder, options: ["--origin-http", "1"])
            _ = try await run.program.end()
            let inside = [1, 3, 5].map { "(\($0), b'inside')" }.joined(separator: ", ")
            #expect(
                run.output == "streams: ([\(inside)], 3)\nprotocol_is_refused: (True, 2)\n",
                "\(run.program.story)")
            #expect(String(decoding: outside.output, as: UTF8.self) == "\(port)\n")
        }

        /// What the server sees and the client is answered; that its connection ends is told to it
        /// by the frames of HTTP/2, so that it may ask again where that is safe.
        @Test func connectionsOfHTTP2LiveAsWithoutUs() async throws {
            let (folder, world) = (try Folder(), try #require(CapturedWorld.current))
            let life = [Peer.python.path ?? "", Peer.script("captured/http2_life.py")]
            let plain = try world.start(life, in: folder)
            #expect(try await plain.end() == 0, "\(plain.story)")
            let run = try CapturedRun(life, in: folder)
            #expect(try await run.program.end() == 0, "\(run.program.story)")
            #expect(run.output == String(decoding: plain.output, as: UTF8.self))
            #expect(run.output.split(separator: "\n").count == 4)
        }

        /// As if it had been refused, which is what a program that waits for a server looks for.
        @Test func unreachableOriginsResetTheClient() async throws {
            let folder = try Folder()
            let script = """
                import socket
                try: print(socket.create_connection(('127.0.0.1', 9)).recv(1))
                except ConnectionError: print('no server')
                """
            let run = try CapturedRun([Peer.python.path ?? "", "-c", script], in: folder)
            _ = try await run.program.end()
            #expect(run.output == "no server\n", "\(run.program.story)")
            #expect(try await run.capture.connections().map(\.outcome) == ["origin-unreachable"])
        }

        @Test(.needs(.curl)) func daemonsAreCapturedAndListed() async throws {
            let folder = try Folder()
            let script = """
                (setsid sh -c 'curl -sS https://web.test/hello.txt >fetched; mv fetched done
                    exec sleep 1000' >/dev/null 2>&1 </dev/null & echo $! >daemon)
                until [ -e done ]; do sleep 0.05; done
                """
            let run = try CapturedRun(["sh", "-c", script], in: folder)
            // The daemon holds what tells the end of a process here, so it has to end first.
            _ = try await eventually("the verdict of \(run.program.story)") {
                run.talk.contains("findings") ? true : nil
            }
            let text = try String(contentsOfFile: folder.path("daemon"), encoding: .utf8)
            let daemon = try #require(Int32(text.trimmingCharacters(in: .newlines)))
            kill(daemon, SIGKILL)
            #expect(try await run.program.end() == 0, "\(run.program.story)")
            #expect(try await run.capture.flows().map(\.url) == ["https://web.test/hello.txt"])
            #expect(run.talk.contains("left running by the command"), "\(run.talk)")
            // It may not have become `sleep` yet.
            #expect(run.talk.contains(" (\(daemon))"), "\(run.talk)")
        }

        @Test(arguments: [
            Ended(name: "a code", script: "exit 7", words: "exited with 7", code: 3),
            Ended(name: "a signal", script: "kill -9 $$", words: "ended by signal 9", code: 3),
        ])
        func endsAsTheCommandDoes(_ row: Ended) async throws {
            let folder = try Folder()
            let run = try CapturedRun(["sh", "-c", row.script], in: folder)
            #expect(try await run.program.end() == row.code, "\(run.program.story)")
            #expect(run.talk.contains(row.words))
        }

        /// The command gets the signal that the tool got, once, and ends as it sees fit.
        @Test(.needs(.curl), arguments: [SIGINT, SIGTERM])
        func signalsArePassedOn(_ number: Int32) async throws {
            let folder = try Folder()
            let name = number == SIGINT ? "INT" : "TERM"
            let script = """
                trap 'echo \(name); exit 5' \(name)
                curl -sS https://web.test/hello.txt
                touch started
                while :; do sleep 0.05; done
                """
            let run = try CapturedRun(["sh", "-c", script], in: folder)
            _ = try await eventually("the command of \(run.program.story)") {
                FileManager.default.fileExists(atPath: folder.path("started")) ? true : nil
            }
            run.program.send(number)
            #expect(try await run.program.end() == 3, "\(run.program.story)")
            #expect(run.output == "from the origin\n\(name)\n")
            #expect(run.talk.contains("the command exited with 5;"), "\(run.talk)")
            #expect(try await run.capture.flows().map(\.status) == [200])
        }

        @Test(.needs(.curl, .setpriv)) func worksWithoutPrivileges() async throws {
            let folder = try Folder()
            try FileManager.default.setAttributes(
                [.ownerAccountID: 65534, .groupOwnerAccountID: 65534], ofItemAtPath: folder.path)
            // The folder of the build need not be open to others.
            try FileManager.default.copyItem(
                atPath: try #require(Peer.sallyport.path), toPath: folder.path("sallyport"))
            let run = try CapturedRun(
                ["sh", "-c", "id -u && curl -sS https://web.test/hello.txt"], in: folder,
                tool: Peer("sallyport", at: folder.path("sallyport")), asNobody: true)
            #expect(try await run.program.end() == 0, "\(run.program.story)")
            #expect(run.output == "65534\nfrom the origin\n")
            #expect(run.talk.contains("sallyport: leak-proof:"))
            let connections = try await run.capture.connections()
            #expect(connections.map(\.host) == ["web.test"])
            #expect(connections.map(\.process?.name) == ["curl"])
        }

        /// By a user namespace in which no other may be made.
        @Test(.needs(.curl)) func saysSoWhereNamespacesAreForbidden() async throws {
            let folder = try Folder()
            let script = """
                echo 0 >/proc/sys/user/max_user_namespaces
                echo 0 >/proc/sys/user/max_net_namespaces
                exec "$@"
                """
            let run = try CapturedRun(
                ["curl", "-sS", "https://web.test/hello.txt"], in: folder,
                before: ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"])
            #expect(try await run.program.end() == 3, "\(run.program.story)")
            #expect(run.output == "from the origin\n")
            #expect(run.talk.contains("not leak-proof: cannot make namespaces"), "\(run.talk)")
            #expect(run.talk.contains("user.max_user_namespaces is 0"))
            // It went by the variables.
            let connections = try await run.capture.connections()
            #expect(connections.map(\.mode) == ["explicit"])
        }
    }
}

/// How a command ended.
struct Ended: Sendable, CustomTestStringConvertible {
    let name: String
    let script: String
    let words: String
    let code: Int32

    var testDescription: String { name }
}

/// The document of `run --json`.
private struct RunDocument: Decodable {
    let confinement: Confinement

    struct Confinement: Decodable {
        let leakProof: Bool
        let tried: [String]
    }

    init?(in errors: Data) throws {
        let line = errors.split(separator: UInt8(ascii: "\n")).first {
            $0.starts(with: Data(#"{"schema":"sallyport.run/1""#.utf8))
        }
        guard let line else { return nil }
        self = try JSONDecoder().decode(Self.self, from: line)
    }
}
