import Base
import HTTP2Frames
import HTTPCodecs
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Clients of HTTP/2, with origins of either version.
    @Suite struct HTTP2Exchanges {
        enum OriginKind: CaseIterable {
            case http1, http2

            /// An origin of HTTP/1 has HTTP/2 translated for it.
            var plan: PlanChange {
                PlanChange { [self] in if self == .http1 { $0.policy.originVersion = .http1 } }
            }
        }

        /// An origin that answers every request with its path.
        private func greeter(_ proxy: ProxyUnderTest, _ kind: OriginKind) throws -> ScriptedOrigin {
            switch kind {
            case .http2: try proxy.http2Origin { peer, _ in try peer.serve() }
            case .http1:
                try proxy.origin(.tls) { wire, _ in
                    while let head = try wire.readHeadOrEnd() {
                        let text = "hello " + head.split(separator: " ")[1]
                        try wire.send(
                            "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
                    }
                }
            }
        }

        @Test(arguments: OriginKind.allCases)
        func isServedAndRecorded(_ kind: OriginKind) throws {
            try withProxy(kind.plan) { proxy in
                let origin = try greeter(proxy, kind)
                let client = try proxy.http2Client(to: origin)
                let seen = try client.get("/a?b", authority: origin.authority, fields: "|X-A:  1")
                #expect(seen.status == 200)
                #expect(seen.body.text == "hello /a?b")
                let record = try proxy.traffic.exchange()
                #expect(record.protocolName == "HTTP/2")
                #expect(record.originProtocolName == (kind == .http1 ? "HTTP/1.1" : nil))
                #expect(record.stream == 1)
                #expect(record.error == nil)
                #expect(
                    record.requestHead.text
                        == "GET /a?b HTTP/2.0\r\nhost: \(origin.authority)\r\nx-a: 1\r\n\r\n")
                #expect(proxy.traffic.body(record, .response).text == "hello /a?b")
                client.wire.close()
                let connection = try proxy.http2Connection()
                #expect(connection.outcome == .completed)
                #expect(connection.clientTLS?.alpn == "h2")
            }
        }

        @Test(arguments: OriginKind.allCases)
        func interimHeadsAndTrailersPass(_ kind: OriginKind) throws {
            let content = sampleBytes(300_000)
            try withProxy(kind.plan) { proxy in
                let origin =
                    switch kind {
                    case .http2:
                        try proxy.http2Origin { peer, _ in
                            let (stream, _) = try peer.needRequest()
                            peer.session.inform(
                                stream, try HTTP2Peer.response("HTTP/1.1 103 E|Link: x"))
                            try peer.wait("the content") { $0.streams[stream]?.hasEnded == true }
                            let seen = peer.streams[stream]
                            try check(seen?.body == content, "content")
                            try check(seen?.trailers == "x-sum: 1\r\n\r\n", seen?.trailers ?? "")
                            try peer.respond(
                                stream, "HTTP/1.1 200 OK", "done", trailers: "x-end: 2")
                            try peer.waitForEnd()
                        }
                    case .http1:
                        try proxy.origin(.tls) { wire, _ in
                            let request = try wire.readRequest()
                            try check(request.body == content, "content")
                            try check(request.trailers == "x-sum: 1\r\n\r\n", request.trailers)
                            try wire.send(
                                "HTTP/1.1 103 E\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n"
                                    + "Transfer-Encoding: chunked\r\n\r\n4\r\ndone\r\n0\r\nx-end: 2\r\n\r\n"
                            )
                            try wire.expectEnd()
                        }
                    }
                let client = try proxy.http2Client(to: origin)
                let stream = try client.request("POST /up HTTP/1.1", endsStream: false)
                try client.send(content, on: stream, trailers: "X-Sum: 1")
                let seen = try client.response(stream)
                #expect(seen.heads.map(\.status) == [103, 200])
                #expect(seen.body.text == "done")
                #expect(seen.trailers == "x-end: 2\r\n\r\n")
                let record = try proxy.traffic.exchange()
                #expect(record.interimHeads.count == 1)
                #expect(record.requestBody.size == 300_000)
                #expect(record.requestBody.trailers.text == "x-sum: 1\r\n\r\n")
                #expect(record.responseBody.trailers.text == "x-end: 2\r\n\r\n")
                #expect(record.error == nil)
                client.wire.close()
            }
        }

        @Test(arguments: OriginKind.allCases)
        func aHundredStreamsAtOnce(_ kind: OriginKind) throws {
            try withProxy(kind.plan) { proxy in
                let origin = try greeter(proxy, kind)
                let client = try proxy.http2Client(to: origin)
                let streams = try (0..<100).map { try client.request("GET /\($0) HTTP/1.1") }
                for (index, stream) in streams.enumerated() {
                    let seen = try client.response(stream)
                    #expect(seen.body.text == "hello /\(index)")
                }
                if kind == .http2 { #expect(origin.acceptedCount == 1) }
                client.wire.close()
                #expect(try proxy.http2Connection().exchangeCount == 100)
            }
        }

        @Test func sideFramesAreMessages() throws {
            try withProxy { proxy in
                let origin = try greeter(proxy, .http2)
                let client = try proxy.http2Client(to: origin)
                try client.say(
                    Frame(16, [0, 0, 0, 1] + Array("u=1".utf8)), Frame(0xEE, stream: 9, [1]))
                _ = try client.get("/")
                client.wire.close()
                let connection = try proxy.http2Connection()
                let messages = proxy.traffic.content.messages[connection.id] ?? []
                #expect(messages.map(\.kind) == [.frame, .frame])
                #expect(
                    messages.map(\.detail) == [
                        "PRIORITY_UPDATE on stream 0", "type 238 on stream 9",
                    ])
                #expect(messages.first?.bytes.suffix(3).text == "u=1")
                #expect(connection.messageCount == 2)
            }
        }

        @Test func twoHostsAreRefused() throws {
            try withProxy { proxy in
                let origin = try greeter(proxy, .http2)
                let client = try proxy.http2Client(to: origin)
                try client.say(.headers(1, Frame.get() + [("host", "b.test")]))
                let record = try proxy.traffic.exchange()
                #expect(record.status == 400)
                #expect(record.error == "request-smuggling")
                #expect(record.answeredByTool)
                client.wire.close()
            }
        }

        @Test func malformedHeadsAreRecordedAndOthersServed() throws {
            try withProxy { proxy in
                let origin = try greeter(proxy, .http2)
                let wire = try proxy.secureTunnel(to: origin, protocols: ["h2"])
                let large = (0..<70).map { ("x-\($0)", String(repeating: "a", count: 1000)) }
                let block = Frame.block(Frame.get() + large)
                var frames = [Frame(1, flags: 1, stream: 3, Array(block[..<16384]))]
                for start in stride(from: 16384, to: block.count, by: 16384) {
                    let end = min(block.count, start + 16384)
                    frames.append(
                        Frame(
                            9, flags: end == block.count ? 4 : 0, stream: 3,
                            Array(block[start..<end])))
                }
                try wire.send(
                    Frame.preface + Frame.headers(1, Frame.get("/", [("Upper", "1")])).bytes
                        + frames.flatMap(\.bytes) + Frame.headers(5, Frame.get("/last")).bytes)
                let records = try (0...2).map { try proxy.traffic.exchange($0) }
                    .sorted { $0.stream < $1.stream }
                #expect(records.map(\.stream) == [1, 3, 5])
                #expect(records.map(\.error) == ["bad-request", "bad-request", nil])
                #expect(records[0].errorDetail == "the field Upper is not allowed")
                #expect(records[1].errorDetail?.contains("65536") == true)
                wire.close()
            }
        }

        // MARK: Clients that go

        @Test(arguments: OriginKind.allCases)
        func aClientThatResetsIsNotWaitedFor(_ kind: OriginKind) throws {
            try withProxy(kind.plan) { proxy in
                let origin =
                    switch kind {
                    case .http2:
                        try proxy.http2Origin { peer, _ in
                            let (stream, _) = try peer.needRequest()
                            try peer.wait("the reset") { $0.streams[stream]?.code == 8 }
                            try peer.serve()
                        }
                    case .http1:
                        try proxy.origin(.tls) { wire, number in
                            if number == 0 {
                                _ = try wire.readHead()
                                try wire.expectEnd()
                            } else {
                                try wire.greet()
                            }
                        }
                    }
                let client = try proxy.http2Client(to: origin)
                let stream = try client.request("GET /slow HTTP/1.1")
                // The head has come through when the next request of the connection is there.
                pause(milliseconds: 50)
                client.session.reset(stream, HTTP2ErrorCode.cancel)
                try client.flush()
                let record = try proxy.traffic.exchange()
                #expect(record.error == "client-reset")
                #expect(try client.get("/next").status == 200)
                client.wire.close()
            }
        }

        @Test(arguments: OriginKind.allCases)
        func aClientThatLeavesEndsItsStreams(_ kind: OriginKind) throws {
            try withProxy(kind.plan) { proxy in
                let origin =
                    switch kind {
                    case .http2:
                        try proxy.http2Origin { peer, _ in
                            _ = try peer.needRequest()
                            try peer.waitForEnd()
                        }
                    case .http1:
                        try proxy.origin(.tls) { wire, _ in
                            _ = try wire.readHead()
                            _ = try wire.readToEnd()
                        }
                    }
                let client = try proxy.http2Client(to: origin)
                let first = try client.request("POST /a HTTP/1.1", endsStream: false)
                try client.send(sampleBytes(20_000), on: first, ends: false)
                pause(milliseconds: 50)
                client.wire.close()
                let record = try proxy.traffic.exchange()
                #expect(["client-closed", "client-reset"].contains(record.error))
                let connection = try proxy.http2Connection()
                #expect(connection.closedBy == ConnectionRecord.Side.client)
            }
        }

        /// Contents that nobody reads must not keep the connection's window shut.
        @Test func refusedContentsOpenTheWindow() throws {
            try withProxy { proxy in
                let closed = try ClosedPort()
                let wire = try proxy.connect()
                let client = try HTTP2Peer(.client, wire)
                let content = sampleBytes(60_000)
                for _ in 0..<40 {
                    let stream = try client.request(
                        "POST / HTTP/1.1", authority: "127.0.0.1:\(closed.port)", scheme: "http",
                        endsStream: false)
                    try client.send(content, on: stream)
                    let seen = try client.response(stream)
                    #expect(seen.status == 502)
                    #expect(seen.field("sallyport-error") == "connect-failed")
                }
                wire.close()
                #expect(try proxy.http2Connection().exchangeCount == 40)
            }
        }
    }
}
