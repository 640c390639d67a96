import Base
import Sockets
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What is passed through, what is not served, and clients that distrust us.
    @Suite struct Dispositions {
        /// A handshake with the origin itself, through whatever is between.
        private func originSession() -> TLSSession {
            TLSClientContext(
                versions: .modern, extraAuthorities: [TestAuthority.origin.certificate],
                trustsSystem: false
            )
            .makeSession(
                verifying: "localhost", serverName: "localhost", protocols: ["http/1.1"],
                resumptionKey: "origin")
        }

        static let passing: [(passed: String, only: String, reason: String)] = [
            ("localhost", "", "it is passed through by localhost"),
            ("*", "", "it is passed through by *"),
            ("", "a.test", "not among the hosts to intercept"),
        ]

        @Test(arguments: passing)
        func tlsIsPassedOnAsItIs(_ row: (passed: String, only: String, reason: String)) throws {
            try withProxy(.all(.passes(row.passed), .intercepts(row.only))) { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.tunnel(to: origin.authority)
                try client.secure(originSession())
                #expect(client.session?.verifyError == nil, "the origin's own certificate")
                #expect(try client.get("/").body.text == "hello")
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .passedThrough)
                #expect(connection.cause.contains(row.reason))
                #expect(connection.protocolName == "tls")
                #expect(connection.clientTLS?.sni == "localhost")
                #expect(connection.clientTLS?.ja4?.isEmpty == false)
                #expect(connection.clientTLS?.handshakeCompleted == false)
                #expect(connection.originAddress == origin.authority)
                #expect(connection.originBytes.received > 500)
                #expect(connection.originBytes.sent > 200)
                #expect(connection.exchangeCount == 0)
                #expect(connection.closedBy == .client || connection.closedBy == .origin)
            }
        }

        @Test func othersAreInterceptedStill() throws {
            try withProxy(.all(.passes("a.test"), .intercepts("localhost"))) { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.secureTunnel(to: origin)
                #expect(try client.get("/").body.text == "hello")
                try client.finish()
                #expect(try proxy.traffic.connection().outcome == .completed)
            }
        }

        @Test func reverseIsPassedOnToo() throws {
            let origin = try ScriptedOrigin(.tls) { wire, _ in try wire.greet() }
            let target = ProxyPlan.ReverseTarget(.https, host: "localhost", port: origin.port)
            try withProxy(.all(.mode(.reverse(target)), .passes("localhost"))) { proxy in
                proxy.adopt(origin)
                let client = try proxy.connect()
                try client.secure(originSession())
                #expect(client.session?.verifyError == nil)
                #expect(try client.get("/").status == 200)
                try client.finish()
                #expect(try proxy.traffic.connection().outcome == .passedThrough)
            }
        }

        @Test func passingOnNeedsAnOrigin() throws {
            let closed = try ClosedPort()
            let target = ProxyPlan.ReverseTarget(.https, host: "localhost", port: closed.port)
            try withProxy(.all(.mode(.reverse(target)), .passes("*"))) { proxy in
                let client = try proxy.connect()
                _ = try client.beginSecuring(originSession())
                _ = try client.readToEnd()
                #expect(try proxy.traffic.connection().outcome == .originUnreachable)
            }
        }

        // MARK: What is blocked

        static let requests: [(name: String, target: String, host: String)] = [
            ("in absolute form", "http://blocked.test/", "blocked.test"),
            ("in another case", "http://BLOCKED.test/", "blocked.test"),
            ("with the root's dot", "http://blocked.test./", "blocked.test."),
            ("with TLS", "https://blocked.test/", "blocked.test"),
            ("below", "http://a.below.test/", "a.below.test"),
        ]

        @Test(arguments: requests)
        func requestIsNotServed(_ row: (name: String, target: String, host: String)) throws {
            try withProxy(.blocks("blocked.test", "*.below.test")) { proxy in
                let client = try proxy.connect()
                let answer = try client.get(row.target, host: row.host)
                #expect(answer.status == 403)
                #expect(answer.field("sallyport-error") == "host-blocked")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == "host-blocked")
                #expect(exchange.answeredByTool)
                // The connection goes on.
                let origin = try proxy.greeter()
                #expect(try client.get("http://\(origin.authority)/").status == 200)
            }
        }

        @Test func tunnelIsNotOpened() throws {
            try withProxy(.blocks("localhost")) { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                let authority = "localhost:\(origin.port)"
                try client.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
                #expect(try client.readResponse().status == 403)
                #expect(origin.acceptedCount == 0)
                let socks = try proxy.connect()
                try socks.send([5, 1, 0])
                #expect(try socks.read(2) == [5, 0])
                try socks.send(SOCKS.request5(.name("LOCALHOST"), origin.port))
                #expect(try socks.readReply5() == 2)
                let old = try proxy.connect()
                try old.send(SOCKS.request4a("localhost", origin.port))
                #expect(try old.readReply4() == 91)
                #expect(origin.acceptedCount == 0)
                try client.finish()
                _ = try proxy.traffic.connection(2)
                let ends = proxy.traffic.content.finalConnections.filter { $0.mode == .socks }
                #expect(ends.map(\.outcome) == [.refused, .refused])
                #expect(ends.allSatisfy { $0.cause.contains("is not served: it is blocked by") })
            }
        }

        /// The name in TLS, or the origin under a name that nobody has blocked.
        @Test(arguments: ["blocked.test", "free.test"])
        func handshakeIsRefused(_ name: String) throws {
            let origin = try ScriptedOrigin { wire, _ in try wire.expectEnd() }
            let target = ProxyPlan.ReverseTarget(.https, host: "localhost", port: origin.port)
            let blocked = name == "free.test" ? "localhost" : name
            try withProxy(.all(.mode(.reverse(target)), .blocks(blocked))) { proxy in
                proxy.adopt(origin)
                let client = try proxy.connect()
                let first = try client.beginSecuring(ProxyUnderTest.clientSession(for: name))
                #expect(first == [21, 3, 1, 0, 2, 2, 49], "access_denied")
                _ = try client.readToEnd()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .refused)
                #expect(connection.closedBy == .tool)
                #expect(connection.clientTLS?.sni == name)
                #expect(
                    connection.clientTLS?.alerts
                        == [AlertRecord(sender: .tool, fatal: true, name: "access_denied")])
                #expect(origin.acceptedCount == 0)
            }
        }

        @Test func hostOfARequestInATunnelCounts() throws {
            try withProxy(.blocks("blocked.test")) { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.tunnel(to: origin.authority)
                #expect(try client.get("/", host: "blocked.test").status == 403)
                #expect(try client.get("/", host: "free.test").status == 200)
                let other = try proxy.secureTunnel(to: try proxy.greeter(.tls))
                #expect(try other.get("/", host: "Blocked.test:443").status == 403)
                #expect(try other.get("/").status == 200)
            }
        }

        @Test func rawPortIsBlockedToo() throws {
            let origin = try ScriptedOrigin { wire, _ in try wire.expectEnd() }
            let target = ProxyPlan.ReverseTarget(.tcp, host: "localhost", port: origin.port)
            try withProxy(.all(.mode(.reverse(target)), .blocks("localhost"))) { proxy in
                proxy.adopt(origin)
                try proxy.connect().expectEnd()
                #expect(try proxy.traffic.connection().outcome == .refused)
                #expect(origin.acceptedCount == 0)
            }
        }

        // MARK: Clients that distrust us

        private static func heals(after count: Int, retryEvery: Int = 20) -> PlanChange {
            .rules { rules in
                rules.healing = HealingPlan()
                rules.healing?.rejections = count
                rules.healing?.retryEvery = retryEvery
            }
        }

        private func reject(_ proxy: ProxyUnderTest, _ origin: ScriptedOrigin) throws {
            let client = try proxy.tunnel(to: origin.authority)
            _ = try client.beginSecuring(ProxyUnderTest.clientSession(for: "localhost"))
            try client.transmit([21, 3, 3, 0, 2, 2, 48])
            client.close()
        }

        private func waitForEnds(_ proxy: ProxyUnderTest, _ count: Int) throws {
            _ = try proxy.traffic.connection(count - 1)
        }

        @Test func clientThatDistrustsIsLetThrough() throws {
            try withProxy(Self.heals(after: 3)) { proxy in
                let origin = try proxy.greeter(.tls)
                for count in 1...3 {
                    try reject(proxy, origin)
                    try waitForEnds(proxy, count)
                }
                let client = try proxy.tunnel(to: origin.authority)
                try client.secure(originSession())
                #expect(client.session?.verifyError == nil, "the origin's own certificate")
                #expect(try client.get("/").body.text == "hello")
                try client.finish()
                let healed = try proxy.traffic.connection(3)
                #expect(healed.outcome == .passedThrough)
                #expect(
                    healed.cause
                        == "not decrypted: this client has rejected our certificate for it 3 times")
                let outcomes = proxy.traffic.content.finalConnections.prefix(3).map(\.outcome)
                #expect(outcomes == [.clientRefused, .clientRefused, .clientRefused])
            }
        }

        @Test func clientIsTriedNowAndThen() throws {
            try withProxy(Self.heals(after: 1, retryEvery: 2)) { proxy in
                let origin = try proxy.greeter(.tls)
                try reject(proxy, origin)
                try waitForEnds(proxy, 1)
                let passed = try proxy.tunnel(to: origin.authority)
                try passed.secure(originSession())
                #expect(passed.session?.verifyError == nil)
                passed.close()
                // It is asked again, and trusts us now: from here on it is looked into.
                for _ in 0..<3 {
                    let client = try proxy.secureTunnel(to: origin)
                    #expect(try client.get("/").status == 200)
                    try client.finish()
                    _ = try client.readToEnd()
                }
                try waitForEnds(proxy, 5)
                let outcomes = proxy.traffic.content.finalConnections.map(\.outcome)
                #expect(outcomes[0] == .clientRefused)
                #expect(outcomes[1] == .passedThrough)
                #expect(outcomes[2...].allSatisfy { $0 == .completed })
            }
        }

        @Test func clientThatTrustsIsNotLetThrough() throws {
            try withProxy(Self.heals(after: 2)) { proxy in
                let origin = try proxy.greeter(.tls)
                for round in 0..<3 {
                    // One rejection, and then trust: it starts anew.
                    try reject(proxy, origin)
                    try waitForEnds(proxy, 2 * round + 1)
                    let client = try proxy.secureTunnel(to: origin)
                    #expect(try client.get("/").status == 200)
                    try client.finish()
                    _ = try client.readToEnd()
                    try waitForEnds(proxy, 2 * round + 2)
                }
                let outcomes = Set(proxy.traffic.content.finalConnections.map(\.outcome))
                #expect(outcomes == [.clientRefused, .completed])
            }
        }

        @Test func anotherHostIsAnotherMatter() throws {
            try withProxy(Self.heals(after: 1)) { proxy in
                let origin = try proxy.origin(.tls(name: "127.0.0.1")) { wire, _ in
                    try wire.greet()
                }
                let first = try proxy.tunnel(to: origin.authority)
                _ = try first.beginSecuring(ProxyUnderTest.clientSession(for: "other.test"))
                try first.transmit([21, 3, 3, 0, 2, 2, 48])
                first.close()
                try waitForEnds(proxy, 1)
                let client = try proxy.tunnel(to: origin.authority)
                try client.secure(ProxyUnderTest.clientSession(for: "127.0.0.1"))
                #expect(client.session?.verifyError == nil, "the proxy's certificate")
                #expect(try client.get("/").status == 200)
            }
        }
    }
}
