import Base
import Dispatch
import HTTP2Frames
import HTTPCodecs
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What is said of ends and faults on connections of HTTP/2: the same as of HTTP/1.
    @Suite struct HTTP2Judgements {
        /// Who has taken our settings has taken our certificate; who only spoke first may not have.
        @Test(arguments: [true, false])
        func aClientWithoutARequestHasRefusedUnlessItAnswered(isAnswered: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, _ in try peer.serve() }
                let client = try proxy.http2Client(to: origin)
                if isAnswered {
                    try client.wait("settings") { $0.hasSettings }
                    try client.say(.ping())
                    try client.wait("what is said behind our answer") {
                        $0.session.count(of: .ping) > 0
                    }
                }
                client.wire.close()
                let connection = try proxy.http2Connection()
                #expect(connection.outcome == (isAnswered ? .completed : .clientRefused))
                if isAnswered { #expect(connection.cause == "client closed without a request") }
            }
        }

        /// An origin that takes a request and says nothing.
        private static func silent(
            _ proxy: ProxyUnderTest, _ came: DispatchSemaphore
        ) throws -> ScriptedOrigin {
            try proxy.http2Origin { peer, _ in
                _ = try peer.needRequest()
                came.signal()
                try peer.waitForEnd()
            }
        }

        /// A client that ends its connection is told of as in HTTP/1.
        @Test(arguments: [true, false])
        func aClientThatLeavesBreaksItsConnection(isRequestWhole: Bool) throws {
            try withProxy { proxy in
                let came = DispatchSemaphore(value: 0)
                let client = try proxy.http2Client(to: try Self.silent(proxy, came))
                _ = try client.request("POST /a HTTP/1.1", endsStream: isRequestWhole)
                came.wait()
                client.wire.close()
                #expect(try proxy.traffic.exchange().error == "client-closed")
                let connection = try proxy.http2Connection()
                #expect(connection.outcome == .broken)
                #expect(connection.closedBy == .client)
            }
        }

        /// Who says goodbye first has ended in order, also where a stream lasts.
        @Test func aClientThatSaysGoodbyeEndsInOrder() throws {
            try withProxy { proxy in
                let came = DispatchSemaphore(value: 0)
                let client = try proxy.http2Client(to: try Self.silent(proxy, came))
                _ = try client.request("GET /a HTTP/1.1")
                came.wait()
                try client.say(.goAway(last: 0))
                client.wire.close()
                #expect(try proxy.traffic.exchange().error == "client-closed")
                #expect(try proxy.http2Connection().outcome == .completed)
            }
        }

        /// Content that a head does not allow is the fault of who sends it: the reset that follows
        /// is ours (RFC 9113 §8.1.1).
        @Test(arguments: [("2", "hello", "200"), ("10", "hello", "200"), ("5", "hello", "204")])
        func contentThatItsHeadForbids(_ row: (length: String, content: String, status: String))
            throws
        {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    let fields = [(":status", row.status), ("content-length", row.length)]
                    try peer.say(
                        .headers(
                            UInt32(stream), row.status == "204" ? [fields[0]] : fields, ends: false),
                        .data(UInt32(stream), Array(row.content.utf8), ends: true))
                    try peer.waitForEnd()
                }
                let client = try proxy.http2Client(to: origin)
                _ = try client.get("/a")
                let record = try proxy.traffic.exchange()
                #expect(record.error == "bad-response")
                #expect(record.errorDetail?.contains("content-length") == true)
                client.wire.close()
            }
        }

        @Test(arguments: ["2", "10"])
        func contentOfRequestsThatIsNotAsLongAsSaid(_ length: String) throws {
            try withProxy { proxy in
                // It answers nobody: an answer ahead of the content would end the exchange.
                let origin = try proxy.http2Origin { peer, _ in
                    while try peer.nextRequest() != nil {}
                }
                let client = try proxy.http2Client(to: origin)
                try client.say(
                    .headers(
                        1,
                        [
                            (":method", "POST"), (":scheme", "https"), (":path", "/a"),
                            (":authority", "localhost"), ("content-length", length),
                        ], ends: false))
                try client.say(.data(1, Array("hello".utf8), ends: true))
                let record = try proxy.traffic.exchange()
                #expect(record.error == "bad-request")
                #expect(record.errorDetail?.contains("content-length") == true)
                client.wire.close()
            }
        }

        /// A path that begins otherwise than with a slash is answered: a client takes a reset alone
        /// for a fault of the moment, and asks again. The library looks at two schemes alone.
        @Test(
            arguments: ["foo", "*foo", "*", "https://localhost/", "a b"],
            ["http", "https", "ftp"])
        func pathsWithoutASlashAreAnswered(_ path: String, _ scheme: String) throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    while let (stream, head) = try peer.nextRequest() {
                        try check(head.path.text == "/next", head.path.text)
                        try peer.respond(stream)
                    }
                }
                let wire = try proxy.secureTunnel(to: origin, protocols: ["h2"])
                let client = try RawHTTP2(wire)
                for (stream, asked) in [(1, path), (3, "/next")] as [(UInt32, String)] {
                    try client.request(
                        stream: stream,
                        [
                            (":method", "GET"), (":scheme", scheme), (":authority", "localhost"),
                            (":path", asked),
                        ])
                }
                // By the static table (RFC 7541 §A): 400, then 200.
                let answer = try client.next(of: 1)
                #expect(answer.type == 1 && answer.payload.first == 0x8C)
                #expect(try client.next(of: 3).payload.first == 0x88)
                _ = try proxy.traffic.exchange(1)
                let records = proxy.traffic.content.finalExchanges.sorted { $0.stream < $1.stream }
                #expect(records.map(\.status) == [400, 200])
                #expect(records.map(\.error) == ["bad-request", nil])
                #expect(records.first?.authority == "localhost")
                #expect(records.map(\.answeredByTool) == [true, false])
                wire.close()
            }
        }

        /// So is one of an extended CONNECT, for which an origin of HTTP/1 would be asked by GET.
        @Test(arguments: ["foo", "https://other/x"])
        func pathsOfAnExtendedConnectAreLookedAt(_ path: String) throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http1 }) { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in try wire.expectEnd() }
                let wire = try proxy.secureTunnel(to: origin, protocols: ["h2"])
                let client = try RawHTTP2(wire)
                try client.request(
                    stream: 1,
                    [
                        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "ftp"),
                        (":authority", "localhost"), (":path", path),
                        ("sec-websocket-version", "13"),
                    ])
                let answer = try client.next(of: 1)
                #expect(answer.type == 1 && answer.payload.first == 0x8C)
                wire.close()
            }
        }

        /// The client's direction of it has no end: left open, the stream would count as one.
        @Test(arguments: ["Content-Length: 2\r\n\r\nno", "Content-Length: 0\r\n\r\n"])
        func refusedExtendedConnectIsClosed(_ answer: String) throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http1 }) { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 403 Forbidden\r\n\(answer)")
                    try wire.expectEnd()
                }
                let client = try RawHTTP2(try proxy.secureTunnel(to: origin, protocols: ["h2"]))
                try client.request(
                    stream: 1, endsStream: false,
                    [
                        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"),
                        (":authority", "localhost"), (":path", "/chat"),
                        ("sec-websocket-version", "13"),
                    ])
                #expect(try client.next(of: 1).type == 1)
                var last = try client.next(of: 1)
                while last.type == 0 { last = try client.next(of: 1) }
                #expect(last.type == 3 && last.payload == [0, 0, 0, 0])
                client.wire.close()
            }
        }

        /// What is no HTTP/2 is told as in HTTP/1.
        @Test func garbageIsABadResponse() throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    _ = try peer.needRequest()
                    try peer.wire.send(
                        "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 99))
                    try peer.waitForEnd()
                }
                let client = try proxy.http2Client(to: origin)
                #expect(try client.get("/a").field("sallyport-error") == "bad-response")
                let record = try proxy.traffic.exchange()
                #expect(record.error == "bad-response")
                #expect(record.errorDetail?.hasPrefix("the origin broke HTTP/2: ") == true)
                client.wire.close()
            }
        }
    }
}
