import Base
import Sockets
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// The ways in, and where they lead.
    @Suite struct WaysIn {
        @Test(arguments: Way.allCases)
        func requestReachesItsOrigin(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let request = try wire.readRequest()
                    try check(request.startLine == "GET /path?q=1 HTTP/1.1", request.startLine)
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                let response = try client.get(
                    way.target("/path?q=1", origin), host: origin.authority)
                #expect(response.body.text == "hello")
                try client.finish()
                try client.expectEnd()
                #expect(client.end == .inOrder)
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.status == 200)
                #expect(exchange.scheme == (way.isSecure ? .https : .http))
                #expect(exchange.authority == origin.authority)
                #expect(exchange.error == nil)
                #expect(!exchange.answeredByTool)
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .completed)
                #expect(connection.closedBy == .client)
                #expect(connection.originHost == "127.0.0.1")
                #expect(connection.originPort == origin.port)
                #expect(connection.originAddress == origin.authority)
                #expect(connection.protocolName == "http/1.1")
                #expect(connection.exchangeCount == 1)
            }
        }

        /// Of a connection that lasts some are told before its end, and not again.
        @Test(arguments: [false, true]) func bothLegsAreDescribed(isLong: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.secureTunnel(to: origin)
                _ = try client.get("/")
                if isLong {
                    try proxy.traffic.wait(for: "news of the connection") { content in
                        content.connections[1]?.isEmpty == false ? () : nil
                    }
                }
                try client.finish()
                let connection = try proxy.traffic.connection()
                let ours = try #require(connection.clientTLS)
                #expect(ours.sni == "localhost")
                #expect(ours.version == "TLSv1.3")
                #expect(ours.alpn == "http/1.1")
                #expect(ours.handshakeCompleted)
                #expect(ours.ja4?.hasPrefix("t13d") == true)
                #expect(ours.ja3?.count == 32)
                #expect(ours.clientHello.first == 1)
                #expect(ours.keyLog.contains { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") })
                let theirs = try #require(connection.originTLS)
                #expect(theirs.sni == "localhost")
                #expect(theirs.version == "TLSv1.3")
                #expect(theirs.chain.first?.isEmpty == false)
                #expect(theirs.verifyError == nil)
                #expect(theirs.keyLog.contains { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") })
                #expect(connection.clientBytes.received > 500)
                #expect(connection.clientBytes.sent > 500)
                #expect(connection.originBytes.received > 500)
                #expect(connection.originBytes.sent > 300)
            }
        }

        @Test(arguments: [true, false])
        func reverseModeHasOneOrigin(isSecure: Bool) throws {
            let origin = try ScriptedOrigin(isSecure ? .tls : .plain) { wire, _ in
                let request = try wire.readRequest()
                try check(request.field("host")?.hasPrefix("localhost:") == true, request.head)
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                try wire.expectEnd()
            }
            let target = ProxyPlan.ReverseTarget(
                isSecure ? .https : .http, host: "localhost", port: origin.port)
            try withProxy(.mode(.reverse(target))) { proxy in
                proxy.adopt(origin)
                let client = try proxy.connect()
                if isSecure {
                    try client.secure(ProxyUnderTest.clientSession(for: "front.example"))
                }
                #expect(try client.get("/", host: "front.example").body.text == "hello")
                #expect(client.session?.verifyError == nil)
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.mode == .reverse)
                #expect(connection.outcome == .completed)
                #expect(connection.clientTLS?.sni == (isSecure ? "front.example" : nil))
                #expect(connection.originTLS?.sni == (isSecure ? "localhost" : nil))
            }
        }

        @Test func secureURLInAbsoluteForm() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.connect()
                let target = "https://localhost:\(origin.port)/"
                #expect(try client.get(target).body.text == "hello")
                #expect(try client.get(target).body.text == "hello")
                let exchange = try proxy.traffic.exchange(1)
                #expect(exchange.scheme == .https)
                #expect(origin.acceptedCount == 1)
            }
        }

        @Test func addressesOfVersion6() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(on: "::1")
                let client = try proxy.connect()
                #expect(try client.get("http://[::1]:\(origin.port)/").status == 200)
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.authority == "[::1]:\(origin.port)")
                let secure = try proxy.origin(.tls(name: "::1"), on: "::1") { wire, _ in
                    let head = try wire.readHead()
                    try check(head.contains("Host: [::1]"), head)
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    try wire.expectEnd()
                }
                let tunnel = try proxy.tunnel(to: "[::1]:\(secure.port)")
                try tunnel.secure(ProxyUnderTest.clientSession(for: "::1"))
                #expect(tunnel.session?.verifyError == nil)
                #expect(try tunnel.get("/", host: "[::1]").status == 200)
            }
        }

        @Test func oneConnectionLeadsToSeveralOrigins() throws {
            try withProxy { proxy in
                let first = try proxy.greeter(text: "first")
                let second = try proxy.greeter(text: "second")
                let client = try proxy.connect()
                for _ in 0..<3 {
                    #expect(try client.get("http://\(first.authority)/").body.text == "first")
                    #expect(try client.get("http://\(second.authority)/").body.text == "second")
                }
                #expect(first.acceptedCount == 1)
                #expect(second.acceptedCount == 1)
            }
        }

        @Test func hostComesFromTheTarget() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    let request = try wire.readRequest()
                    let hosts = request.fields.filter { $0.name.lowercased() == "host" }
                    try check(hosts.count == 1, request.head)
                    try check(hosts[0].value.hasPrefix("127.0.0.1:"), request.head)
                    try check(!request.head.contains("secret"), request.head)
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    try wire.expectEnd()
                }
                let client = try proxy.connect()
                let target = "http://user:secret@\(origin.authority)/"
                #expect(try client.get(target, host: "other.example").status == 200)
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.requestHead.text.hasPrefix("GET \(target) HTTP/1.1\r\n"))
                #expect(exchange.authority == origin.authority)
            }
        }
    }
}
