import Base
import HTTPCodecs
import Origins
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Heads that fit into no buffer.
    @Suite struct LongHeads {
        private static func fields(_ count: Int, _ length: Int) -> String {
            String(repeating: "X: \(String(repeating: "a", count: length))\r\n", count: count)
        }

        static let heads: [(name: String, target: String, fields: String)] = [
            ("a long target", String(repeating: "a", count: 300_000), ""),
            ("a long field", "", fields(1, 900_000)),
            ("many fields", "", fields(100, 10_000)),
            ("at the edge of a buffer", "", fields(1, 72 * 1024 - 60)),
        ]

        @Test(arguments: heads, Way.allCases)
        func pass(_ row: (name: String, target: String, fields: String), _ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    for _ in 0..<2 {
                        let request = try wire.readRequest()
                        try check(request.head.holds(row.fields), "other fields")
                        try check(request.head.holds("/\(row.target) HTTP/1.1"), "other target")
                        try check(request.body.text == "content", "other content")
                        try wire.send(
                            "HTTP/1.1 200 OK\r\n\(row.fields)Content-Length: 5\r\n\r\nhello")
                    }
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                let start = "POST \(way.target("/\(row.target)", origin)) HTTP/1.1\r\n"
                for _ in 0..<2 {
                    try client.send(
                        "\(start)Host: localhost\r\n\(row.fields)"
                            + "Content-Length: 7\r\n\r\ncontent")
                    let response = try client.readResponse()
                    #expect(response.body.text == "hello")
                    #expect(response.head.holds(row.fields))
                }
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == nil)
                #expect(exchange.requestHead.text.holds(row.fields))
                #expect(exchange.responseHead.text.holds(row.fields))
            }
        }

        /// HTTP/2 has no head of this size: the client gets an answer in the place of the response.
        @Test func areRefusedToClientsOfHTTP2() throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http1 }) { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in
                    while let head = try wire.readHeadOrEnd() {
                        let count = head.holds("/long") ? 70 : 1
                        try wire.sendIfTaken(
                            [UInt8](
                                ("HTTP/1.1 200 OK\r\n\(Self.fields(count, 10_000))"
                                    + "Content-Length: 5\r\n\r\nhello").utf8))
                    }
                }
                let client = try proxy.http2Client(to: origin)
                #expect(try client.get("/long").status == 502)
                #expect(try client.get("/short").body.text == "hello")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == "head-too-large")
                #expect(exchange.status == 502)
                #expect(exchange.answeredByTool)
                client.wire.close()
            }
        }

        /// The same for requests that have to go on in HTTP/2.
        @Test func areRefusedToOriginsOfHTTP2() throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http2 }) { proxy in
                let origin = try proxy.http2Origin { peer, _ in try peer.serve() }
                let wire = try proxy.secureTunnel(to: origin)
                try wire.send(
                    "GET /a HTTP/1.1\r\nHost: localhost\r\n\(Self.fields(70, 10_000))\r\n")
                #expect(try wire.readResponse().status == 431)
                try wire.send("GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try wire.readResponse().body.text == "hello /b")
                wire.close()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == "head-too-large")
                #expect(exchange.status == 431)
            }
        }

        /// One that goes on and on is refused at the limit, and what came is in the record.
        @Test(arguments: [1 << 20, 200_000])
        func areBounded(limit: Int) throws {
            try withProxy(.limit(\.headSize, limit)) { proxy in
                let client = try proxy.connect()
                try client.sendIfTaken(
                    [UInt8]("GET http://a/ HTTP/1.1\r\nHost: a\r\nX: ".utf8)
                        + [UInt8](repeating: 0x61, count: limit))
                #expect(try client.readResponse().status == 431)
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.requestHead.count >= limit)
            }
        }

        /// Those who never end their heads take no room from one who does: the oldest goes.
        @Test func anotherClientHasRoom() throws {
            let ledger = LongHeadLedger(byteLimit: 10_000)
            func piece(_ text: String) -> ByteBuffer {
                let buffer = ByteBuffer(capacity: 1000)
                buffer.append([UInt8](text.utf8))
                return buffer
            }
            let filler = String(repeating: "a", count: 990)
            let stalled = (0..<10).map { _ in LongHead(limit: 100_000, in: ledger) }
            for head in stalled { _ = try head.take(piece(filler)) }
            let whole = LongHead(limit: 100_000, in: ledger)
            _ = try whole.take(piece(filler))
            #expect(try whole.take(piece(filler + "\r\n\r\n")))
            #expect(whole.bytes.count == 1984)
            #expect(ledger.byteCount <= 10_000)
            // The oldest are told once they go on; the others may.
            for (place, head) in stalled.enumerated() {
                if place < 2 {
                    #expect(throws: HTTP1Violation.headTooLarge) { try head.take(piece("a")) }
                } else {
                    _ = try head.take(piece("a"))
                }
                #expect(head.bytes.starts(with: filler.utf8.prefix(100)))
            }
        }

        /// What is held is counted, whichever way it ends.
        @Test func whatIsGoneCountsNoLonger() throws {
            let ledger = LongHeadLedger(byteLimit: 1500)
            let bytes = ByteBuffer(capacity: 1000)
            bytes.append([UInt8](repeating: 0x61, count: 1000))
            do {
                let oldest = LongHead(limit: 100_000, in: ledger)
                _ = try oldest.take(bytes)
                let other = LongHead(limit: 100_000, in: ledger)
                _ = try other.take(bytes)
                #expect(ledger.byteCount == 1000)
            }
            #expect(ledger.byteCount == 0)
        }

        @Test func anEndInTheMiddleIsRecorded() throws {
            try withProxy { proxy in
                let client = try proxy.connect()
                try client.send("GET http://a/ HTTP/1.1\r\nHost: a\r\n\(Self.fields(20, 10_000))")
                try client.finish()
                _ = try client.readToEnd()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == "client-closed")
                #expect(exchange.requestHead.count > 200_000)
            }
        }
    }
}
