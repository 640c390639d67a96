import Foundation
import Testing

extension RealClientTests {
    /// Streams, recorded once and then played from the capture, with their origins gone.
    struct ReplayStreamTests {
        @Test(.needs(.curl, .python)) func answersEventByEvent() async throws {
            let folder = try Folder()
            let pause = 0.15
            let origin = try Program(.python, [Peer.server("events.py"), "\(pause)"], in: folder)
            let url = "http://127.0.0.1:\(try await origin.ready(as: UInt16.self))/events"
            let proxy = try await ProxyProcess(
                trusting: try await TestAuthority(in: folder), reverse: nil, in: folder)
            let recorded = try await Self.listen(url, proxy.url, folder)
            let events = (0..<3).map { "id: \($0)\ndata: event \($0)\n\n" }.joined()
            #expect(recorded.text == events)
            try await proxy.end()
            origin.send(SIGKILL)
            _ = try await origin.end()

            let soon = try await ReplayProcess(proxy.capture, in: folder)
            #expect(try await Self.listen(url, soon.url, folder).text == recorded.text)
            #expect(try await soon.end().isEmpty)

            let timed = try await ReplayProcess(proxy.capture, in: folder, ["--timing", "1"])
            let again = try await Self.listen(url, timed.url, folder)
            #expect(again.text == recorded.text)
            #expect(again.seconds >= 2 * pause)
            #expect(try await timed.end().isEmpty)

            // The second event is a quarter of a minute away; the first one does not wait for it.
            let slow = try await ReplayProcess(proxy.capture, in: folder, ["--timing", "100"])
            try await Self.expectOnlyTheFirstEvent(of: url, slow)
            // Its client has gone in the pause: it ends in order all the same.
            #expect(try await slow.end().isEmpty)
        }

        private static func expectOnlyTheFirstEvent(
            of url: String, _ slow: ReplayProcess
        ) async throws {
            let connection = try RawConnection(port: try slow.port)
            try await connection.send("GET \(url) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            _ = try await connection.receiveHead()
            var said = ""
            while !said.contains("event 0\n\n") {
                said += String(decoding: try await connection.receive(), as: UTF8.self)
            }
            #expect(!said.contains("event 1"))
        }

        /// - Returns: the events that curl got, and how long that took.
        private static func listen(
            _ url: String, _ proxy: String, _ folder: Folder
        ) async throws -> (text: String, seconds: Double) {
            let client = try Program(
                .curl,
                [
                    "--no-buffer", "--silent", "--show-error", "--max-time", "20",
                    "--proxy", proxy, "--write-out", "%{stderr}%{time_total}", url,
                ], in: folder)
            #expect(try await client.end() == 0, "\(client.story)")
            let time = String(decoding: client.errors, as: UTF8.self)
            return (String(decoding: client.output, as: UTF8.self), Double(time) ?? 0)
        }

        /// Each with its switch to TLS.
        @Test(.needs(.python, .curl), arguments: ["smtp", "imap", "pop3"])
        func answersMailClients(_ scheme: String) async throws {
            let folder = try Folder()
            let proxy: ProxyProcess
            let mode: String
            let recorded: Data
            do {
                let server = try await MailServer()
                let target = "tcp://\(server.address(scheme))"
                mode = "reverse:\(target)"
                proxy = try await ProxyProcess(
                    trusting: server.authority, reverse: target, in: folder)
                recorded = try await Self.mail(
                    scheme, proxy.address, proxy.authorityPath, folder)
                try await proxy.end()
                let connection = try await proxy.capture.dialogue(scheme)
                #expect(connection.upgrade == (scheme == "pop3" ? "STLS" : "STARTTLS"))
            }
            let replay = try await ReplayProcess(proxy.capture, in: folder, ["--mode", mode])
            let again = try await Self.mail(scheme, replay.address, replay.authorityPath, folder)
            #expect(again == recorded)
            #expect(scheme == "smtp" || !again.isEmpty)
            #expect(try await replay.end().isEmpty)
        }

        /// - Returns: what the client said of what it got.
        private static func mail(
            _ scheme: String, _ address: String, _ authority: String, _ folder: Folder
        ) async throws -> Data {
            let port = address.split(separator: ":").last.map(String.init) ?? ""
            if scheme == "smtp" {
                return try await Program.run(
                    .python,
                    [
                        Peer.script("with-smtplib.py"), port, authority, Login.user,
                        Login.password,
                    ], in: folder)
            }
            return try await Program.run(
                .curl,
                [
                    "-sS", "--max-time", "20", "--ssl-reqd", "--cacert", authority, "-u",
                    "\(Login.user):\(Login.password)", "\(scheme)://localhost:\(port)/",
                ], in: folder)
        }

        /// What is neither HTTP nor mail is a script of bytes.
        @Test(.needs(.redis, .redisClient, .curl)) func answersRedis() async throws {
            let folder = try Folder()
            let (server, port) = try await Self.startRedis(in: folder)
            let target = "tcp://127.0.0.1:\(port)"
            let proxy = try await ProxyProcess(
                trusting: try await TestAuthority(in: folder), reverse: target, in: folder)
            let recorded = try await Self.askRedis(proxy.address, folder)
            #expect(recorded == ["OK", "it's \"a\"", "2"])
            try await proxy.end()
            server.send(SIGKILL)
            _ = try await server.end()
            let replay = try await ReplayProcess(
                proxy.capture, in: folder, ["--mode", "reverse:\(target)"])
            #expect(try await Self.askRedis(replay.address, folder) == recorded)
            #expect(try await replay.end().isEmpty)

            let strange = try await ReplayProcess(proxy.capture, in: folder)
            let connection = try RawConnection(port: try strange.port)
            try await connection.send("CONNECT data.example:6379 HTTP/1.0\r\n\r\n")
            _ = try await connection.receiveHead()
            try await connection.send("*1\r\n$4\r\nPING\r\n")
            #expect(try await connection.receiveAll().isEmpty)
            let misses = try await strange.end()
            #expect(misses.map(\.reason) == ["no-dialogue"])
            #expect(misses.map(\.url) == ["tcp://data.example:6379"])

            // Whoever does not trust the CA has not been served.
            let distrusted = try await ReplayProcess(proxy.capture, in: folder)
            let client = try Program(
                .curl, ["-sS", "-x", distrusted.url, "https://web.example/"], in: folder)
            #expect(try await client.end() == 60)
            try await distrusted.end(code: 3)
        }

        /// It cannot choose a port itself: one that was free may be taken by the time it asks.
        private static func startRedis(in folder: Folder) async throws -> (Program, UInt16) {
            for _ in 0..<5 {
                let port = try ListeningSocket().port
                let server = try Program(
                    .redis, ["--port", "\(port)", "--bind", "127.0.0.1", "--save", ""],
                    in: folder)
                let listens = try await eventually("a server that listens or ends") {
                    try ListeningSocket.port(of: server.processID) == port
                        ? true : server.isRunning ? nil : false
                }
                if listens { return (server, port) }
            }
            throw Trouble("no port was free for redis")
        }

        private static func askRedis(
            _ address: String, _ folder: Folder
        ) async throws -> [String] {
            let port = address.split(separator: ":").last.map(String.init) ?? ""
            let file = try folder.write("commands", "SET k \"it's \\\"a\\\"\"\nGET k\nINCRBY n 2\n")
            let said = try await Program.run(
                .redisClient, ["-h", "127.0.0.1", "-p", port, "--raw"], in: folder,
                input: try FileHandle(forReadingFrom: URL(fileURLWithPath: file)))
            return String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }
}
