import Base
import HTTPCodecs
import HTTPModel
import Origins
import Sockets
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Requests to the proxy itself, and those that only look like it.
    @Suite struct OwnPages {
        /// Says what it was asked for, and where.
        private struct Echo: OwnPage {
            func response(to request: OwnRequest) -> OwnResponse {
                let text =
                    "\(request.isSecure ? "https" : "http") \(request.target.text)"
                    + " \(request.address.host)"
                return OwnResponse(200, [.init("x-page", "own")], [UInt8](text.utf8))
            }
        }

        private static var page: PlanChange { PlanChange { $0.wiring.page = Echo() } }

        /// What is sent, with `<port>` for the proxy's, and what comes back.
        static let rows: [(request: String, status: Int, content: String)] = [
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1:<port>", 200, "http / 127.0.0.1"),
            ("GET /a?b HTTP/1.1\r\nHost: localhost:<port>", 200, "http /a?b 127.0.0.1"),
            ("GET / HTTP/1.1\r\nHost: 192.0.2.7", 200, "http / 127.0.0.1"),
            ("GET / HTTP/1.1\r\nHost: [2001:db8::1]:99", 200, "http / 127.0.0.1"),
            ("GET / HTTP/1.1\r\nHost: mine.local:<port>", 200, "http / 127.0.0.1"),
            ("GET / HTTP/1.1\r\nHost: Sallyport.Test", 200, "http / 127.0.0.1"),
            ("GET / HTTP/1.1\r\nHost: sallyport.test.:<port>", 200, "http / 127.0.0.1"),
            ("GET http://sallyport.test/x HTTP/1.1\r\nHost: y", 200, "http /x 127.0.0.1"),
            ("GET http://SALLYPORT.test HTTP/1.1\r\nHost: y", 200, "http / 127.0.0.1"),
            ("GET http://sallyport.test:81/ HTTP/1.1\r\nHost: y", 200, "http / 127.0.0.1"),
            ("GET http://127.0.0.1:<port>/x HTTP/1.1\r\nHost: y", 200, "http /x 127.0.0.1"),
            ("GET http://localhost:<port>/x HTTP/1.1\r\nHost: y", 200, "http /x 127.0.0.1"),
            ("HEAD / HTTP/1.1\r\nHost: 127.0.0.1:<port>", 200, ""),
            (
                "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nhello",
                200, "http / 127.0.0.1"
            ),
            // A name that leads here since a moment ago, with somebody's page behind it.
            ("GET / HTTP/1.1\r\nHost: evil.example:<port>", 400, "not-a-proxy-request"),
            ("GET / HTTP/1.1\r\nHost: sallyport.test.evil.example", 400, "not-a-proxy-request"),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example", 400, "not-a-proxy-request"),
            ("GET / HTTP/1.1\r\nHost: xlocalhost:<port>", 400, "not-a-proxy-request"),
            ("GET / HTTP/1.0\r\nX: y", 400, "not-a-proxy-request"),
            ("OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:<port>", 400, "not-a-proxy-request"),
            // Its own address by another name is a loop, as ever.
            ("GET http://127.0.0.2:<port>/ HTTP/1.1\r\nHost: y", 508, "proxy-loop"),
        ]

        @Test(arguments: rows)
        func isAnsweredWhereNobodyElseHasAPage(
            _ row: (request: String, status: Int, content: String)
        ) throws {
            try withProxy(Self.page) { proxy in
                let client = try proxy.connect()
                let request = row.request.replacing("<port>", with: "\(proxy.address.port)")
                try client.send(request + (request.contains("\r\n\r\n") ? "" : "\r\n\r\n"))
                let answer = try client.readResponse(toHEAD: request.hasPrefix("HEAD"))
                #expect(answer.status == row.status)
                guard row.status == 200 else {
                    #expect(answer.field("sallyport-error") == row.content)
                    return
                }
                #expect(answer.field("x-page") == "own")
                #expect(answer.body.text == row.content)
                client.close()
                let connection = try proxy.traffic.connection()
                #expect(connection.originHost == "sallyport.test")
                #expect(connection.exchangeCount == 0, "it is no traffic of the client's")
            }
        }

        @Test func isNothingWithoutAPage() throws {
            try withProxy { proxy in
                let client = try proxy.connect()
                #expect(try client.get("/", host: "127.0.0.1").status == 400)
            }
        }

        /// The certificate has to come before the password, and nothing else does.
        @Test func passwordIsNotAskedFor() throws {
            try withProxy(.all(Self.page, .logins(("jane", "s3cret")))) { proxy in
                let client = try proxy.connect()
                #expect(try client.get("/", host: "127.0.0.1").status == 200)
                #expect(try client.get("http://sallyport.test/").status == 200)
                #expect(try client.get("http://127.0.0.1:9/").status == 407)
                #expect(try client.get("http://x.sallyport.test/").status == 407)
            }
        }

        @Test(arguments: [["http/1.1"], ["h2"]])
        func isThereInATunnel(_ protocols: [String]) throws {
            let only = try #require(HostPattern("a.example"))
            let rules = PlanChange.rules { $0.intercepted = [only] }
            try withProxy(.all(Self.page, .logins(("jane", "s3cret")), rules)) { proxy in
                let client = try proxy.tunnel(to: "sallyport.test:443")
                try client.secure(
                    ProxyUnderTest.clientSession(for: "sallyport.test", protocols: protocols))
                #expect(client.session?.verifyError == nil)
                if protocols == ["h2"] {
                    let http2 = try RawHTTP2(client)
                    try http2.get(stream: 1, "sallyport.test")
                    #expect(try http2.next(of: 1).payload.first == 0x88, "status 200")
                    client.close()
                } else {
                    #expect(try client.get("/x").body.text == "https /x 127.0.0.1")
                    try client.finish()
                    let connection = try proxy.traffic.connection()
                    #expect(connection.originHost == "sallyport.test")
                    #expect(connection.outcome == .completed)
                }
            }
        }

        @Test func isThereBehindSOCKS() throws {
            try withProxy(Self.page) { proxy in
                let client = try proxy.connect()
                try client.tunnelBySOCKS(to: .name("sallyport.test"), 80)
                #expect(try client.get("/x").body.text == "http /x 127.0.0.1")
            }
        }

        /// A reverse proxy is its origin's, whatever the request says.
        @Test func reversePortHasNone() throws {
            let origin = try ScriptedOrigin { wire, _ in try wire.greet() }
            let target = ProxyPlan.ReverseTarget(.http, host: "127.0.0.1", port: origin.port)
            try withProxy(.all(Self.page, .mode(.reverse(target)))) { proxy in
                proxy.adopt(origin)
                let client = try proxy.connect()
                try client.send("GET / HTTP/1.1\r\nHost: sallyport.test\r\n\r\n")
                #expect(try client.readResponse().body.text == "hello")
            }
        }
    }
}
