import Foundation
import Testing

extension RealClientTests {
    /// `sallyport replay client` with sessions that need more than HTTP/1.
    struct ReplayClientProtocolTests {
        typealias Way = HTTP2ApplicationTests.Way

        @Test(.needs(.python, .sqlite), arguments: [Way.reverse, .connectWithTLS])
        func callsAgain(_ way: Way) async throws {
            let setting = try await HTTP2ApplicationTests.Setting(
                way, "grpc-origin.py", version: "2")
            try await Program.run(
                .python,
                [
                    Peer.script("grpc-client.py"), setting.target,
                    way.isSecure ? setting.proxy.authorityPath : "",
                ], in: setting.folder,
                variables: way.isReverse ? [:] : ["grpc_proxy": setting.proxy.url])
            try await setting.proxy.end()
            let live = try await setting.replay()
            let calls = """
                SELECT target, status, protocol, CAST(request_head AS TEXT) LIKE '%te: trailers%',
                    request_size, response_size, CAST(response_trailers AS TEXT)
                FROM exchange WHERE error IS NULL ORDER BY id
                """
            let recorded = try await setting.proxy.capture.query(calls)
            #expect(try await live.query(calls) == recorded)
            #expect(recorded.contains("/test.Echo/Unary|200|HTTP/2|1|10000005|10000005"))
            // All went over one connection, each on a stream of its own.
            let connections = try await live.connections()
            #expect(connections.map(\.exchanges) == [8])
            #expect(connections.map(\.protocol) == [way.isOriginSecure ? "h2" : "h2c"])
            let streams = try await live.query("SELECT count(DISTINCT stream) FROM exchange")
            #expect(streams == "8")
        }

        /// A proxy in between tells in which order the messages passed.
        @Test(.needs(.python, .sqlite)) func callsTurnByTurn() async throws {
            let setting = try await HTTP2ApplicationTests.Setting(
                .reverse, "grpc-origin.py", version: "2")
            try await Program.run(
                .python, [Peer.script("grpc-client.py"), setting.target, ""], in: setting.folder)
            try await setting.proxy.end()
            let between = try await setting.between(version: "2")
            let live = try await setting.replay(to: between)
            try await between.end()
            let turns = """
                SELECT group_concat(direction, ' ') FROM (SELECT direction FROM message
                WHERE kind = 'grpc' AND exchange = (SELECT id FROM exchange
                    WHERE target = '/test.Echo/Converse') ORDER BY number)
                """
            let recorded = try await setting.proxy.capture.query(turns)
            #expect(try await between.capture.query(turns) == recorded)
            #expect(try await live.query(turns) == recorded)
            #expect(
                recorded
                    == Array(repeating: "request response", count: 59).joined(separator: " "))
        }

        /// A proxy in front of an origin of HTTP/1.1 takes WebSockets over HTTP/2 (RFC 8441).
        @Test(.needs(.python, .sqlite)) func conversesOverHTTP2() async throws {
            let setting = try await HTTP2ApplicationTests.Setting(
                .reverse, "websocket-origin.py", version: "auto")
            try await Program.run(
                .python,
                [Peer.script("websocket-client.py"), "ws://\(setting.target)", "", ""],
                in: setting.folder)
            try await setting.proxy.end()
            let between = try await setting.between(version: "auto")
            let live = try await setting.replay(
                to: between, isSecure: true, ["--http", "2", "--ca", between.authorityPath])
            try await between.end()
            #expect(try await live.query(Self.packed) == "1")
            let way = "SELECT status, protocol, stream FROM exchange"
            #expect(try await live.query(way) == "200|HTTP/2|1")
            let said = """
                SELECT direction, kind, sum(size) FROM message
                WHERE kind IN ('binary', 'text') GROUP BY direction, kind ORDER BY 1, 2
                """
            let recorded = try await setting.proxy.capture.query(said)
            #expect(try await live.query(said) == recorded)
            #expect(try await between.capture.query(said) == recorded)
            #expect(recorded.contains("request|binary|10100252"))
            // The origin itself has no HTTP/2.
            let refused = try await setting.replay(ending: 3, ["--http", "2"])
            #expect(try await refused.query("SELECT error FROM exchange") == "origin-protocol")
        }

        /// Whether compression was agreed on.
        private static let packed = """
            SELECT CAST(response_head AS TEXT) LIKE '%permessage-deflate%' FROM exchange
            """

        @Test(.needs(.python, .sqlite), arguments: [Way.reverse, .connectWithTLS])
        func conversesAgain(_ way: Way) async throws {
            let setting = try await HTTP2ApplicationTests.Setting(
                way, "websocket-origin.py", version: "auto")
            try await Program.run(
                .python,
                [
                    Peer.script("websocket-client.py"),
                    "\(way.isSecure ? "wss" : "ws")://\(setting.target)",
                    way.isReverse ? "" : setting.proxy.url, setting.proxy.authorityPath,
                ], in: setting.folder)
            try await setting.proxy.end()
            let live = try await setting.replay()
            // The pongs are left out: each side sends them when it likes.
            let said = """
                SELECT direction, kind, number, sum(size), detail FROM message
                WHERE kind IN ('binary', 'text', 'close') GROUP BY direction, number
                ORDER BY direction, number
                """
            let recorded = try await setting.proxy.capture.query(said)
            let lines = { (text: String) in
                text.split(separator: "\n").map { line in
                    line.split(separator: "|").enumerated().filter { $0.offset != 2 }.map(\.element)
                }
            }
            #expect(try await lines(live.query(said)) == lines(recorded))
            #expect(lines(recorded).count == 18)
            #expect(try await live.query("SELECT status FROM exchange") == "101")
            // The library's server packs what it says, and so did the client.
            #expect(try await live.query(Self.packed) == "1")
        }
    }
}

extension RealClientTests.HTTP2ApplicationTests.Setting {
    /// Another proxy in front of the origin.
    fileprivate func between(version: String) async throws -> ProxyProcess {
        try await ProxyProcess(
            trusting: authority, reverse: originURL, in: try Folder(), ["--origin-http", version])
    }

    /// Sends what the proxy has recorded again, and expects it to be the same.
    ///
    /// - Parameter between: where it goes; `nil` for the origin.
    fileprivate func replay(
        to between: ProxyProcess? = nil, isSecure: Bool = false, ending expected: Int32 = 0,
        _ options: [String] = []
    ) async throws -> Capture {
        let name = "live-\(between == nil ? "origin" : "between").sallyport"
        let live = Capture(path: folder.path(name), folder: folder)
        let port = between?.address.split(separator: ":").last
        let url = port.map { "http\(isSecure ? "s" : "")://localhost:\($0)" } ?? originURL
        let program = try Program(
            .sallyport,
            [
                "replay", "client", proxy.capture.path, "--to", url, "--ca",
                authority.certificatePath, "--capture", live.path, "--json",
            ] + options, in: folder)
        let code = try await program.end()
        #expect(code == expected, "\(program.story)")
        return live
    }
}
