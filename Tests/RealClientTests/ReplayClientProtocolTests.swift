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
        }
    }
}

extension RealClientTests.HTTP2ApplicationTests.Setting {
    /// Sends what the proxy has recorded to the origin again, and expects it to be the same.
    fileprivate func replay(_ options: [String] = []) async throws -> Capture {
        let live = Capture(path: folder.path("live.sallyport"), folder: folder)
        let program = try Program(
            .sallyport,
            [
                "replay", "client", proxy.capture.path, "--to", originURL, "--ca",
                authority.certificatePath, "--capture", live.path, "--json",
            ] + options, in: folder)
        let code = try await program.end(within: .seconds(60))
        #expect(code == 0, "\(program.story)")
        return live
    }
}
