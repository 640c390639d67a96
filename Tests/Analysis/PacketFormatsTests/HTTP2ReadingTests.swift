import Base
import Formats
import HTTP2Frames
import Recording
import Testing
import Traffic

@testable import PacketFormats

struct HTTP2ReadingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
        /// As `told` spells exchanges and segments.
        let expected: [String]
        var losses: [String] = []
        var cause = ""
        var protocolName = "h2c"
        var end = End.closed
        /// Whether its first packets were not caught.
        var beginsLate = false

        init(_ name: String, _ steps: [Step], _ expected: String...) {
            testDescription = name
            self.steps = steps
            self.expected = expected
        }

        func losing(_ codes: String...) -> Row { with { $0.losses = codes } }
        func caused(_ cause: String) -> Row { with { $0.cause = cause } }
        func named(_ name: String) -> Row { with { $0.protocolName = name } }
        func ending(_ end: End) -> Row { with { $0.end = end } }
        func late() -> Row { with { $0.beginsLate = true } }

        private func with(_ change: (inout Row) -> Void) -> Row {
            var row = self
            change(&row)
            return row
        }
    }

    /// What one side says at once.
    struct Step: Sendable {
        let direction: Direction
        let bytes: [UInt8]
        var isLost = false

        static func client(_ frames: Frame...) -> Step {
            Step(direction: .request, bytes: frames.flatMap(\.bytes))
        }

        static func origin(_ frames: Frame...) -> Step {
            Step(direction: .response, bytes: frames.flatMap(\.bytes))
        }

        static func text(_ direction: Direction, _ text: String) -> Step {
            Step(direction: direction, bytes: [UInt8](text.utf8))
        }

        var lost: Step { Step(direction: direction, bytes: bytes, isLost: true) }
    }

    enum End: Sendable {
        case closed
        case reset
        /// Not within what was caught.
        case none
    }

    private static let start = [
        Step(direction: .request, bytes: Frame.preface),
        Step(
            direction: .response, bytes: Frame.settings().bytes + Frame.settingsAcknowledged.bytes),
        Step(direction: .request, bytes: Frame.settingsAcknowledged.bytes),
    ]

    private static func request(_ stream: UInt32, ends: Bool = true) -> Frame {
        .headers(stream, Frame.get("/\(stream)"), ends: ends)
    }

    private static func promise(_ stream: UInt32) -> Frame {
        Frame(5, flags: 4, stream: 1, big(stream) + Frame.block(Frame.get("/pushed")))
    }

    private static func connect(_ name: String) -> Frame {
        .headers(
            1,
            [
                (":method", "CONNECT"), (":protocol", name), (":scheme", "http"),
                (":path", "/chat"), (":authority", "a.test"),
            ], ends: false)
    }

    private static func response(
        _ stream: UInt32, _ more: [(String, String)] = [], ends: Bool = false
    ) -> Frame {
        .headers(stream, [(":status", "200")] + more, ends: ends)
    }

    static let whole: [Row] = [
        Row(
            "an exchange",
            start + [.client(request(1)), .origin(response(1), .data(1, [0x61], ends: true))],
            "1 GET /1 > 200 a"),
        Row(
            "the server speaks first",
            [start[1], start[0], .client(request(1)), .origin(response(1, ends: true))],
            "1 GET /1 > 200"),
        Row(
            "side by side",
            start + [
                .client(request(1), request(3, ends: false)), .origin(response(3)),
                .origin(.data(3, [0x63])), .client(.data(3, [0x62], ends: true)),
                .origin(response(1), .data(1, [0x61], ends: true), .data(3, [], ends: true)),
            ], "1 GET /1 > 200 a", "3 GET /3 b > 200 c"),
        Row(
            "interim responses and trailers",
            start + [
                .client(request(1, ends: false), .data(1, [0x62]), .headers(1, [("x-a", "1")])),
                .origin(
                    .headers(1, [(":status", "100")], ends: false),
                    .headers(1, [(":status", "103")], ends: false), response(1), .data(1, [0x61]),
                    .headers(1, [("x-b", "2")])),
            ], "1 GET /1 b x-a: 1 > 100 103 200 a x-b: 2"),
        Row(
            "an answer before the request has ended",
            start + [
                .client(request(1, ends: false), .data(1, [0x62])),
                .origin(response(1, ends: true), .reset(1, 0)), .client(.data(1, [0x62])),
            ], "1 GET /1 b > 200"),
        Row(
            "given up when the whole length has come",
            start + [
                .client(request(1)), .origin(response(1, [("content-length", "1")])),
                .origin(.data(1, [0x61])), .client(.reset(1)),
            ], "1 GET /1 > 200 a"),
        Row(
            "a promise",
            start + [
                .client(request(1)),
                .origin(promise(2)),
                .origin(response(2), .data(2, [0x62], ends: true), response(1, ends: true)),
            ], "1 GET /1 > 200", "2 GET /pushed > 200 b"),
        Row(
            "a promise that came before",
            start + [
                .client(request(1)), .origin(response(4), .data(4, [0x62], ends: true)),
                .origin(response(1, ends: true)),
            ], "1 GET /1 > 200"
        ).losing("push-left-out"),
        Row(
            "bytes in a tunnel",
            start + [
                .client(connect("other")), .origin(response(1)), .client(.data(1, [0x62])),
                .origin(.data(1, [0x61], ends: true)), .client(.data(1, [], ends: true)),
            ], "1 CONNECT /chat > 200", "1 request segment b", "1 response segment a"
        ).losing("upgrade-as-segments"),
        Row(
            "a WebSocket",
            start + [
                .client(connect("websocket")), .origin(response(1)),
                // A text in two frames with a ping between, masked with nothing.
                .client(.data(1, [0x01, 0x81, 0, 0, 0, 0, 0x61, 0x89, 0x80, 0, 0, 0, 0])),
                .origin(.data(1, [0x8A, 0x00, 0x82, 0x01, 0x63])),
                .client(.data(1, [0x80, 0x81, 0, 0, 0, 0, 0x62])),
                .origin(.data(1, [0x88, 0x02, 0x03, 0xE8], ends: true)),
                .client(.data(1, [], ends: true)),
            ], "1 CONNECT /chat > 200", "1 request ping", "1 response pong",
            "1 response binary c", "1 request text ab", "1 response close 1000"),
        Row(
            "a WebSocket with compression",
            start + [
                .client(connect("websocket")),
                .origin(response(1, [("sec-websocket-extensions", "permessage-deflate")])),
                .origin(.data(1, [0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])),
                .origin(.data(1, [], ends: true)), .client(.data(1, [], ends: true)),
            ], "1 CONNECT /chat > 200", "1 response text Hello"),
        Row(
            "messages of gRPC",
            start + [
                .client(
                    .headers(
                        1, Frame.get("/1", [("content-type", "application/grpc+proto")]),
                        ends: false), .data(1, [0, 0, 0, 0, 1, 0x61], ends: true)),
                .origin(response(1), .headers(1, [("grpc-status", "0")])),
            ], "1 GET /1 \0\0\0\0\u{1}a > 200 grpc-status: 0", "1 request grpc 0+1"),
        Row(
            "events",
            start + [
                .client(request(1)),
                .origin(response(1, [("content-type", "text/event-stream")])),
                .origin(.data(1, [UInt8]("event:b\ndata:\n\n".utf8), ends: true)),
            ], "1 GET /1 > 200 event:b\ndata:\n\n", "1 response event 0+14 b"),
        Row(
            "changed over from HTTP/1",
            [
                Step(
                    direction: .request,
                    bytes: [UInt8](
                        """
                        GET /1 HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, HTTP2-Settings\r
                        Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n
                        """.utf8)),
                Step(
                    direction: .response,
                    bytes: [UInt8](
                        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
                            .utf8) + start[1].bytes),
                start[0], .origin(response(1), .data(1, [0x61], ends: true)),
                .client(request(3)), .origin(response(3, ends: true)),
            ], "1 GET /1 > 101 200 a", "3 GET /3 > 200"),
        Row(
            "changed over, with a request sent ahead",
            [
                .text(
                    .request,
                    "GET /1 HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n\(ahead)"),
                .text(.response, "HTTP/1.1 101 \r\nUpgrade: h2c\r\n\r\n"), start[1], start[0],
                .origin(response(1, ends: true)),
            ], "1 GET /1 > 101 200", overtaken),
    ]

    private static let ahead = "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let overtaken =
        "0 GET /2 > origin-closed: the connection changed over before the response"

    /// On connections that stay with HTTP/1.
    static let serial: [Row] = [
        Row(
            "a WebSocket of HTTP/1",
            [
                .text(.request, "GET /1 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n"),
                .text(.response, "HTTP/1.1 101 \r\nUpgrade: websocket\r\n\r\n\u{1}\u{1}a"),
                Step(direction: .request, bytes: [0x81, 0x81, 0, 0, 0, 0, 0x62]),
                Step(direction: .response, bytes: [0x80, 1, 0x63]),
            ], "0 GET /1 > 101", "1 request text b", "1 response text ac"
        ).named("http/1.1"),
        Row(
            "a WebSocket, with a request sent ahead",
            [
                .text(.request, "GET /1 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n\(ahead)"),
                .text(.response, "HTTP/1.1 101 \r\nUpgrade: websocket\r\n\r\n\u{1}\u{1}a"),
                Step(direction: .response, bytes: [0x80, 1, 0x63]),
            ], "0 GET /1 > 101", overtaken, "1 response text ac"
        ).named("http/1.1"),
        Row(
            "a tunnel, with a request sent ahead",
            [
                .text(.request, "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n\(ahead)"),
                .text(.response, "HTTP/1.1 200 \r\n\r\n"),
                .text(.request, "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n"),
                .text(.response, "HTTP/1.1 204 \r\n\r\n"),
            ], overtaken, "0 GET /3 > 204"
        ).named("http/1.1"),
        Row(
            "events in HTTP/1",
            [
                .text(.request, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"),
                .text(
                    .response,
                    "HTTP/1.1 200 \r\nContent-Type: text/event-stream\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n8\r\ndata: a\n\r\n1\r\n\n\r\n0\r\n\r\n"
                ),
            ], "0 GET /1 > 200 data: a\n\n", "1 response event 0+8"
        ).named("http/1.1"),
    ]

    static let broken: [Row] = [
        Row(
            "the client gives up",
            start + [.client(request(1)), .origin(response(1)), .client(.reset(1))],
            "1 GET /1 > 200 client-reset: client reset the stream with CANCEL"),
        Row(
            "the origin gives up", start + [.client(request(1)), .origin(.reset(1, 7))],
            "1 GET /1 > origin-reset: origin reset the stream with REFUSED_STREAM"),
        Row(
            "the origin takes no more",
            start + [
                .client(request(1), request(3)), .origin(.goAway(last: 1)),
                .origin(response(1, ends: true)),
            ], "1 GET /1 > 200",
            "3 GET /3 > origin-reset: origin ended the connection before it took the stream"),
        Row(
            "the origin ends the connection",
            start + [.client(request(1)), .origin(.goAway(last: 1, 11))],
            "1 GET /1 > origin-closed: origin ended the connection with ENHANCE_YOUR_CALM"),
        Row(
            "a WebSocket that is broken off",
            start + [
                .client(connect("websocket")), .origin(response(1)),
                .origin(.data(1, [0x81, 0x02, 0x61])), .client(.reset(1)),
            ], "1 CONNECT /chat > 200", "1 response text a cut: the message did not end"),
        Row(
            "what is no WebSocket",
            start + [
                .client(connect("websocket")), .origin(response(1)),
                .origin(.data(1, [0x61, 0x62], ends: true)), .client(.data(1, [], ends: true)),
            ], "1 CONNECT /chat > 200", "1 response segment ab"),
        Row(
            "a promise that the client refuses",
            start + [
                .client(request(1)), .origin(promise(2)), .client(.reset(2)),
                .origin(response(2), response(1, ends: true)),
            ], "1 GET /1 > 200", "2 GET /pushed > client-reset: client reset the stream with CANCEL"
        ),
        Row(
            "promises that are none",
            start + [
                // Of a client, for a client's stream, for one that was promised, and not whole.
                .client(request(1), promise(4)),
                .origin(promise(3), promise(6), promise(6), promise(2)),
                .client(.headers(8, Frame.get("/8"))), .origin(response(8, ends: true)),
                .origin(response(6, ends: true), response(1, ends: true)),
            ], "1 GET /1 > 200", "6 GET /pushed > 200"
        ).losing("push-left-out"),
        Row(
            "the end of the connection",
            start + [.client(request(1)), .origin(response(1), .data(1, [0x61]))],
            "1 GET /1 > 200 a origin-closed: the connection ended before the response did"),
        Row(
            "a reset of the connection", start + [.client(request(1))],
            "1 GET /1 > origin-closed: the connection was broken off"
        ).ending(.reset),
        Row(
            "the end of the file",
            start + [.client(request(1), request(3)), .origin(response(3, ends: true))],
            "1 GET /1 > packets-missing: the packets of the rest are missing", "3 GET /3 > 200"
        ).ending(.none),
        Row(
            "a gap in what the origin said",
            start + [
                .client(request(1), request(3)), .origin(response(1, ends: true)),
                .origin(response(3)).lost, .origin(.data(3, [0x61], ends: true)),
            ], "1 GET /1 > 200", "3 GET /3 > packets-missing: the packets of the rest are missing"
        ).losing("packets-missing").caused("packets are missing"),
        Row(
            "a gap in what the client said",
            start + [
                .client(request(1)), .client(request(3)).lost, .client(request(5)),
                .origin(response(1, ends: true), response(3, ends: true)),
            ], "1 GET /1 > 200"
        ).losing("response-without-request", "packets-missing").caused("packets are missing"),
        Row(
            "heads that cannot be decoded",
            start + [
                .client(request(1), request(3)), .origin(response(1, ends: true)),
                .origin(Frame(1, flags: 5, stream: 3, [0xBE])), .client(request(5)),
            ], "1 GET /1 > 200", "3 GET /3 > h2-protocol-error: a header block cannot be decoded"
        ).losing("http-malformed").caused(
            "no sound HTTP/2: a header block cannot be decoded"),
        Row(
            "a head that is not allowed",
            start + [
                .client(.headers(1, Frame.get("/1", [("a", "b\r\nc: d")]))),
                .origin(.headers(1, [(":status", "400")])),
            ], "1 GET /1 > 400 bad-request: the value of the field a is not allowed"),
        Row(
            "a target that fits on no line",
            start + [
                .client(.headers(1, Frame.get("/ 1"))), .origin(.headers(1, [(":status", "400")])),
            ],
            "1 GET / > 400 bad-request: the request is malformed: the request target is malformed"
                + " (invalid-target)"),
        Row(
            "an answer that is not allowed",
            start + [.client(request(1)), .origin(response(1, [("A", "b")], ends: true))],
            "1 GET /1 > 200 bad-response: the origin's response is malformed:"
                + " the field A is not allowed"),
        Row(
            "an answer without a status",
            start + [.client(request(1)), .origin(.headers(1, [("a", "b")]))],
            "1 GET /1 > a: b bad-response: the origin's response has no status"),
        Row(
            "two answers",
            start + [.client(request(1)), .origin(response(1), response(1, ends: true))],
            "1 GET /1 > 200 bad-response: the origin answered twice"),
        Row(
            "from its middle", [.client(request(5)), .origin(response(5), .data(5, [0x61]))],
            " request segment \(Frame.headers(5, Frame.get("/5")).bytes.hex)",
            " response segment \((response(5).bytes + Frame.data(5, [0x61]).bytes).hex)"
        ).late().losing("http2-without-beginning").caused("HTTP/2 without its beginning"),
        Row(
            "TLS from its middle",
            [Step(direction: .request, bytes: [23, 3, 3, 0, 2, 1, 2])]
        ).late().losing("tls-not-decrypted").named("tls")
            .caused("not decrypted: its handshake was not caught"),
    ]

    @Test(arguments: whole + serial + broken)
    func isTold(_ row: Row) throws {
        let result = try read(row)
        #expect(result.told == row.expected)
        #expect(result.losses.losses.map(\.kind.code) == row.losses)
        #expect(result.connection?.cause == row.cause)
        #expect(result.connection?.protocolName == row.protocolName)
        #expect(result.connection?.exchangeCount == Int64(result.exchanges.count))
    }

    @Test("Where packets are cut makes no difference", arguments: whole + serial)
    func cuts(_ row: Row) throws {
        for (index, step) in row.steps.enumerated() {
            for cut in 1..<step.bytes.count {
                let told = try read(row, cutting: index, at: cut).told
                // A segment is as long as what came at once.
                guard row.losses != ["upgrade-as-segments"] || index < 4 else { continue }
                #expect(told == row.expected, "step \(index) cut at \(cut)")
            }
        }
    }

    @Test("Bytes that are changed anywhere do no harm", arguments: whole + serial)
    func changes(_ row: Row) throws {
        for (index, step) in row.steps.enumerated() {
            for place in step.bytes.indices {
                var steps = row.steps
                var bytes = step.bytes
                bytes[place] ^= UInt8(truncatingIfNeeded: 1 << (place % 8))
                steps[index] = Step(direction: step.direction, bytes: bytes)
                #expect(try read(Row("", steps)).connection != nil)
            }
        }
    }

    @Test func streamsAreBounded() throws {
        let requests = (0..<1100).map { Self.request(UInt32($0 * 2 + 1)) }
        let row = Row("", Self.start + requests.map { .client($0) })
        let result = try read(row)
        #expect(result.exchanges.count == 1024)
        #expect(result.losses.losses.map(\.count) == [76])
    }

    @Test func timesAreThoseOfThePackets() throws {
        let steps: [Step] =
            Self.start + [
                .client(Self.request(1)), .origin(Self.response(1)), .origin(.data(1, [0x61])),
                .origin(.data(1, [], ends: true)), .client(.ping()),
            ]
        let exchange = try #require(try read(Row("", steps)).exchanges.first)
        #expect(exchange.startedAt == RecordedTraffic.start.later(milliseconds: 3))
        #expect(exchange.firstByteMicroseconds == 1000)
        #expect(exchange.durationMicroseconds == 3000)
    }

    // MARK: Tools

    private struct Result {
        let connection: ConnectionRecord?
        let exchanges: [ExchangeRecord]
        let told: [String]
        let losses: LossReport
    }

    /// - Parameter cut: where the step of the index goes on in another packet.
    private func read(_ row: Row, cutting index: Int = -1, at cut: Int = 0) throws -> Result {
        let sink = RecordingSink()
        let writer = ImportWriter(sink: sink, nextConnection: 1, nextExchange: 1)
        let reading = PacketReading(writer, keyLog: [])
        let client = try #require(PacketEndpoint(text: "127.0.0.1:40000"))
        let origin = try #require(PacketEndpoint(text: "127.0.0.1:8080"))
        var tcp = TCPConversation(client: client, origin: origin, seed: 1)
        var time = RecordedTraffic.start
        func take(_ packets: [[UInt8]]) {
            for packet in packets {
                reading.take(
                    .packet(CaughtPacket(linkType: 101, interface: "", at: time, bytes: packet)))
            }
        }
        let opening = tcp.opened()
        if !row.beginsLate { take(opening) }
        for (number, step) in row.steps.enumerated() {
            let parts =
                number == index ? [step.bytes[..<cut], step.bytes[cut...]] : [step.bytes[...]]
            for part in parts {
                let packets = tcp.packets(step.direction, part)
                if !step.isLost { take(packets) }
            }
            time = time.later(milliseconds: 1)
        }
        if row.end != .none { take(tcp.closed(by: .request, reset: row.end == .reset)) }
        reading.finish()
        writer.recorder.flush()
        let exchanges = sink.exchanges.sorted { $0.id < $1.id }
        return Result(
            connection: sink.connections.first, exchanges: exchanges,
            told: exchanges.map(Self.told) + sink.messages.map(Self.told), losses: writer.losses)
    }

    private static func told(_ exchange: ExchangeRecord) -> String {
        let line = exchange.requestHead.text.split(separator: "\r\n").first ?? ""
        var parts = ["\(exchange.stream)"]
        parts += line.split(separator: " ").prefix(2).map(String.init)
        parts += [exchange.requestBody.bytes.text, trailers(exchange.requestBody), ">"]
        for head in exchange.interimHeads + [exchange.responseHead] where !head.isEmpty {
            let words = head.text.split(whereSeparator: \.isWhitespace)
            if words.count > 1 { parts.append(String(words[1])) }
        }
        parts += [exchange.responseBody.bytes.text, trailers(exchange.responseBody)]
        if let error = exchange.error { parts.append("\(error): \(exchange.errorDetail ?? "")") }
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static func trailers(_ body: BodyRecord) -> String {
        body.trailers.text.replacing("\r\n", with: "")
    }

    private static func told(_ message: MessageRecord) -> String {
        let id = message.exchange.map { "\($0)" } ?? ""
        var content = message.exchange == nil ? message.bytes.hex : message.bytes.text
        if let offset = message.offset { content = "\(offset)+\(message.size)" }
        let parts = [content, message.detail].filter { !$0.isEmpty }
        return ([id, "\(message.direction)", message.kind.rawValue] + parts)
            .joined(separator: " ")
    }
}
