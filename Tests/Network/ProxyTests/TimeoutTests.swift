import Base
import Dispatch
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Sides that are silent, slow or gone.
    @Suite struct Timeouts {
        private static let ways = [Way.absoluteForm, .tunnel13]

        @Test(arguments: ways)
        func slowHeadGets408(_ way: Way) throws {
            try withProxy(.limit(\.headTimeout, 200)) { proxy in
                let origin = try proxy.greeter(way.kind)
                let client = try way.open(proxy, origin)
                let head = "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: loc"
                try client.send(head)
                let response = try client.readResponse()
                #expect(response.status == 408)
                #expect(response.field("sallyport-error") == "timed-out")
                try client.expectEnd()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.requestHead.text == head)
                #expect(exchange.status == 408)
                #expect(exchange.error == "timed-out")
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .timedOut)
                #expect(connection.closedBy == .tool)
            }
        }

        @Test(arguments: [[], [0x16, 3, 1], [UInt8]("PRI ".utf8)])
        func silentClientIsClosed(_ bytes: [UInt8]) throws {
            try withProxy(.limit(\.openingTimeout, 200)) { proxy in
                let client = try proxy.connect()
                try client.send(bytes)
                _ = try client.readToEnd()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .timedOut)
                #expect(connection.closedBy == .tool)
                #expect(connection.clientBytes.received == Int64(bytes.count))
            }
        }

        @Test func silentTunnelIsClosed() throws {
            try withProxy(.limit(\.openingTimeout, 200)) { proxy in
                let origin = try proxy.origin { wire, _ in try wire.expectEnd() }
                let client = try proxy.tunnel(to: origin.authority)
                try client.expectEnd()
                #expect(try proxy.traffic.connection().outcome == .timedOut)
            }
        }

        @Test func silenceInTheHandshakeIsEnded() throws {
            try withProxy(.limit(\.handshakeTimeout, 300)) { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.tunnel(to: origin.authority)
                _ = try client.beginSecuring(ProxyUnderTest.clientSession(for: "localhost"))
                _ = try client.readToEnd()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .timedOut)
                #expect(connection.cause.contains("silent in the handshake"))
            }
        }

        @Test(arguments: ways)
        func idleConnectionIsClosedInOrder(_ way: Way) throws {
            try withProxy(.limit(\.idleTimeout, 200)) { proxy in
                let origin = try proxy.greeter(way.kind)
                let client = try way.open(proxy, origin)
                #expect(try client.get(way.target("/", origin)).status == 200)
                try client.expectEnd()
                #expect(client.end == .inOrder)
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .completed)
                #expect(connection.closedBy == .tool)
            }
        }

        @Test(arguments: [[], ["http/1.1"], ["h2"]])
        func silentClientBehindTheHandshakeIsTold(_ protocols: [String]) throws {
            let limit = protocols == ["h2"] ? \ProxyLimits.idleTimeout : \ProxyLimits.openingTimeout
            try withProxy(.limit(limit, 200)) { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.secureTunnel(to: origin, protocols: protocols)
                if protocols == ["h2"] { _ = try RawHTTP2(client) }
                _ = try client.readToEnd()
                #expect(client.end == .inOrder)
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .completed)
                #expect(connection.cause == "client was silent and sent no request")
                #expect(connection.closedBy == .tool)
            }
        }

        @Test(arguments: ways)
        func silentOriginGets504(_ way: Way) throws {
            try withProxy(.limit(\.responseTimeout, 200)) { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                let response = try client.get(way.target("/", origin))
                #expect(response.status == 504)
                #expect(try proxy.traffic.exchange().error == "origin-timed-out")
                // The client's connection goes on, with another one to the origin.
                #expect(try client.get(way.target("/", origin)).status == 504)
                #expect(origin.acceptedCount == 2)
            }
        }

        @Test func silentOriginInTheHandshakeGets504() throws {
            try withProxy(.limit(\.handshakeTimeout, 300)) { proxy in
                let origin = try proxy.origin { wire, _ in _ = try wire.readToEnd() }
                let client = try proxy.secureTunnel(to: origin)
                let response = try client.get("/")
                #expect(response.status == 504)
                #expect(response.field("sallyport-error") == "origin-handshake-timed-out")
                try client.finish()
                #expect(try proxy.traffic.connection().outcome == .originHandshakeFailed)
            }
        }

        @Test(arguments: ways)
        func stalledRequestIsEnded(_ way: Way) throws {
            try withProxy(.limit(\.bodyTimeout, 200)) { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in _ = try wire.readToEnd() }
                let client = try way.open(proxy, origin)
                try client.send(
                    "POST \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Length: 10\r\n\r\nabc")
                _ = try client.readToEnd()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == "timed-out")
                #expect(proxy.traffic.body(exchange, .request).text == "abc")
                #expect(try proxy.traffic.connection().outcome == .timedOut)
            }
        }

        @Test(arguments: ways)
        func stalledResponseIsBrokenOff(_ way: Way) throws {
            try withProxy(.limit(\.bodyTimeout, 200)) { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try client.readHead().contains(" 200 "))
                #expect(try client.read(3).text == "abc")
                #expect(try client.readToEnd() == [])
                #expect(client.end == .reset)
                #expect(try proxy.traffic.exchange().error == "origin-timed-out")
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .timedOut)
                #expect(connection.closedBy == .origin)
            }
        }

        @Test func clientThatDoesNotReadIsEnded() throws {
            try withProxy(.limit(\.bodyTimeout, 1_000)) { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
                    try wire.sendIfTaken([UInt8](repeating: 7, count: 100_000_000))
                }
                let client = try proxy.connect(receiveBuffer: 16384)
                try client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n\r\n")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == "timed-out")
                #expect(try proxy.traffic.connection().outcome == .timedOut)
                client.close()
            }
        }

        // MARK: Clients that go away

        @Test(arguments: ways, [false, true])
        func clientThatLeavesIsNotWaitedFor(_ way: Way, resets: Bool) throws {
            try withProxy(.limit(\.halfCloseGrace, 300)) { proxy in
                let asked = DispatchSemaphore(value: 0)
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    asked.signal()
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                asked.wait()
                if resets { client.reset() } else { client.close() }
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == "client-closed")
                #expect(exchange.status == 0)
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .broken)
                #expect(connection.closedBy == .client)
            }
        }

        @Test(arguments: ways)
        func clientMayEndItsDirectionAndListen(_ way: Way) throws {
            try withProxy { proxy in
                let ended = DispatchSemaphore(value: 0)
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    ended.wait()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                try client.finish()
                ended.signal()
                #expect(try client.readResponse().body.text == "hello")
                #expect(try proxy.traffic.exchange().error == nil)
            }
        }

        @Test(arguments: ways, [false, true])
        func clientThatLeavesInTheMiddleIsRecorded(_ way: Way, uploads: Bool) throws {
            try withProxy { proxy in
                let asked = DispatchSemaphore(value: 0)
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    asked.signal()
                    if !uploads {
                        try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
                        for _ in 0..<1000 { try wire.sendIfTaken(sampleBytes(10_000)) }
                    }
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "POST \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Length: \(uploads ? 10 : 0)\r\n\r\n")
                if uploads { try client.send("abc") } else { _ = try client.readHead() }
                asked.wait()
                client.reset()
                #expect(try proxy.traffic.exchange().error == "client-closed")
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .broken)
                #expect(connection.closedBy == .client)
            }
        }
    }
}
