import Base
import Dispatch
import HTTP2Frames
import HTTPCodecs
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Origins of HTTP/2 that do not simply answer.
    @Suite struct HTTP2Origins {
        /// Streams below the last one of GOAWAY go on; those above are asked for again elsewhere.
        @Test func goAwayInTheMiddle() throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, number in
                    guard number == 0 else { return try peer.serve() }
                    let requests = try (0..<3).map { _ in try peer.needRequest() }
                    let first = try check(requests.first { $0.head.path.text == "/0" })
                    try check(first.stream == 1, "\(first.stream)")
                    try peer.say(.goAway(last: 1))
                    try peer.respond(first.stream, "HTTP/1.1 200 OK", "first")
                    try peer.waitForEnd()
                }
                let client = try proxy.http2Client(to: origin)
                var streams: [Int32] = []
                for index in 0..<3 { streams.append(try client.request("GET /\(index) HTTP/1.1")) }
                #expect(try client.response(streams[0]).body.text == "first")
                #expect(try client.response(streams[1]).body.text == "hello /1")
                #expect(try client.response(streams[2]).body.text == "hello /2")
                #expect(try client.get("/3").body.text == "hello /3")
                #expect(origin.acceptedCount == 2)
                client.wire.close()
                let connection = try proxy.http2Connection()
                #expect(connection.exchangeCount == 4)
                #expect(proxy.traffic.content.finalExchanges.allSatisfy { $0.error == nil })
            }
        }

        /// Whatever the client speaks, also with content, as long as none of it is gone
        /// (RFC 9113 §8.7).
        @Test(arguments: [("HTTP/1.1", 0), ("HTTP/1.1", 10), ("HTTP/2", 0), ("HTTP/2", 10)])
        func refusedStreamsAreRepeated(_ version: String, size: Int) throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http2 }) { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    for _ in 0..<2 {
                        let (stream, _) = try peer.needRequest()
                        peer.session.reset(stream, HTTP2ErrorCode.refusedStream)
                    }
                    try peer.serve()
                }
                let method = size == 0 ? "GET" : "POST"
                let answer: (status: Int, body: String)
                if version == "HTTP/2" {
                    let client = try proxy.http2Client(to: origin)
                    let stream = try client.request(
                        "\(method) /a HTTP/1.1", endsStream: size == 0)
                    let seen = try client.response(stream)
                    answer = (seen.status, seen.body.text)
                    client.wire.close()
                } else {
                    let wire = try proxy.secureTunnel(to: origin)
                    try wire.send(
                        "\(method) /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(size)"
                            + "\r\n\r\n")
                    let seen = try wire.readResponse()
                    answer = (seen.status, seen.body.text)
                    wire.close()
                }
                #expect(answer == (200, "hello /a"))
                #expect(origin.acceptedCount == 1)
            }
        }

        /// What is gone cannot be sent again, but the client has it.
        @Test func aRefusalBehindTheContentIsPassedOn() throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    try peer.wait("the content") { $0.streams[stream]?.hasEnded == true }
                    peer.session.reset(stream, HTTP2ErrorCode.refusedStream)
                    try peer.serve()
                }
                let client = try proxy.http2Client(to: origin)
                let stream = try client.request("POST /a HTTP/1.1", endsStream: false)
                try client.send(sampleBytes(10), on: stream)
                #expect(try client.response(stream).code == HTTP2ErrorCode.refusedStream)
                let record = try proxy.traffic.exchange()
                #expect(record.error == "origin-reset")
                #expect(record.requestBody.size == 10)
                client.wire.close()
            }
        }

        /// The origin is to blame when it gives an upload up.
        @Test(arguments: [true, false])
        func anOriginThatResetsAnUpload(isHTTP2: Bool) throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http2 }) { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    try peer.wait("content") { ($0.streams[stream]?.body.count ?? 0) > 0 }
                    peer.session.reset(stream, HTTP2ErrorCode.internalError)
                    try peer.serve()
                }
                if isHTTP2 {
                    let client = try proxy.http2Client(to: origin)
                    let stream = try client.request("POST /a HTTP/1.1", endsStream: false)
                    try client.send(sampleBytes(10), on: stream, ends: false)
                    #expect(try client.response(stream).status == 502)
                    client.wire.close()
                } else {
                    let wire = try proxy.secureTunnel(to: origin)
                    try wire.send(
                        "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nabc")
                    #expect(try wire.readResponse().status == 502)
                    wire.close()
                }
                #expect(try proxy.traffic.exchange().error == "origin-reset")
            }
        }

        @Test func anOriginThatRefusesForEverIsGivenUp() throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    while let (stream, _) = try peer.nextRequest() {
                        peer.session.reset(stream, HTTP2ErrorCode.refusedStream)
                    }
                }
                let client = try proxy.http2Client(to: origin)
                let seen = try client.get("/a")
                #expect(seen.status == 502)
                #expect(seen.field("sallyport-error") == "origin-reset")
                client.wire.close()
            }
        }

        struct ResetRow: CustomTestStringConvertible, Sendable {
            let name: String
            let code: UInt32
            let afterHead: Bool
            var testDescription: String { name }
        }

        static let resets: [ResetRow] = [
            .init(name: "before the head", code: 2, afterHead: false),
            .init(name: "behind the head", code: 2, afterHead: true),
            .init(name: "with a code of its own", code: 0xDEAD, afterHead: true),
            .init(name: "without an error", code: 0, afterHead: false),
        ]

        @Test(arguments: resets)
        func anOriginThatResets(_ row: ResetRow) throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    if row.afterHead {
                        try peer.respond(stream, "HTTP/1.1 200 OK", "part", ends: false)
                    }
                    peer.session.reset(stream, row.code)
                    try peer.serve()
                }
                let client = try proxy.http2Client(to: origin)
                let seen = try client.get("/a")
                let record = try proxy.traffic.exchange()
                #expect(record.error == "origin-reset")
                if row.afterHead {
                    #expect(seen.code == row.code)
                    #expect(record.status == 200)
                    #expect(proxy.traffic.body(record, .response).text == "part")
                } else {
                    #expect(seen.status == 502)
                    #expect(record.answeredByTool)
                }
                #expect(try client.get("/next").status == 200)
                client.wire.close()
            }
        }

        @Test(arguments: [false, true])
        func anOriginThatDies(afterHead: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, number in
                    guard number == 0 else { return try peer.serve() }
                    let (first, _) = try peer.needRequest()
                    _ = try peer.needRequest()
                    if afterHead { try peer.respond(first, "HTTP/1.1 200 OK", "part", ends: false) }
                    peer.wire.reset()
                }
                let client = try proxy.http2Client(to: origin)
                let first = try client.request("GET /a HTTP/1.1")
                let second = try client.request("POST /b HTTP/1.1")
                let seen = try client.response(first)
                if afterHead {
                    #expect(seen.code == HTTP2ErrorCode.internalError)
                } else {
                    #expect([200, 502].contains(seen.status))
                }
                let other = try client.response(second)
                #expect(other.status == 502)
                #expect(other.field("sallyport-error") == "origin-closed")
                #expect(try client.get("/next").status == 200)
                client.wire.close()
            }
        }

        /// What an origin says that is no response.
        static let malformed: [[(String, String)]] = [
            [(":status", "200"), ("Upper", "1")], [(":status", "2x0")], [("a", "1")],
            [(":status", "200"), ("connection", "close")],
            [(":status", "200"), ("content-length", "5")],
            [(":status", "200"), ("x", String(repeating: "a", count: 16000))],
        ]

        @Test(arguments: malformed.indices)
        func malformedResponsesAreToldApart(index: Int) throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    try peer.say(.headers(UInt32(stream), Self.malformed[index]))
                    try peer.waitForEnd()
                }
                let client = try proxy.http2Client(to: origin)
                let seen = try client.get("/a")
                let record = try proxy.traffic.exchange()
                if index == Self.malformed.count - 1 {
                    #expect(seen.status == 200)
                } else {
                    #expect(seen.status == 502)
                    #expect(record.error == "bad-response")
                }
                client.wire.close()
            }
        }

        /// An answer ahead of the content: neither side waits for the rest.
        @Test(arguments: [false, true])
        func anAnswerAheadOfTheContent(originResets: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin(consumes: false) { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    try peer.wait("content") { $0.streams[stream]?.body.count == 256 << 10 }
                    try peer.respond(stream, "HTTP/1.1 413 Large", "no")
                    if originResets { peer.session.reset(stream, 0) }
                    try peer.serve()
                }
                let client = try proxy.http2Client(to: origin)
                let stream = try client.request("POST /a HTTP/1.1", endsStream: false)
                try client.send(sampleBytes(2_000_000), on: stream, ends: false)
                let seen = try client.response(stream)
                #expect(seen.status == 413)
                let record = try proxy.traffic.exchange()
                #expect(record.error == nil)
                #expect(try client.get("/next").status == 200)
                client.wire.close()
            }
        }

        /// The same for a client of HTTP/1.
        @Test(arguments: [false, true])
        func anAnswerAheadOfTheContentOfHTTP1(originResets: Bool) throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http2 }) { proxy in
                let origin = try proxy.http2Origin(consumes: false) { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    try peer.wait("content") { $0.streams[stream]?.body.count == 256 << 10 }
                    try peer.respond(stream, "HTTP/1.1 413 Large", "no")
                    if originResets { peer.session.reset(stream, 0) }
                    try peer.serve()
                }
                let wire = try proxy.secureTunnel(to: origin)
                try wire.send(
                    "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n")
                try wire.send(sampleBytes(400_000))
                let seen = try wire.readResponse()
                #expect(seen.status == 413)
                #expect(seen.body.text == "no")
                let record = try proxy.traffic.exchange()
                #expect(record.error == nil)
                #expect(record.originProtocolName == "HTTP/2")
                wire.close()
            }
        }

        /// A client of HTTP/1 has all that was told, and need not wait for an origin that is slow to end
        /// its stream.
        @Test(arguments: [(5, 5), (5, 6), (200_000, 200_000)])
        func aClientThatHasTheWholeLengthMayLeave(size: Int, length: Int) throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http2 }) { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    let head = "HTTP/1.1 200 OK|content-length: \(length)"
                    try peer.respond(
                        stream, head, String(repeating: "a", count: size), ends: false)
                    try peer.waitForEnd()
                }
                let client = try proxy.secureTunnel(to: origin)
                try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                _ = try client.readHead()
                #expect(try client.read(size).count == size)
                client.reset()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == (length == size ? nil : "client-closed"))
                #expect(exchange.status == 200)
            }
        }

        /// The length of one response says nothing of the next.
        @Test func aClientThatLeavesBeforeTheNextResponseHasLeft() throws {
            let asked = DispatchSemaphore(value: 0)
            try withProxy(PlanChange { $0.policy.originVersion = .http2 }) { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    let (first, _) = try peer.needRequest()
                    try peer.respond(first, "HTTP/1.1 200 OK|content-length: 5", "hello")
                    _ = try peer.needRequest()
                    asked.signal()
                    try peer.waitForEnd()
                }
                let client = try proxy.secureTunnel(to: origin)
                #expect(try client.get("/").body.text == "hello")
                try client.send("GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(asked.wait(timeout: .now() + .seconds(Wire.patience)) == .success)
                client.reset()
                #expect(try proxy.traffic.exchange(0).error == nil)
                #expect(try proxy.traffic.exchange(1).error == "client-closed")
            }
        }

        /// A client that opens no window: its origin is slowed down, and little is held.
        @Test func aSlowClientSlowsItsOrigin() throws {
            try withProxy(.limit(\.bodyTimeout, 500)) { proxy in
                let size = 8 << 20
                let origin = try proxy.http2Origin { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    peer.session.respond(
                        stream, try HTTP2Peer.response("HTTP/1.1 200 OK"), endsStream: false)
                    _ = peer.session.append([UInt8](repeating: 1, count: size).span, to: stream)
                    try peer.flush()
                    try peer.wait("the end") { $0.streams[stream]?.code != nil }
                    try peer.serve()
                }
                let client = try proxy.http2Client(to: origin, consumes: false)
                let stream = try client.request("GET /a HTTP/1.1")
                let seen = try client.response(stream)
                #expect(seen.code != nil && seen.code != 0)
                let record = try proxy.traffic.exchange()
                #expect(record.error != nil)
                // The client's window, what waits for it, what was read, and the origin's window.
                #expect(record.responseBody.size <= 768 << 10)
                #expect(record.responseBody.size >= 256 << 10)
                client.wire.close()
            }
        }
    }

    /// Other protocols on streams.
    @Suite struct HTTP2Tunnels {
        /// CONNECT inside HTTP/2, to the proxy itself.
        @Test func connectIsATunnel() throws {
            try withProxy { proxy in
                let origin = try proxy.greeter()
                let client = try HTTP2Peer(.client, try proxy.connect())
                let stream = try client.request(
                    "CONNECT \(origin.authority) HTTP/1.1", authority: origin.authority,
                    endsStream: false)
                try client.send(
                    Array("GET /in HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8), on: stream, ends: false)
                try client.wait("the answer") {
                    $0.streams[stream]?.body.text.hasSuffix("hello") == true
                }
                #expect(client.streams[stream]?.heads.first?.status == 200)
                client.session.end(stream)
                let seen = try client.response(stream)
                #expect(seen.body.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
                client.wire.close()
                let exchange = try proxy.traffic.wait(for: "the exchange inside") { content in
                    content.finalExchanges.first { $0.requestHead.text.hasPrefix("GET /in ") }
                }
                #expect(exchange.error == nil)
                let connections = try proxy.traffic.wait(for: "two connections") { content in
                    content.finalConnections.count == 2 ? content.finalConnections : nil
                }
                #expect(Set(connections.map(\.protocolName)) == ["h2c", "http/1.1"])
            }
        }

        @Test func connectToNobodyIsAnswered() throws {
            try withProxy { proxy in
                let closed = try ClosedPort()
                let client = try HTTP2Peer(.client, try proxy.connect())
                let stream = try client.request(
                    "CONNECT 127.0.0.1:\(closed.port) HTTP/1.1",
                    authority: "127.0.0.1:\(closed.port)", endsStream: false)
                #expect(try client.response(stream).status == 502)
                client.wire.close()
            }
        }

        /// A client that resets the stream of its tunnel ends what is inside.
        @Test func aTunnelThatIsResetEnds() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.expectEnd()
                }
                let client = try HTTP2Peer(.client, try proxy.connect())
                let stream = try client.request(
                    "CONNECT \(origin.authority) HTTP/1.1", authority: origin.authority,
                    endsStream: false)
                try client.send(
                    Array("GET /in HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8), on: stream, ends: false)
                try client.wait("the tunnel") { $0.streams[stream]?.heads.isEmpty == false }
                pause(milliseconds: 30)
                client.session.reset(stream, HTTP2ErrorCode.cancel)
                try client.flush()
                let exchange = try proxy.traffic.wait(for: "the exchange inside") { content in
                    content.finalExchanges.first { $0.requestHead.text.hasPrefix("GET /in ") }
                }
                #expect(exchange.error == "client-closed")
                client.wire.close()
            }
        }

        private static let handshake: [(String, String)] = [
            (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"),
            (":path", "/chat"), (":authority", "localhost"), ("sec-websocket-version", "13"),
        ]

        /// What agrees with a key of a WebSocket.
        private static func acceptKey(for key: Substring) -> String {
            WebSocketHandshake.acceptKey(for: [UInt8](key.utf8)[...]) { bytes in
                Digests.sha1(unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) })
            }
        }

        /// Reads until `isThere` is so of the frames that came.
        private func read(
            _ wire: Wire, _ parser: inout FrameParser, until isThere: ([Frame]) -> Bool
        ) throws -> [Frame] {
            var frames: [Frame] = []
            while !isThere(frames) {
                let bytes = try wire.read()
                if bytes.isEmpty { throw WireFailure("ended after \(frames.map(\.type))") }
                frames += parser.take(bytes)
            }
            return frames
        }

        /// A WebSocket as a browser opens it, with an origin of HTTP/1.
        @Test func webSocketsReachOriginsOfHTTP1() throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http1 }) { proxy in
                let origin = try proxy.origin(.tls) { wire, _ in
                    let said = try wire.readHead()
                    let key = try check(said.split(separator: "Sec-WebSocket-Key: ").last)
                        .prefix { $0 != "\r\n" }
                    let head = said.lowercased()
                    try check(head.hasPrefix("get /chat http/1.1\r\n"), head)
                    for field in [
                        "upgrade: websocket", "connection: upgrade", "sec-websocket-key: ",
                    ] {
                        try check(head.contains("\r\n\(field)"), head)
                    }
                    try wire.send(
                        "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            + "Sec-WebSocket-Accept: \(Self.acceptKey(for: key))\r\n\r\nfirst")
                    try check(try wire.read(4).text == "ping", "ping")
                    try wire.send("pong")
                    try wire.expectEnd()
                }
                let wire = try proxy.secureTunnel(to: origin, protocols: ["h2"])
                var parser = FrameParser()
                try wire.send(Frame.preface + Frame.headers(1, Self.handshake, ends: false).bytes)
                _ = try read(wire, &parser) { frames in
                    frames.filter { $0.type == 0 }.flatMap(\.payload).text == "first"
                }
                try wire.send(Frame.data(1, Array("ping".utf8)).bytes)
                _ = try read(wire, &parser) { frames in
                    frames.filter { $0.type == 0 }.flatMap(\.payload).text == "pong"
                }
                try wire.send(Frame.data(1, [], ends: true).bytes)
                let record = try proxy.traffic.exchange()
                #expect(record.status == 101)
                #expect(record.error == nil)
                wire.close()
            }
        }

        @Test(arguments: [true, false])
        func webSocketsReachOriginsOfHTTP2(isAllowed: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.http2Origin(allowsExtendedConnect: isAllowed) { peer, _ in
                    while let (stream, head) = try peer.nextRequest() {
                        guard head.isExtendedConnect else {
                            try peer.respond(stream)
                            continue
                        }
                        try check(head.protocolName.text == "websocket", head.protocolName.text)
                        try check(head.path.text == "/chat", head.path.text)
                        try peer.respond(stream, "HTTP/1.1 200 OK", "first", ends: false)
                        try peer.wait("the end") { $0.streams[stream]?.hasEnded == true }
                        try check(peer.streams[stream]?.body.text == "ping", "ping")
                        try peer.send([], on: stream)
                    }
                }
                let client = try proxy.http2Client(to: origin)
                _ = try client.get("/")
                let wire = client.wire
                if isAllowed {
                    try client.wait("the setting") { $0.session.peerSettings.allowsExtendedConnect }
                }
                let fields = Frame.headers(3, Self.handshake, ends: false)
                try wire.send(fields.bytes)
                var parser = FrameParser()
                if isAllowed {
                    _ = try read(wire, &parser) { frames in
                        frames.filter { $0.type == 0 }.flatMap(\.payload).text == "first"
                    }
                    try wire.send(Frame.data(3, Array("ping".utf8), ends: true).bytes)
                    let record = try proxy.traffic.exchange(1)
                    #expect(record.error == nil)
                    #expect(record.status == 200)
                } else {
                    // Who was not told that it may must not ask (RFC 8441 §3).
                    _ = try read(wire, &parser) { $0.contains { $0.type == 3 && $0.stream == 3 } }
                    #expect(try proxy.traffic.exchange(1).error == "bad-request")
                }
                wire.close()
            }
        }
    }
}

/// A value that a script cannot go on without.
func check<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw WireFailure("nothing there") }
    return value
}
