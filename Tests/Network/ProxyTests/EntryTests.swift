import Base
import HTTPCodecs
import Origins
import TLS
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

        /// A client that goes to a reverse proxy by its address looks for that in the certificate, and
        /// names no host.
        @Test(
            arguments: [
                (.https, "127.0.0.1"), (.tcp, "127.0.0.1"), (.https, "localhost"),
            ] as [(ProxyPlan.ReverseTarget.Scheme, String)])
        func certificateOfAReverseProxyIsForItsAddress(
            _ scheme: ProxyPlan.ReverseTarget.Scheme, _ name: String
        ) throws {
            let origin = try ScriptedOrigin(.tls) { wire, _ in try wire.greet() }
            let target = ProxyPlan.ReverseTarget(scheme, host: "localhost", port: origin.port)
            try withProxy(.mode(.reverse(target))) { proxy in
                proxy.adopt(origin)
                let client = try proxy.connect()
                try client.secure(ProxyUnderTest.clientSession(for: name))
                #expect(client.session?.verifyError == nil)
                #expect(try client.get("/").status == 200)
                let leaf = try #require(
                    client.session?.peerChain.first.flatMap { Certificate(der: $0) })
                let address = name == "localhost" ? "" : ", IP Address:127.0.0.1"
                #expect(leaf.alternativeNames == "DNS:localhost" + address)
            }
        }

        /// One that comes by another address is told whom the certificate is for.
        @Test(
            arguments: [
                (
                    nil,
                    "client closed right after the handshake without a request: it does not trust the"
                        + " CA, pins another certificate, or asked for another host: it named none, and"
                        + " the certificate shown is for localhost and 127.0.0.1"
                ),
                (
                    42,
                    "client refused the certificate with the alert bad_certificate: it named no host,"
                        + " and the certificate shown is for localhost and 127.0.0.1"
                ),
                (48, "client refused the certificate with the alert unknown_ca"),
            ] as [(UInt8?, String)])
        func refusedNameIsTold(_ alert: UInt8?, _ cause: String) throws {
            let origin = try ScriptedOrigin(.tls) { wire, _ in _ = try wire.readToEnd() }
            let target = ProxyPlan.ReverseTarget(.https, host: "localhost", port: origin.port)
            try withProxy(.mode(.reverse(target))) { proxy in
                proxy.adopt(origin)
                let client = try proxy.connect()
                let session = ProxyUnderTest.clientSession(for: "192.0.2.1")
                if let alert {
                    _ = try client.beginSecuring(session)
                    try client.transmit([21, 3, 3, 0, 2, 2, alert])
                    client.close()
                } else {
                    try client.secure(session)
                    #expect(client.session?.verifyError != nil)
                    try client.finish()
                    _ = try client.readToEnd()
                }
                #expect(try proxy.traffic.connection().cause == cause)
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
                $0.policy.disposition.blocked = ["127.0.0.1", "::1"].compactMap { HostPattern($0) }
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
