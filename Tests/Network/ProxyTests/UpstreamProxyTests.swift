import Base
import Origins
import Sockets
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Other proxies on the way to origins.
    @Suite struct Upstreams {
        /// A chain of two: what the client speaks to, and what that asks.
        private func withChain(
            _ scheme: UpstreamProxy.Scheme, login: (user: String, password: String)? = nil,
            _ change: PlanChange = .none, second: PlanChange = .none,
            then after: (_ second: ProxyUnderTest) throws -> Void = { _ in },
            _ body: (_ first: ProxyUnderTest, _ second: ProxyUnderTest) throws -> Void
        ) throws {
            try withProxy(second) { second in
                let way = PlanChange.upstream(
                    scheme, second.address.port, login: login)
                try withProxy(.all(way, change)) { first in try body(first, second) }
                // What the first kept for the next client has ended with it.
                try after(second)
            }
        }

        @Test(arguments: UpstreamProxy.Scheme.allCases, Way.allCases)
        func leadsToTheOrigin(_ scheme: UpstreamProxy.Scheme, _ way: Way) throws {
            // What the second cannot verify, the first shows: it trusts the second's authority.
            let trust = PlanChange {
                $0.policy.originTrust.extraAuthorities.append(TestAuthority.proxy.certificate)
            }
            let expectMode = { (second: ProxyUnderTest) in
                let next = try second.traffic.connection()
                #expect(next.mode == (scheme == .http ? .explicit : .socks))
                #expect(next.originHost == "127.0.0.1")
            }
            try withChain(scheme, trust, then: expectMode) { first, second in
                let origin = try second.greeter(way.kind)
                let client = try way.open(first, origin)
                #expect(try client.get(way.target("/", origin)).body.text == "hello")
                try client.finish()
                let connection = try first.traffic.connection()
                #expect(connection.outcome == .completed)
                #expect(connection.originHost == "127.0.0.1")
                #expect(connection.originPort == origin.port)
                #expect(connection.originAddress == second.address.description)
            }
        }

        @Test(arguments: UpstreamProxy.Scheme.allCases)
        func namesAreLeftToIt(_ scheme: UpstreamProxy.Scheme) throws {
            try withChain(scheme) { first, second in
                let origin = try second.greeter()
                let client = try first.connect()
                let target = "http://localhost:\(origin.port)/"
                #expect(try client.get(target).status == 200)
                #expect(try client.get("http://no-such-name.invalid/").status == 502)
                _ = try second.traffic.connection()
                let hosts = second.traffic.content.connections.values.compactMap { $0.last }
                #expect(hosts.contains { $0.originHost == "no-such-name.invalid" })
            }
        }

        @Test(arguments: UpstreamProxy.Scheme.allCases, [true, false])
        func passwordIsGiven(_ scheme: UpstreamProxy.Scheme, isRight: Bool) throws {
            try withChain(
                scheme, login: (user: "jane", password: isRight ? "s3cret" : "wrong"),
                second: .logins((user: "jane", password: "s3cret"))
            ) { first, second in
                let origin = try second.greeter()
                let client = try first.connect()
                let answer = try client.get("http://\(origin.authority)/")
                #expect(answer.status == (isRight ? 200 : 502))
                guard !isRight else { return }
                #expect(answer.field("sallyport-error") == "proxy-login-wanted")
                #expect(!answer.body.text.contains("wrong"))
                #expect(answer.body.text.contains("does not take the one"))
                #expect(origin.acceptedCount == 0)
            }
        }

        @Test func hostsHaveRules() throws {
            try withProxy { second in
                let closed = try ClosedPort()
                try withProxy(
                    .all(
                        .upstream(.http, second.address.port, for: ["localhost"]),
                        .upstream(.socks5, closed.port, for: ["*.nowhere.test"]),
                        .upstream(.socks5, closed.port, for: ["localhost"]))
                ) { first in
                    let origin = try second.greeter()
                    let client = try first.connect()
                    #expect(try client.get("http://\(origin.authority)/").status == 200)
                    #expect(try client.get("http://LOCALHOST:\(origin.port)/").status == 200)
                    let lost = try client.get("http://a.nowhere.test/")
                    #expect(lost.status == 502)
                    #expect(lost.field("sallyport-error") == "connect-failed")
                    try client.finish()
                    _ = try first.traffic.connection()
                }
                // One went directly, one by the first of two that lead there.
                _ = try second.traffic.connection()
                #expect(second.traffic.content.connections.count == 1)
            }
        }

        // MARK: What goes wrong there

        /// What the upstream sends, and what is said of it.
        static let answers: [(name: String, bytes: [UInt8], words: String)] = [
            ("407", bytes("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"), "wants a login"),
            ("502", bytes("HTTP/1.1 502 Bad Gateway\r\n\r\nsorry"), "answers with 502"),
            ("302", bytes("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n"), "answers with 302"),
            ("garbage", bytes("garbage\r\n\r\n"), "answers no HTTP"),
            ("TLS", [21, 3, 3, 0, 2, 2, 50], "broke the connection off"),
            ("nothing", [], "broke the connection off"),
            ("half a head", bytes("HTTP/1.1 200 O"), "broke the connection off"),
            ("empty lines", bytes("\r\n\r\n"), "answers no HTTP"),
            (
                "a head without end",
                bytes("HTTP/1.1 200 OK\r\n")
                    + bytes(String(repeating: "a: b\r\n", count: 4000)),
                "a head that does not end"
            ),
            ("only interim answers", bytes("HTTP/1.1 100 Go\r\n\r\n"), "broke the connection off"),
        ]

        /// One that always has something to say is given up as a silent one is.
        @Test(arguments: ["100 Go", "103 Hints"])
        func endlessInterimsAreGivenUp(_ status: String) throws {
            let upstream = try ScriptedOrigin { wire, _ in
                _ = try wire.readHead()
                let interims = Self.bytes(
                    String(repeating: "HTTP/1.1 \(status)\r\n\r\n", count: 1000))
                // It ends when the proxy has closed.
                for _ in 0..<100 { try wire.sendIfTaken(interims) }
            }
            try withProxy(.upstream(.http, upstream.port)) { proxy in
                proxy.adopt(upstream)
                let answer = try proxy.connect().get("http://a.test/")
                #expect(answer.status == 502)
                #expect(answer.field("sallyport-error") == "upstream-failed")
                #expect(answer.body.text.contains("too many interim responses"))
            }
        }

        /// The time for the way passes too while there is always another byte.
        @Test func slowAnswerIsGivenUp() throws {
            let upstream = try ScriptedOrigin { wire, _ in
                _ = try wire.readHead()
                try wire.send("HTTP/1.1 200 OK\r\nX: ")
                do {
                    while true {
                        try wire.send("a")
                        pause(milliseconds: 1)
                    }
                } catch is WireFailure {
                    // The proxy has given it up.
                }
            }
            try withProxy(
                .all(.upstream(.http, upstream.port), .limit(\.connectTimeout, 150))
            ) { proxy in
                proxy.adopt(upstream)
                let answer = try proxy.connect().get("http://a.test/")
                #expect([502, 504].contains(answer.status))
                #expect(answer.body.text.contains("timed out"), "\(answer.body.text)")
            }
        }

        private static func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

        @Test(arguments: answers, [true, false])
        func failureIsTold(
            _ row: (name: String, bytes: [UInt8], words: String), isTunnel: Bool
        ) throws {
            let upstream = try ScriptedOrigin { wire, _ in
                _ = try wire.readHead()
                try wire.sendIfTaken(row.bytes)
                // What was sent is to arrive before the end does.
                try wire.finish()
                _ = try wire.readToEnd()
            }
            try withProxy(.upstream(.http, upstream.port)) { proxy in
                proxy.adopt(upstream)
                let client = try proxy.connect()
                let line = isTunnel ? "CONNECT a.test:443" : "GET http://a.test/"
                try client.send("\(line) HTTP/1.1\r\nHost: a.test\r\n\r\n")
                let answer = try client.readResponse()
                #expect(answer.status == 502)
                let code = row.name == "407" ? "proxy-login-wanted" : "upstream-failed"
                #expect(answer.field("sallyport-error") == code)
                #expect(answer.body.text.contains(row.words), "\(answer.body.text)")
                #expect(answer.body.text.contains("127.0.0.1 port \(upstream.port)"))
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == code)
                #expect(exchange.authority.hasPrefix("a.test"))
            }
        }

        static let socksAnswers: [(name: String, bytes: [UInt8])] = [
            ("nothing", []), ("half a choice", [5]), ("no method", [5, 0xFF]),
            ("a method not offered", [5, 1]), ("another version", [4, 0]),
            ("refused", [5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0]),
            ("unreachable", [5, 0, 5, 4, 0, 1, 0, 0, 0, 0, 0, 0]),
            ("half a reply", [5, 0, 5, 0, 0, 1, 0]),
            ("an unknown kind of address", [5, 0, 5, 0, 0, 7, 0, 0, 0]),
            ("HTTP", [UInt8]("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
        ]

        @Test(arguments: socksAnswers)
        func failureOfSOCKSIsTold(_ row: (name: String, bytes: [UInt8])) throws {
            let upstream = try ScriptedOrigin { wire, _ in
                _ = try wire.read(3)
                try wire.sendIfTaken(row.bytes)
                try wire.finish()
                _ = try wire.readToEnd()
            }
            try withProxy(.upstream(.socks5, upstream.port)) { proxy in
                proxy.adopt(upstream)
                let client = try proxy.connect()
                let answer = try client.get("http://a.test/")
                #expect(answer.status == 502)
                let code = row.name == "no method" ? "proxy-login-wanted" : "upstream-failed"
                #expect(answer.field("sallyport-error") == code)
                #expect(try proxy.traffic.exchange().errorDetail?.isEmpty == false)
                let socks = try proxy.connect()
                try socks.send([5, 1, 0])
                #expect(try socks.read(2) == [5, 0])
                try socks.send(SOCKS.request5(.name("a.test"), 80))
                #expect(try socks.readReply5() != 0)
                #expect(try socks.readToEnd() == [])
            }
        }

        @Test(arguments: UpstreamProxy.Scheme.allCases)
        func silentUpstreamIsGivenUp(_ scheme: UpstreamProxy.Scheme) throws {
            let upstream = try ScriptedOrigin { wire, _ in _ = try wire.readToEnd() }
            try withProxy(
                .all(.upstream(scheme, upstream.port), .limit(\.connectTimeout, 150))
            ) { proxy in
                proxy.adopt(upstream)
                let answer = try proxy.connect().get("http://a.test/")
                #expect([502, 504].contains(answer.status))
                #expect(answer.field("sallyport-error")?.hasPrefix("upstream-") == true)
            }
        }

        /// The time for the way is no time for what passes on it.
        @Test func tunnelMayBeSilentForLonger() throws {
            let upstream = try ScriptedOrigin { wire, _ in
                _ = try wire.readHead()
                try wire.send("HTTP/1.1 200 OK\r\n\r\n")
                let text = try wire.read(5)
                try wire.send(text)
            }
            try withProxy(
                .all(.upstream(.http, upstream.port), .limit(\.connectTimeout, 150))
            ) { proxy in
                proxy.adopt(upstream)
                let client = try proxy.tunnel(to: "a.test:7")
                pause(milliseconds: 400)
                try client.send([1, 2, 3, 4, 5])
                #expect(try client.readToEnd() == [1, 2, 3, 4, 5])
            }
        }

        @Test func deathInTheMiddleIsRecorded() throws {
            let upstream = try ScriptedOrigin { wire, _ in
                _ = try wire.readHead()
                try wire.send("HTTP/1.1 100 Go on\r\n\r\nHTTP/1.0 200 OK\r\nX: y\r\n\r\n")
                _ = try wire.readHead()
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
                wire.reset()
            }
            try withProxy(.upstream(.http, upstream.port)) { proxy in
                proxy.adopt(upstream)
                let client = try proxy.connect()
                try client.send("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
                #expect(try client.readHead().hasPrefix("HTTP/1.1 200 "))
                _ = try client.readToEnd()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == "origin-closed")
                #expect(proxy.traffic.body(exchange, .response).text == "half")
            }
        }

        // MARK: Loops

        @Test(arguments: UpstreamProxy.Scheme.allCases)
        func neverLeadsToItself(_ scheme: UpstreamProxy.Scheme) throws {
            let own = try freePort()
            let change = PlanChange {
                guard let listen = own.address else { return }
                $0.wiring.ports[0].source = .address(listen)
            }
            try withProxy(.all(change, .upstream(scheme, own.port))) { proxy in
                let client = try proxy.connect()
                let answer = try client.get("http://a.test/")
                #expect(answer.status == 508)
                #expect(answer.field("sallyport-error") == "proxy-loop")
                try client.send("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n")
                #expect(try client.readResponse().status == 508)
                try client.finish()
                _ = try proxy.traffic.connection()
                #expect(proxy.traffic.content.connections.count == 1)
            }
        }

        /// There and back again: a proxy on this machine is not asked for us.
        @Test(arguments: UpstreamProxy.Scheme.allCases, ["127.0.0.1", "localhost", "[::1]"])
        func isNotAskedForOurselves(_ scheme: UpstreamProxy.Scheme, _ host: String) throws {
            try withChain(scheme) { first, second in
                let client = try first.connect()
                let answer = try client.get("http://\(host):\(first.address.port)/")
                #expect(answer.status == 508)
                #expect(second.traffic.content.finalExchanges.isEmpty)
            }
        }

        private func freePort() throws -> (port: UInt16, address: SocketAddress?) {
            let origin = try ScriptedOrigin { _, _ in }
            origin.stop()
            return (origin.port, SocketAddress(literal: "127.0.0.1", port: origin.port))
        }
    }
}
