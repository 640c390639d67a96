import Base
import Dispatch
import Sockets
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What a client that was led here meets where its origin fails: nothing that only a proxy
    /// could have said.
    @Suite struct MirroredFailures {
        /// What the origin says to the ClientHello before it ends the connection.
        static let refusals: [(name: String, bytes: [UInt8])] = [
            ("an alert", [21, 3, 3, 0, 2, 2, 40]), ("the end", []),
            ("no TLS", [UInt8]("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
        ]

        /// It gets an alert in place of a certificate of ours, with a page behind it.
        @Test(arguments: refusals)
        func refusedHandshake(_ row: (name: String, bytes: [UInt8])) throws {
            let led = try LedPort()
            let origin = try ScriptedOrigin { wire, _ in
                _ = try wire.read(1)
                try wire.sendIfTaken(row.bytes)
                try wire.finish()
                _ = try wire.readToEnd()
            }
            try withProxy(PlanChange { led.lead(&$0, to: origin.address) }) { proxy in
                proxy.adopt(origin)
                let client = try Wire.connect(to: led.address)
                let session = ProxyUnderTest.clientSession(for: "localhost")
                let first = try client.beginSecuring(session)
                #expect(first == [21, 3, 1, 0, 2, 2, 40])
                // Whoever was shown a certificate would wait for more.
                if first.first == 21 { #expect(try client.readToEnd() == []) }
                client.close()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .originHandshakeFailed)
                #expect(connection.exchangeCount == 0)
                #expect(connection.clientTLS?.alerts.map(\.name) == ["handshake_failure"])
                #expect(proxy.traffic.content.exchanges.isEmpty)
                #expect(origin.acceptedCount == 1)
            }
        }

        /// Whoever waits for half a head too long for its origin's taste is told by that.
        @Test(arguments: ["", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"])
        func originThatEndsWithinAHeadEndsItsClient(_ words: String) throws {
            let led = try LedPort()
            let answered = DispatchSemaphore(value: 0)
            let origin = try ScriptedOrigin { wire, _ in
                _ = try wire.readHead()
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                answered.wait()
                try wire.send(words)
                try wire.finish()
                _ = try wire.readToEnd()
            }
            try withProxy(PlanChange { led.lead(&$0, to: origin.address) }) { proxy in
                proxy.adopt(origin)
                let client = try Wire.connect(to: led.address)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHo")
                #expect(try client.readResponse().body.text == "ok")
                answered.signal()
                #expect(try client.readToEnd().text == words)
                #expect(client.end == .inOrder)
                let exchange = try proxy.traffic.wait(for: "the half one") { content in
                    content.finalExchanges.first { $0.error != nil }
                }
                #expect(exchange.error == "origin-closed")
                #expect(exchange.responseHead.text == words)
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .broken)
                #expect(connection.closedBy == .origin)
            }
        }

        /// A tunnel's end, a dialogue's or an upgrade's, is told as it came: what was cut off, or broken
        /// off, must not pass for all.
        @Test(arguments: [false, true], [Wire.End.inOrder, .cutOff, .reset])
        func endOfADialogueIsTheOrigins(_ isSecure: Bool, _ end: Wire.End) throws {
            guard isSecure || end != .cutOff else { return }
            let led = try LedPort()
            let origin = try ScriptedOrigin(isSecure ? .tls : .plain) { wire, _ in
                _ = try wire.read(5)
                try wire.send("world")
                switch end {
                case .inOrder: try wire.finish()
                case .cutOff: wire.hangUp()
                case .reset: wire.reset()
                }
                if end != .reset { _ = try wire.readToEnd() }
            }
            try withProxy(PlanChange { led.lead(&$0, to: origin.address) }) { proxy in
                proxy.adopt(origin)
                let client = try Wire.connect(to: led.address)
                if isSecure {
                    try client.secure(
                        ProxyUnderTest.clientSession(for: "localhost", protocols: []))
                }
                try client.send("hello")
                let said = try client.readToEnd().text
                if end != .reset { #expect(said == "world") }
                #expect(client.end == end)
                client.close()
                let connection = try proxy.traffic.connection()
                let whole = isSecure ? ConnectionRecord.Outcome.completed : .passedThrough
                #expect(connection.outcome == (end == .reset ? .broken : whole))
            }
        }

        /// Who answers and closes while it is still sent to is heard: what it has said waits behind the
        /// reset that its end makes of what comes.
        @Test func lastWordsOfASideThatClosesAreHeard() throws {
            let led = try LedPort()
            let origin = try ScriptedOrigin { wire, _ in
                _ = try wire.read(5)
                try wire.send("552 no\r\n")
                wire.close()
            }
            try withProxy(PlanChange { led.lead(&$0, to: origin.address) }) { proxy in
                proxy.adopt(origin)
                for _ in 0..<30 {
                    let client = try Wire.connect(to: led.address)
                    for _ in 0..<40 {
                        try client.sendIfTaken([UInt8](repeating: 0x61, count: 300))
                    }
                    #expect(try client.readToEnd().text == "552 no\r\n")
                    client.close()
                }
            }
        }

        /// A reset that a write is told of leaves an end behind, and no error, for who reads.
        @Test func aResetThatAWriteIsToldOfIsNoEnd() throws {
            let led = try LedPort()
            let isReset = DispatchSemaphore(value: 0)
            let origin = try ScriptedOrigin { wire, _ in
                _ = try wire.read(5)
                _ = try wire.fill(sampleBytes(100_000), upTo: 50_000_000, patience: 300)
                wire.reset()
                isReset.signal()
            }
            try withProxy(PlanChange { led.lead(&$0, to: origin.address) }) { proxy in
                proxy.adopt(origin)
                let client = try Wire.connect(to: led.address)
                try client.send([0, 1, 2, 3, 4])
                #expect(isReset.wait(timeout: .now() + .seconds(Wire.patience)) == .success)
                try client.send([5])
                _ = try client.readToEnd()
                #expect(client.end == .reset)
                client.close()
                #expect(try proxy.traffic.connection().outcome == .broken)
            }
        }

        /// It is refused too, before anything that it says: as nearly as who has accepted it can.
        @Test func refusedPort() throws {
            let (led, closed) = (try LedPort(), try ClosedPort())
            let nobody = try #require(SocketAddress(literal: "127.0.0.1", port: closed.port))
            try withProxy(PlanChange { led.lead(&$0, to: nobody) }) { proxy in
                let client = try Wire.connect(to: led.address)
                #expect(try client.readToEnd() == [])
                #expect(client.end == .reset)
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .originUnreachable)
                #expect(connection.exchangeCount == 0)
                #expect(proxy.traffic.content.exchanges.isEmpty)
            }
        }
    }
}
