import Base
import HTTPCodecs
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What a client cannot choose where its entry has decided.
    @Suite struct Entries {
        /// An origin has to prefer the target to Host (RFC 9112 §3.2.2).
        @Test(arguments: [
            ("http://evil.example/secret?a=b", "/secret?a=b"),
            ("HTTP://user:word@evil.example:81", "/"), ("https://evil.example/s", "/s"), ("/", "/"),
        ])
        func originOfAReverseProxyIsFixed(_ row: (sent: String, received: String)) throws {
            let origin = try ScriptedOrigin { wire, _ in
                let head = try wire.readHead()
                try check(head.hasPrefix("GET \(row.received) HTTP/1.1\r\n"), head)
                try check(head.contains("Host: 127.0.0.1:"), head)
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                try wire.expectEnd()
            }
            let target = ProxyPlan.ReverseTarget(.http, host: "127.0.0.1", port: origin.port)
            try withProxy(.mode(.reverse(target))) { proxy in
                proxy.adopt(origin)
                let client = try proxy.connect()
                try client.send("GET \(row.sent) HTTP/1.1\r\nHost: evil.example\r\n\r\n")
                #expect(try client.readResponse().status == 200)
            }
        }

        /// HTTP/1 has no content behind CONNECT: what came on the stream would be a request.
        @Test func connectOnAStreamDoesNotGoOn() throws {
            let origin = try ScriptedOrigin { wire, _ in
                let head = try wire.readToEnd().text
                try check(!head.contains("CONNECT"), head)
            }
            let target = ProxyPlan.ReverseTarget(.http, host: "127.0.0.1", port: origin.port)
            try withProxy(.mode(.reverse(target))) { proxy in
                proxy.adopt(origin)
                let peer = try HTTP2Peer(.client, try proxy.connect())
                let stream = try peer.request(
                    "CONNECT a.test:1 HTTP/1.1", authority: "a.test:1", endsStream: false)
                #expect(try peer.response(stream).status == 501)
                #expect(try proxy.traffic.exchange().error == "connect-on-stream")
            }
        }

        private static var blocksLoopback: PlanChange {
            PlanChange {
                $0.disposition.blocked = ["127.0.0.1", "::1"].compactMap { HostPattern($0) }
            }
        }

        /// By whatever name it is reached.
        @Test(arguments: ["localhost", "127.0.0.1", "LocalHost"])
        func blockedAddressIsNotConnectedTo(_ host: String) throws {
            try withProxy(Self.blocksLoopback) { proxy in
                let origin = try proxy.origin { wire, _ in _ = try wire.readToEnd() }
                let client = try proxy.connect()
                try client.send(
                    "GET http://\(host):\(origin.port)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                let response = try client.readResponse()
                #expect(response.status == 403)
                #expect(response.field("sallyport-error") == "host-blocked")
                #expect(origin.acceptedCount == 0)
            }
        }
    }
}
