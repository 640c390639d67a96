import Foundation
import Testing

extension RealClientTests {
    /// What dumpcap catches between a client and a server that are not ours, as an import has it.
    struct PacketImportTests {
        @Test(
            .needs(.curl, .dumpcap, .nghttpd),
            .enabled(if: geteuid() == 0 || Peer.isRequired, "only root can catch packets"),
            arguments: zip([OriginServer.nginxHTTP2TLS, .nghttpdTLS], ["1.2", "1.3"]))
        func readsHTTP2(_ server: OriginServer, tls version: String) async throws {
            let contents = try await TestContents()
            let origin = try await RunningOrigin(server, contents)
            let folder = try Folder()
            let packets = try await CaughtPackets(of: origin.port, in: folder)
            let curl = [
                "--silent", "--show-error", "--fail", "--http2", "--tls-max", version,
                "--cacert", contents.authority.certificatePath,
            ]
            let keys = ["SSLKEYLOGFILE": folder.path("keys.log")]
            // On one connection, one after the other and side by side.
            for mode in [[], ["--parallel"]] {
                let outputs = TestContents.names.flatMap {
                    ["--output", folder.path($0), "\(origin.url)/\($0)"]
                }
                try await Program.run(.curl, curl + mode + outputs, in: folder, variables: keys)
            }
            try await Program.run(
                .curl,
                curl + ["--output", folder.path("answer"), "--upload-file"]
                    + [contents.path(of: "large.bin"), "\(origin.url)/upload/large.bin"],
                in: folder, variables: keys)
            try await packets.end()

            let imported = try await Self.imported(packets, in: folder)
            let flows = try await imported.flows()
            #expect(flows.count == 2 * TestContents.names.count + 1)
            #expect(flows.allSatisfy { $0.error == nil && ($0.status ?? 0) / 100 == 2 }, "\(flows)")
            for flow in flows {
                let name = flow.url.split(separator: "/").last.map(String.init) ?? ""
                let part = flow.method == "PUT" ? "request-body" : "response-body"
                let content = try await imported.show(flow.id, part)
                let path = try folder.write("recorded/\(flow.id)", content)
                #expect(contents.isEqual(name, to: path), "\(flow)")
                let head = try await imported.show(flow.id, "request-head")
                let line = "\(flow.method ?? "") /\(flow.method == "PUT" ? "upload/" : "")\(name) "
                #expect(String(decoding: head, as: UTF8.self).hasPrefix("\(line)HTTP/2.0\r\n"))
            }
            let spoken = try await imported.connections().filter { $0.exchanges > 0 }
            #expect(spoken.map(\.protocol) == [String?](repeating: "h2", count: spoken.count))
            #expect(spoken.allSatisfy { $0.tlsVersion == "TLSv\(version)" }, "\(spoken)")
        }

        /// A client of the proxy, and the messages that both it and an import of the packets of
        /// its connection have to have.
        struct Talk: Sendable, CustomTestStringConvertible {
            let way: HTTP2ApplicationTests.Way
            let origin: String
            let client: String
            var testDescription: String { "\(client), \(way.rawValue)" }

            static let all = [
                // gRPC writes no key log.
                Talk(way: .reverse, origin: "grpc-origin.py", client: "grpc-client.py"),
                Talk(
                    way: .reverseFromTLS, origin: "websocket-origin.py",
                    client: "websocket-client.py"),
            ]
        }

        @Test(
            .needs(.python, .dumpcap, .sqlite),
            .enabled(if: geteuid() == 0 || Peer.isRequired, "only root can catch packets"),
            arguments: Talk.all)
        func tellsMessagesAsTheProxyDoes(_ talk: Talk) async throws {
            let isCall = talk.client.hasPrefix("grpc")
            let setting = try await HTTP2ApplicationTests.Setting(
                talk.way, talk.origin, version: isCall ? "2" : "auto")
            let folder = setting.folder
            let number = setting.target.split(separator: ":").last
            let port = try #require(number.flatMap { UInt16($0) })
            let packets = try await CaughtPackets(of: port, in: folder)
            let authority = setting.proxy.authorityPath
            try await Program.run(
                .python,
                [Peer.script(talk.client)]
                    + (isCall
                        ? [setting.target, ""] : ["wss://\(setting.target)", "", authority]),
                in: folder, variables: ["SSLKEYLOGFILE": folder.path("keys.log")])
            try await packets.end()
            try await setting.proxy.end()
            if isCall { try folder.write("keys.log", Data()) }

            let imported = try await Self.imported(packets, in: folder)
            let statement = """
                SELECT exchange, direction, kind, part, size, offset, is_last, truncated, detail,
                hex(bytes), (SELECT hex(hash) FROM chunk WHERE chunk.id = message.chunk) FROM message WHERE exchange IS NOT NULL
                ORDER BY exchange, direction, number, part
                """
            let said = try await setting.proxy.capture.query(statement)
            #expect(said.split(separator: "\n").count > 20)
            #expect(try await imported.query(statement) == said)
        }

        /// The summary of an import.
        private struct Summary: Decodable {
            struct Loss: Decodable, Equatable {
                let code: String
                let example: String
            }

            let losses: [Loss]
        }

        private static func imported(
            _ packets: CaughtPackets, in folder: Folder
        ) async throws -> Capture {
            let capture = Capture(path: folder.path("imported.sallyport"), folder: folder)
            let output = try await Program.run(
                .sallyport,
                [
                    "import", packets.path, "--key-log", folder.path("keys.log"), "--capture",
                    capture.path, "--json",
                ], in: folder)
            let summary = try JSONDecoder().decode(Summary.self, from: output)
            #expect(summary.losses == [])
            return capture
        }
    }
}

/// The packets of a port of the loopback interface, as dumpcap catches them.
final class CaughtPackets: Sendable {
    let path: String
    private let port: UInt16
    private let program: Program

    /// Returns once packets are caught.
    init(of port: UInt16, in folder: Folder) async throws {
        let path = folder.path("caught.pcapng")
        let program = try Program(
            .dumpcap, ["-i", "lo", "-B", "256", "-f", "tcp port \(port)", "-w", path], in: folder)
        try await eventually("dumpcap to begin") {
            if !program.isRunning { throw Trouble("ended: \(program.story)") }
            return program.errors.range(of: Data("File: ".utf8)).map { _ in }
        }
        self.path = path
        self.port = port
        self.program = program
    }

    /// Ends once all that came so far is in the file.
    func end() async throws {
        let last = Data("the last packet \(UUID())\n".utf8)
        let connection = try RawConnection(port: port)
        try await connection.send(last)
        try await eventually("the last packet") {
            let file = FileManager.default.contents(atPath: path) ?? Data()
            return file.suffix(100_000).range(of: last).map { _ in }
        }
        program.send(SIGTERM)
        let code = try await program.end()
        #expect(code == 0, "\(program.story)")
    }
}
