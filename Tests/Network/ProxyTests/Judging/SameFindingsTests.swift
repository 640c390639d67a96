import Base
import LoginRows
import Sockets
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What is judged as it was recorded, from its file, and after an export and an import.
    @Suite struct SameFindings {
        /// A way to the origin of a dialogue.
        enum Way: String, CaseIterable { case reverse, tunnel, socks }

        struct Row: Sendable, CustomTestStringConvertible {
            let name: String
            let said: [Said]
            var hasLogin = true
            var testDescription: String { name }

            static let all =
                LoginVector.all.map { Row(name: $0.name, said: $0.said) }
                + LoginRow.logins.map {
                    Row(name: $0.name, said: $0.said, hasLogin: !$0.logins.isEmpty)
                }
        }

        @Test(arguments: Row.all, Way.allCases)
        func ofDialogues(_ row: Row, _ way: Way) async throws {
            let script = DialogueScript(row.name, "", nil, row.said.map(DialogueScript.Step.init))
            let origin = try ScriptedOrigin { wire, _ in try script.playOrigin(wire) }
            let target = ProxyPlan.ReverseTarget(.tcp, host: "localhost", port: origin.port)
            let traffic = TrafficCollector()
            try withProxy(
                traffic: traffic, way == .reverse ? .mode(.reverse(target)) : .none
            ) { proxy in
                proxy.adopt(origin)
                switch way {
                case .reverse: try script.playClient(proxy.connect())
                case .tunnel: try script.playClient(proxy.tunnel(to: "localhost:\(origin.port)"))
                case .socks:
                    let client = try proxy.connect()
                    try client.tunnelBySOCKS(to: .name("localhost"), origin.port)
                    try script.playClient(client)
                }
            }
            try await Self.expectSame(
                traffic, finding: row.hasLogin ? ["PLAIN-LOGIN", "HASH-LOGIN"] : [])
        }

        /// A request in cleartext, and what is found of it.
        struct Request: Sendable, CustomTestStringConvertible {
            let rule: String
            var line = "GET /"
            var fields: [String] = []
            var body = ""
            /// What both say when HTTP is left.
            var frames: [UInt8] = []
            var response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            var testDescription: String { rule + (frames.isEmpty ? "" : " in a WebSocket") }

            private static let token = Base64.encode(Array("nora:tr0ub4dor&3x".utf8))
            private static let ntlm = Base64.encode(
                Array("NTLMSSP\0".utf8) + [3, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0]
                    + [20, 0, 20, 0, 64, 0, 0, 0] + [UInt8](repeating: 0, count: 36)
                    + Array("AAAAAAAABBBBBBBBCCCC".utf8))

            static let all = [
                Request(rule: "PLAIN-HTTP-BASIC", fields: ["Authorization: Basic \(token)"]),
                Request(rule: "HASH-HTTP-NTLM", fields: ["Authorization: NTLM \(ntlm)"]),
                Request(
                    rule: "HASH-HTTP-DIGEST",
                    fields: ["Authorization: Digest response=\"0f1e2d3c4b5a6978\""]),
                Request(
                    rule: "PLAIN-HTTP-FORM", line: "POST /login",
                    fields: ["Content-Type: application/x-www-form-urlencoded"],
                    body: "user=nora&password=tr0ub4dor-3x"),
                Request(rule: "PLAIN-HTTP-COOKIE", fields: ["Cookie: sid=Zk3vQ9xW2pLr7Ty1"]),
                Request(rule: "URL-PASSWORD", line: "GET /?password=tr0ub4dor-3x"),
                Request(
                    rule: "PLAIN-HTTP-FORM", line: "GET /chat",
                    fields: [
                        "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                    ],
                    frames: WebSockets.frame(
                        1, Array(#"{"type":"login","user":"nora","password":"tr0ub4dor-3x"}"#.utf8))
                        + WebSockets.frame(8, [3, 0xE8]),
                    response: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                        + "Upgrade: websocket\r\n"
                        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"),
            ]

            func text(_ way: RelayCase.Way, to authority: String) -> String {
                let parts = line.split(separator: " ")
                let prefix = way == .absolute ? "http://\(authority)" : ""
                // The client of a reverse proxy may take that for its origin.
                let host = way == .reverse ? "proxy.test" : authority
                let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
                let lines =
                    ["\(parts[0]) \(prefix)\(parts[1]) HTTP/1.1", "Host: \(host)"] + fields
                    + length
                return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
            }
        }

        @Test(arguments: Request.all, RelayCase.Way.allCases)
        func ofExchanges(_ row: Request, _ way: RelayCase.Way) async throws {
            let traffic = TrafficCollector()
            let origin = try ScriptedOrigin { wire, _ in
                _ = try wire.readRequest()
                try wire.send(row.response)
                try wire.expect(row.frames)
                _ = try wire.readToEnd()
            }
            let target = ProxyPlan.ReverseTarget(.http, host: "localhost", port: origin.port)
            let led = way == .transparent ? try LedPort() : nil
            let change = PlanChange { plan in
                if way == .reverse { plan.wiring.ports[0].mode = .reverse(target) }
                led?.lead(&plan, to: origin.address)
            }
            try withProxy(traffic: traffic, change) { proxy in
                proxy.adopt(origin)
                let authority = "localhost:\(led?.address.port ?? origin.port)"
                let wire =
                    try led.map { try Wire.connect(to: $0.address) }
                    ?? (way == .connect ? proxy.tunnel(to: authority) : proxy.connect())
                if way == .socks { try wire.tunnelBySOCKS(to: .name("localhost"), origin.port) }
                try wire.send(row.text(way, to: authority))
                _ = try wire.readResponse()
                try wire.send(row.frames)
                try wire.finish()
                _ = try wire.readToEnd()
            }
            try await Self.expectSame(traffic, finding: [row.rule])
        }

        /// Inside of TLS, in HTTP/2: what is asked, and a call of gRPC.
        @Test func ofStreams() async throws {
            let traffic = TrafficCollector()
            try withProxy(traffic: traffic) { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    while let (stream, _) = try peer.nextRequest() {
                        try peer.wait("the content") { $0.streams[stream]?.hasEnded == true }
                        try peer.respond(stream)
                    }
                }
                let client = try proxy.http2Client(to: origin)
                let asked = try client.get(
                    "/a?access_token=kW8vQ2rT5yU1iO4pA7sD", authority: origin.authority)
                #expect(asked.status == 200)
                let call = try client.request(
                    "POST /shop.Users/Add HTTP/1.1|Content-Type: application/grpc|TE: trailers",
                    authority: origin.authority, endsStream: false)
                let mail = Array("nora.quist@corp.tld".utf8)
                let message = [0x0A, UInt8(mail.count)] + mail
                try client.send([0, 0, 0, 0, UInt8(message.count)] + message, on: call)
                _ = try client.response(call)
                client.wire.close()
                _ = try traffic.connection()
            }
            try await Self.expectSame(traffic, finding: ["URL-TOKEN"])
            try await Self.expectSame(traffic, finding: ["PII-EMAIL"])
        }

        /// Passwords that the proxy itself is given.
        @Test(arguments: ["PLAIN-LOGIN", "PLAIN-HTTP-PROXY"])
        func ofLoginsAtTheProxy(_ rule: String) async throws {
            let traffic = TrafficCollector()
            // What is the proxy's own password is no finding in SOCKS.
            let isSOCKS = rule == "PLAIN-LOGIN"
            let change = isSOCKS ? PlanChange.none : .logins(("jane", "s3cret-77"))
            try withProxy(traffic: traffic, change) { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readRequest()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    _ = try wire.readToEnd()
                }
                let client = try proxy.connect()
                if isSOCKS {
                    try client.send([5, 1, 2])
                    try client.expect([5, 2])
                    try client.send(SOCKS.login("jane", "s3cret-77"))
                    try client.expect([1, 0])
                    try client.send(SOCKS.request5(SOCKS.loopback, origin.port))
                    #expect(try client.readReply5() == 0)
                    try client.send("GET / HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
                } else {
                    let login = Base64.encode(Array("jane:s3cret-77".utf8))
                    try client.send(
                        "GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n"
                            + "Proxy-Authorization: Basic \(login)\r\n\r\n")
                }
                #expect(try client.readResponse().status == 200)
                try client.finish()
                _ = try client.readToEnd()
            }
            try await Self.expectSame(traffic, finding: [rule])
        }

        /// - Parameter rules: one of which has to be found; none if there are none.
        private static func expectSame(
            _ traffic: TrafficCollector, finding rules: [String]
        ) async throws {
            let live = CollectedTraffic(content: traffic.content)
            let found = try live.judged()
            let wanted = rules.isEmpty ? ["PLAIN-", "HASH-"] : rules
            let isFound = found.contains { line in wanted.contains { line.hasPrefix($0) } }
            #expect(isFound == !rules.isEmpty, "\(found)")
            let recorded = try live.inFile { try $0.judged() }
            #expect(recorded == found)
            let imported = try await live.throughPackets().judged()
            #expect(imported == found)
        }
    }
}

extension DialogueScript.Step {
    fileprivate init(_ said: Said) {
        self = said.direction == .request ? .client(said.bytes) : .origin(said.bytes)
    }
}
