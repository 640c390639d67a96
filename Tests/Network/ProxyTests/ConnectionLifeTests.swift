import Base
import Foundation
import HTTPCodecs
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Who has gone is told to the other side at once, and no connection outlives its client.
    @Suite struct ConnectionLife {
        static let tunnels = Way.allCases.filter { $0 != .absoluteForm }

        private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

        private static func get(_ way: Way, _ origin: ScriptedOrigin, _ fields: String = "")
            -> String
        {
            "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
        }

        /// An origin that serves one connection at a time waits for this end.
        @Test(arguments: tunnels)
        func originConnectionEndsWithItsClient(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readRequest()
                    try wire.send(Self.answer)
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(Self.get(way, origin))
                #expect(try client.readResponse().body.text == "ok")
                client.close()
                // Before the proxy ends, whose end would close it as well.
                origin.stop()
                #expect(origin.failures == [])
            }
        }

        @Test func originConnectionEndsWithARefusal() throws {
            try withProxy { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in try wire.expectEnd() }
                let wire = try proxy.tunnel(to: origin.authority)
                let context = TLSClientContext(
                    versions: .modern, extraAuthorities: [], trustsSystem: false)
                let session = context.makeSession(
                    verifying: "localhost", serverName: "localhost", protocols: ["http/1.1"],
                    resumptionKey: "refusal")
                try wire.secure(session)
                #expect(session.verifyError != nil)
                wire.close()
                origin.stop()
                #expect(origin.failures == [])
            }
        }

        @Test(arguments: tunnels)
        func restingClientIsToldThatItsOriginHasGone(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readRequest()
                    try wire.send(Self.answer)
                }
                let client = try way.open(proxy, origin)
                try client.send(Self.get(way, origin))
                #expect(try client.readResponse().body.text == "ok")
                try client.expectEnd()
                #expect(try proxy.traffic.connection().closedBy == .origin)
            }
        }

        /// An origin that ends at once, as one does that speaks HTTP/2 alone.
        @Test func originThatEndsBeforeARequestIsNamed() throws {
            try withProxy { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in wire.close() }
                let wire = try proxy.secureTunnel(to: origin)
                #expect(try wire.read().isEmpty)
                wire.close()
                let connection = try proxy.traffic.connection()
                #expect(connection.closedBy == .origin)
                #expect(connection.cause == "origin ended the connection before a request came")
            }
        }

        /// The grace of a client that has ended its direction is longer than a wire is patient.
        @Test(arguments: Way.allCases)
        func originIsToldThatItsClientHasGone(_ way: Way) throws {
            try withProxy(.limit(\.halfCloseGrace, 120_000)) { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readRequest()
                    // It works until it hears that nobody waits.
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(Self.get(way, origin))
                try client.finish()
                origin.stop()
                #expect(origin.failures == [])
            }
        }

        @Test(arguments: Way.allCases)
        func requestsAheadOfAnEndAreAnswered(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readRequest()
                    try wire.send(Self.answer)
                    _ = try wire.readRequest()
                    try wire.send(Self.answer)
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(Self.get(way, origin) + Self.get(way, origin))
                try client.finish()
                #expect(try client.readResponse().body.text == "ok")
                #expect(try client.readResponse().body.text == "ok")
            }
        }

        // MARK: What the two sides say of their connection

        @Test(arguments: tunnels, ["close", "keep-alive"])
        func connectionOptionsReachTheOtherSide(_ way: Way, _ option: String) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let head = try wire.readHead()
                    try check(head.contains("\r\nConnection: \(option)\r\n"), head)
                    try wire.send(
                        "HTTP/1.1 200 OK\r\nConnection: \(option)\r\nContent-Length: 2\r\n\r\nok")
                    if option == "keep-alive" { try wire.expectEnd() }
                }
                let client = try way.open(proxy, origin)
                try client.send(Self.get(way, origin, "Connection: \(option)\r\n"))
                let response = try client.readResponse()
                #expect(response.field("connection") == option)
                if option == "close" { try client.expectEnd() }
            }
        }

        @Test(arguments: tunnels)
        func originThatClosesIsToldOf(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readRequest()
                    try wire.send("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
                let client = try way.open(proxy, origin)
                try client.send(Self.get(way, origin))
                #expect(try client.readHead().hasPrefix("HTTP/1.0 200 OK\r\n"))
                #expect(try client.readToEnd().text == "ok")
            }
        }

        /// Also one that has not said a word yet, although its client has begun TLS.
        @Test func originInItsHandshakeIsToldThatItsClientHasGone() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    let hello = try wire.readToEnd()
                    try check(hello.first == 22, "no hello")
                }
                let session = TLSClientContext(
                    versions: .modern, extraAuthorities: [], trustsSystem: false
                ).makeSession(
                    verifying: "localhost", serverName: "localhost", protocols: [],
                    resumptionKey: "")
                session.outgoing = ByteBuffer(capacity: 1 << 14)
                _ = session.handshake()
                let client = try proxy.tunnel(to: origin.authority)
                try client.send(try #require(session.outgoing).copy)
                client.close()
                // First, because an origin that stops resets what it has not accepted yet.
                let connection = try proxy.traffic.connection()
                origin.stop()
                #expect(origin.failures == [])
                #expect(connection.outcome == .broken)
                #expect(connection.closedBy == .client)
                #expect(
                    connection.cause
                        == "client ended the connection while its origin was waited for")
            }
        }

        /// HTTP/1.0 stays what it is between a client and an origin of its own; a gateway speaks
        /// HTTP/1.1, which wants a Host.
        @Test(arguments: Way.allCases)
        func oldRequestsGoOnAsTheyCame(_ way: Way) throws {
            let isOwn = Self.tunnels.contains(way)
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let head = try wire.readHead()
                    try check(head.hasPrefix("GET / HTTP/1.\(isOwn ? 0 : 1)\r\n"), head)
                    try check(head.contains("\r\nHost: ") == !isOwn, head)
                    try check(!head.contains("\r\nConnection: "), head)
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
                let client = try way.open(proxy, origin)
                try client.send("GET \(way.target("/", origin)) HTTP/1.0\r\n\r\n")
                #expect(try client.readToEnd().text.hasSuffix("\r\n\r\nok"))
            }
        }

        @Test(arguments: Way.allCases)
        func upgradeWithoutItsOptionDoesNotGoOn(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let head = try wire.readHead().lowercased()
                    try check(!head.contains("upgrade:"), head)
                    try wire.send(Self.answer)
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    Self.get(
                        way, origin, "Connection: xupgrade-not\r\nUpgrade: websocket\r\n"))
                #expect(try client.readResponse().status == 200)
            }
        }

        /// What is said to a proxy is ours only where the client speaks to us as its proxy.
        @Test(arguments: Way.allCases)
        func passwordOfAnotherProxyGoesOn(_ way: Way) throws {
            let isOurs = way == .absoluteForm
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let head = try wire.readHead()
                    try check(
                        head.contains("Proxy-Authorization: Basic dTpw") == !isOurs, head)
                    try wire.send(
                        "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\n"
                            + "Content-Length: 0\r\n\r\n")
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    Self.get(way, origin, "Proxy-Authorization: Basic dTpw\r\n"))
                let response = try client.readResponse()
                #expect(response.status == 407)
                #expect((response.field("proxy-authenticate") != nil) == !isOurs)
            }
        }

        /// The same by HTTP/2, whichever side speaks it.
        @Test(arguments: [(true, true), (true, false), (false, true)])
        func passwordOfAnotherProxyGoesOnInStreams(clients: Bool, origins: Bool) throws {
            let version = PlanChange { $0.policy.originVersion = origins ? .http2 : .http1 }
            try withProxy(version) { proxy in
                let origin =
                    if origins {
                        try proxy.http2Origin { peer, _ in
                            let (stream, head) = try peer.needRequest()
                            try Self.checkPassword(in: head.text.text)
                            try peer.respond(
                                stream, "HTTP/1.1 407 No|Proxy-Authenticate: Basic realm=x")
                            try peer.waitForEnd()
                        }
                    } else {
                        try proxy.origin(.tls) { wire, _ in
                            try Self.checkPassword(in: try wire.readHead())
                            try wire.send(Self.refusal)
                            try wire.expectEnd()
                        }
                    }
                if clients {
                    let client = try proxy.http2Client(to: origin)
                    let seen = try client.get("/", fields: "|Proxy-Authorization: Basic dTpw")
                    #expect(seen.status == 407)
                    #expect(seen.field("proxy-authenticate") == "Basic realm=x")
                    client.wire.close()
                } else {
                    let client = try proxy.secureTunnel(to: origin)
                    let answer = try client.get(
                        "/", fields: "Proxy-Authorization: Basic dTpw\r\n")
                    #expect(answer.status == 407)
                    #expect(answer.field("proxy-authenticate") == "Basic realm=x")
                    client.close()
                }
            }
        }

        private static let refusal =
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"

        private static func checkPassword(in head: String) throws {
            try check(
                head.lowercased().contains("\r\nproxy-authorization: basic dtpw\r\n"), head)
        }

        /// Where the client speaks to us as its proxy, streams are no exception.
        @Test func passwordInAStreamToUsDoesNotGoOn() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    let head = try wire.readHead()
                    try check(!head.lowercased().contains("proxy-auth"), head)
                    try wire.send(Self.refusal)
                    try wire.expectEnd()
                }
                let client = try HTTP2Peer(.client, try proxy.connect())
                let stream = try client.request(
                    "GET / HTTP/1.1|Proxy-Authorization: Basic dTpw", authority: origin.authority,
                    scheme: "http")
                let seen = try client.response(stream)
                #expect(seen.status == 407)
                #expect(seen.field("proxy-authenticate") == nil)
                client.wire.close()
                let recorded = try proxy.traffic.exchange().requestHead.text
                #expect(recorded.contains("proxy-authorization: Basic dTpw\r\n"))
            }
        }

        /// A tunnel that a proxy of the client's own opens is asked for by the client's password.
        @Test(arguments: [Way.plainTunnel, .tunnel13])
        func tunnelOfAnotherProxyIsAskedForWithItsPassword(_ way: Way) throws {
            let line = "CONNECT inner.example:443 HTTP/1.1\r\n"
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let first = try wire.readHead()
                    try check(first.hasPrefix(line), first)
                    try wire.send(Self.refusal)
                    let second = try wire.readHead()
                    try check(second.hasPrefix(line), second)
                    try Self.checkPassword(in: second)
                    try wire.send("HTTP/1.1 200 Yes\r\n\r\n")
                    let early = try wire.read(3)
                    try check(early == [1, 2, 3], "\(early)")
                    try wire.send([4, 5])
                }
                let client = try way.open(proxy, origin)
                try client.send(line + "Host: inner.example\r\n\r\n")
                let refusal = try client.readResponse()
                #expect(refusal.status == 407)
                #expect(refusal.field("proxy-authenticate") == "Basic realm=x")
                try client.send(
                    line + "Host: inner.example\r\nProxy-Authorization: Basic dTpw\r\n\r\n")
                #expect(try client.readHead() == "HTTP/1.1 200 Yes\r\n\r\n")
                try client.send([1, 2, 3])
                #expect(try client.readToEnd() == [4, 5])
                client.close()
            }
        }

        // MARK: Who else gets a connection

        /// By NTLM a connection is one user's, also if the user came by HTTP/2: a stream of another
        /// user of the same client gets none of it, with credentials of its own or without.
        @Test(arguments: ["NTLM abc", "Negotiate abc", "Basic eA==, NTLM abc"])
        func authenticatedConnectionIsNotLent(_ credential: String) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, number in
                    _ = try wire.readRequest()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)")
                    try wire.expectEnd()
                }
                let first = try HTTP2Peer(.client, try proxy.connect())
                let get = { (line: String) throws -> String in
                    let stream = try first.request(
                        line, authority: origin.authority, scheme: "http")
                    return try first.response(stream).body.text
                }
                #expect(try get("GET /a HTTP/1.1|Authorization: \(credential)") == "0")
                #expect(try get("GET /b HTTP/1.1|Authorization: NTLM def") == "1")
                #expect(try get("GET /c HTTP/1.1") == "2")
                let second = try proxy.connect()
                try second.send("GET http://\(origin.authority)/d HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try second.readResponse().body.text == "3")
            }
        }

        /// A scheme by its name, told to who has logged in, is no step of that login.
        @Test(arguments: ["NTLM", "Negotiate"])
        func loginThatIsRefusedIsNotLent(_ scheme: String) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, number in
                    _ = try wire.readRequest()
                    try wire.send(
                        "HTTP/1.1 401 U\r\nWWW-Authenticate: \(scheme)\r\nContent-Length: 1\r\n"
                            + "\r\n\(number)")
                    try wire.expectEnd()
                }
                let client = try HTTP2Peer(.client, try proxy.connect())
                for number in 0..<3 {
                    let stream = try client.request(
                        "GET /a HTTP/1.1|Authorization: \(scheme) user\(number)",
                        authority: origin.authority, scheme: "http")
                    #expect(try client.response(stream).body.text == "\(number)")
                }
            }
        }

        /// Connections that wait for a step that nobody takes are no more than a few, and those that
        /// somebody has logged in on are none.
        @Test(arguments: ["", "|Authorization: Negotiate abc"])
        func connectionsThatNobodyElseMayHaveAreFew(_ credential: String) throws {
            try withProxy { proxy in
                let ended = DispatchSemaphore(value: 0)
                let answer =
                    credential.isEmpty
                    ? "401 U\r\nWWW-Authenticate: Negotiate" : "200 OK\r\nX: y"
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readRequest()
                    try wire.send("HTTP/1.1 \(answer)\r\nContent-Length: 1\r\n\r\na")
                    try wire.expectEnd()
                    ended.signal()
                }
                let silent = try proxy.origin { wire, _ in
                    _ = try wire.readRequest()
                    try wire.expectEnd()
                }
                let client = try HTTP2Peer(.client, try proxy.connect())
                // A client that is quiet has nothing kept for it.
                _ = try client.request(
                    "GET /held HTTP/1.1", authority: silent.authority, scheme: "http")
                for _ in 0..<20 {
                    let stream = try client.request(
                        "GET /a HTTP/1.1" + credential, authority: origin.authority, scheme: "http")
                    #expect(try client.response(stream).body.text == "a")
                }
                for _ in 0..<(credential.isEmpty ? 12 : 20) {
                    try check(ended.wait(timeout: .now() + 60) == .success, "it is kept")
                }
            }
        }

        /// Connections that their origins have ended go, although the client is never quiet.
        @Test func endedConnectionsGo() throws {
            try withProxy { proxy in
                let ended = DispatchSemaphore(value: 0)
                let silent = try proxy.origin { wire, _ in
                    _ = try wire.readRequest()
                    try wire.expectEnd()
                }
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readRequest()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
                    try wire.finish()
                    // A request may come that had been sent before the end was seen.
                    _ = try wire.readToEnd()
                    ended.signal()
                }
                let client = try HTTP2Peer(.client, try proxy.connect())
                _ = try client.request(
                    "GET /held HTTP/1.1", authority: silent.authority, scheme: "http")
                for _ in 0..<10 {
                    let stream = try client.request(
                        "GET /a HTTP/1.1", authority: origin.authority, scheme: "http")
                    #expect(try client.response(stream).body.text == "a")
                }
                // But for the last, behind which nobody asks.
                for _ in 0..<9 {
                    try check(ended.wait(timeout: .now() + 60) == .success, "it is kept")
                }
            }
        }

        /// The steps of an authentication are requests of one connection.
        @Test(arguments: ["NTLM", "Negotiate"])
        func stepsOfAnAuthenticationStayTogether(_ scheme: String) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, number in
                    _ = try wire.readRequest()
                    for step in ["", " first", " second"] {
                        try wire.send(
                            "HTTP/1.1 401 U\r\nWWW-Authenticate: \(scheme)\(step)\r\n"
                                + "Content-Length: 1\r\n\r\n\(number)")
                        _ = try wire.readRequest()
                    }
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)")
                    try wire.expectEnd()
                }
                let client = try HTTP2Peer(.client, try proxy.connect())
                for step in [nil, "one", "two", "three"] {
                    let credential = step.map { "|Authorization: \(scheme) \($0)" } ?? ""
                    let stream = try client.request(
                        "GET /a HTTP/1.1" + credential, authority: origin.authority, scheme: "http")
                    #expect(try client.response(stream).body.text == "0")
                }
            }
        }
    }
}
