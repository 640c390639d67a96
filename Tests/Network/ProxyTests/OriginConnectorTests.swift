import Base
import Sockets
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Origins that cannot be reached, or not be trusted.
    @Suite struct Origins {
        @Test(arguments: [true, false])
        func unreachableOrigin(tunnel: Bool) throws {
            try withProxy { proxy in
                let closed = try ClosedPort()
                let client = try proxy.connect()
                let authority = "127.0.0.1:\(closed.port)"
                let line = tunnel ? "CONNECT \(authority)" : "GET http://\(authority)/"
                try client.send("\(line) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
                let response = try client.readResponse()
                #expect(response.status == 502)
                #expect(response.field("sallyport-error") == "connect-failed")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.status == 502)
                #expect(exchange.error == "connect-failed")
                #expect(exchange.answeredByTool)
                #expect(exchange.authority == authority)
                // The connection is still good for another origin, and is judged for the first.
                let other = try proxy.greeter()
                #expect(try client.get("http://\(other.authority)/").status == 200)
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .originUnreachable)
                #expect(connection.cause.contains("cannot connect to 127.0.0.1"))
                #expect(connection.originPort == closed.port)
            }
        }

        @Test func unknownName() throws {
            try withProxy { proxy in
                let client = try proxy.connect()
                let response = try client.get("http://no-such-name.invalid/")
                #expect(response.status == 502)
                let code = try #require(response.field("sallyport-error"))
                // A machine without a name server cannot tell.
                #expect(["name-not-found", "name-lookup-failed"].contains(code))
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == code)
                #expect(exchange.authority == "no-such-name.invalid")
            }
        }

        static let ownNames = [
            "127.0.0.1", "localhost", "127.0.0.2", "0.0.0.0", "[::ffff:127.0.0.1]", "[::1]", "[::]",
        ]

        @Test(arguments: ownNames, [true, false])
        func proxyNeverReachesItself(_ host: String, tunnel: Bool) throws {
            try withProxy { proxy in
                let client = try proxy.connect()
                let authority = "\(host):\(proxy.address.port)"
                let line = tunnel ? "CONNECT \(authority)" : "GET http://\(authority)/"
                try client.send("\(line) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
                let response = try client.readResponse()
                #expect(response.status == 508)
                #expect(response.field("sallyport-error") == "proxy-loop")
                #expect(try proxy.traffic.exchange().error == "proxy-loop")
                try client.finish()
                _ = try proxy.traffic.connection()
                #expect(proxy.traffic.content.connections.count == 1)
            }
        }

        @Test func originWithoutTLS() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.read(1)
                    try wire.send("HTTP/1.1 400 Bad Request\r\n\r\n")
                }
                let client = try proxy.secureTunnel(to: origin)
                let response = try client.get("/")
                #expect(response.status == 502)
                #expect(response.field("sallyport-error") == "origin-handshake-failed")
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .originHandshakeFailed)
                #expect(!connection.cause.isEmpty)
                #expect(try proxy.traffic.exchange().error == "origin-handshake-failed")
            }
        }

        @Test func originThatRefusesTheVersion() throws {
            try withProxy { proxy in
                let old = TLSVersions(.tls10, .tls11)
                let origin = try ScriptedOrigin(.tls(name: "localhost", versions: old)) { _, _ in }
                let client = try proxy.secureTunnel(to: origin)
                #expect(try client.get("/").status == 502)
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .originHandshakeFailed)
                #expect(connection.originTLS?.alerts.isEmpty == false)
                #expect(connection.originTLS?.handshakeCompleted == false)
                origin.stop()
            }
        }

        // MARK: Certificates

        struct Flaw: CustomTestStringConvertible, Sendable {
            let testDescription: String
            let kind: ScriptedOrigin.Kind
            let words: String
        }

        static let flaws = [
            Flaw(
                testDescription: "unknown authority",
                kind: .tls(name: "localhost", by: TestAuthority.stranger),
                words: "unable to get local issuer certificate"),
            Flaw(
                testDescription: "another host", kind: .tls(name: "other.example"),
                words: "hostname mismatch"),
        ]

        @Test(arguments: flaws, Way.allCases.filter(\.isSecure))
        func untrustedOriginIsNotServed(_ flaw: Flaw, _ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(flaw.kind) { wire, _ in try wire.expectEnd() }
                let client = try way.open(proxy, origin)
                for _ in 0..<2 {
                    let response = try client.get("/")
                    #expect(response.status == 502)
                    #expect(response.field("sallyport-error") == "origin-certificate")
                    #expect(response.body.text.contains(flaw.words))
                }
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .originUntrusted)
                #expect(connection.cause.contains(flaw.words))
                #expect(connection.originTLS?.verifyError == flaw.words)
                #expect(connection.originTLS?.chain.isEmpty == false)
                #expect(try proxy.traffic.exchange(1).error == "origin-certificate")
            }
        }

        @Test(arguments: flaws, Way.allCases.filter(\.isSecure))
        func unverifiedOriginIsServedIfWanted(_ flaw: Flaw, _ way: Way) throws {
            try withProxy(.servesUnverified) { proxy in
                let origin = try proxy.greeter(flaw.kind)
                for _ in 0..<2 {
                    let client = try way.open(proxy, origin)
                    #expect(try client.get("/").body.text == "hello")
                    try client.finish()
                    try client.expectEnd()
                }
                for place in 0..<2 {
                    let connection = try proxy.traffic.connection(place)
                    #expect(connection.outcome == .completed)
                    #expect(connection.originTLS?.verifyError == flaw.words)
                }
            }
        }

        @Test(.enabled(if: FlawedOrigin.isThere), arguments: [false, true])
        func expiredOrigin(isServed: Bool) throws {
            let origin = try FlawedOrigin(.expired)
            let change = PlanChange { plan in
                plan.policy.originTrust.extraAuthorities = [origin.authority]
                plan.policy.originTrust.servesUnverified = isServed
            }
            try withProxy(change) { proxy in
                let client = try proxy.connect()
                let response = try client.get("https://localhost:\(origin.port)/")
                #expect(response.status == (isServed ? 200 : 502))
                try client.finish()
                try client.expectEnd()
                let connection = try proxy.traffic.connection()
                #expect(connection.originTLS?.verifyError == "certificate has expired")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == (isServed ? nil : "origin-certificate"))
            }
        }

        @Test(arguments: flaws)
        func untrustedOriginIsNotServedInAbsoluteFormEither(_ flaw: Flaw) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(flaw.kind) { wire, _ in try wire.expectEnd() }
                let client = try proxy.connect()
                for place in 0..<3 {
                    let response = try client.get("https://localhost:\(origin.port)/")
                    #expect(response.status == 502)
                    let exchange = try proxy.traffic.exchange(place)
                    #expect(exchange.error == "origin-certificate")
                }
            }
        }
    }
}
