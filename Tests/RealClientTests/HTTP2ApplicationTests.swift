import Foundation
import Testing

extension RealClientTests {
    /// What is spoken over HTTP: gRPC, which needs HTTP/2 and trailers, and WebSocket.
    struct HTTP2ApplicationTests {
        /// An origin that says its ports.
        private struct Ports: Decodable {
            let plain: UInt16
            let secure: UInt16
        }

        /// How a client comes to the origin.
        enum Way: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case connect = "tunnel without TLS"
            case connectWithTLS = "tunnel with TLS"
            case reverse = "reverse without TLS"
            case reverseWithTLS = "reverse with TLS on both legs"
            case reverseFromTLS = "reverse with TLS on the client's leg"

            var testDescription: String { rawValue }
            var isReverse: Bool { self != .connect && self != .connectWithTLS }
            var isSecure: Bool { self != .connect && self != .reverse }
            var isOriginSecure: Bool { self == .connectWithTLS || self == .reverseWithTLS }
        }

        @Test(.needs(.python, .sqlite), arguments: Way.allCases)
        func grpc(_ way: Way) async throws {
            let setting = try await Setting(way, "grpc-origin.py", version: "2")
            try await Program.run(
                .python,
                [
                    Peer.script("grpc-client.py"), setting.target,
                    way.isSecure ? setting.proxy.authorityPath : "",
                ], in: setting.folder,
                variables: way.isReverse ? [:] : ["grpc_proxy": setting.proxy.url])
            try await setting.proxy.end()
            // Four sizes, three kinds of streaming, and a status: gRPC says it in trailers.
            let calls = try await setting.proxy.capture.query(
                """
                SELECT count(*) FROM exchange WHERE error IS NULL AND status = 200
                AND protocol = 'HTTP/2' AND target LIKE '/test.Echo/%'
                AND (CAST(response_trailers AS TEXT) LIKE '%grpc-status: %'
                    OR CAST(response_head AS TEXT) LIKE '%grpc-status: 9%')
                """)
            #expect(calls == "8")
        }

        @Test(.needs(.python, .sqlite), arguments: Way.allCases)
        func webSocket(_ way: Way) async throws {
            let setting = try await Setting(way, "websocket-origin.py", version: "auto")
            try await Program.run(
                .python,
                [
                    Peer.script("websocket-client.py"),
                    "\(way.isSecure ? "wss" : "ws")://\(setting.target)",
                    way.isReverse ? "" : setting.proxy.url, setting.proxy.authorityPath,
                ], in: setting.folder)
            try await setting.proxy.end()
            let upgraded = try await setting.proxy.capture.query(
                "SELECT count(*) FROM exchange WHERE error IS NULL AND status = 101")
            #expect(upgraded == "1")
            // What was said, by kind: the contents of the messages, without their compression.
            let said = try await setting.proxy.capture.query(
                """
                SELECT direction, kind, sum(size) FROM message
                WHERE kind IN ('binary', 'text') GROUP BY direction, kind ORDER BY 1, 2
                """)
            #expect(
                said.split(separator: "\n") == [
                    "request|binary|10100252", "request|text|20", "response|binary|10100252",
                    "response|text|20",
                ])
        }

        /// An origin, the proxy, and what a client asks for.
        struct Setting {
            let folder: Folder
            let origin: Program
            let proxy: ProxyProcess
            let authority: TestAuthority
            let originURL: String
            /// Host and port.
            let target: String

            func stopOrigin() async throws {
                origin.send(SIGKILL)
                _ = try await origin.end()
            }

            init(_ way: Way, _ script: String, version: String) async throws {
                folder = try Folder()
                authority = try await TestAuthority(in: folder)
                origin = try Program(
                    .python, [Peer.script(script), authority.leafPath, authority.leafKeyPath],
                    in: folder)
                let ports = try await origin.ready(as: Ports.self)
                let port = way.isOriginSecure ? ports.secure : ports.plain
                originURL = "\(way.isOriginSecure ? "https" : "http")://localhost:\(port)"
                proxy = try await ProxyProcess(
                    trusting: authority, reverse: way.isReverse ? originURL : nil, in: folder,
                    ["--origin-http", version])
                let asked = way.isReverse ? proxy.address.split(separator: ":").last : "\(port)"
                target = "localhost:\(asked ?? "")"
            }
        }
    }
}
