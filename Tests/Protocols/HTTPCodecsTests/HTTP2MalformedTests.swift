import Base
import HTTP2Frames
import HTTPModel
import Testing

@testable import HTTPCodecs

/// What peers say that they must not.
@Suite struct HTTP2MalformedTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let frames: [Frame]
        /// What is told of the stream, and the code of the frame that answers.
        let expected: String
        var testDescription: String { name }

        init(_ name: String, _ frames: [Frame], _ expected: String) {
            self.name = name
            self.frames = frames
            self.expected = expected
        }

        init(_ name: String, _ fields: [(String, String)], _ expected: String = "reset 1") {
            self.init(name, [.headers(1, fields)], expected)
        }
    }

    private static let connect = [(":method", "CONNECT"), (":authority", "a.test:443")]

    static let heads: [Row] = [
        .init("sound", Frame.get(), "head"),
        .init("upper case", Frame.get("/", [("Accept", "a")])),
        .init("a blank in a name", Frame.get("/", [("a b", "a")])),
        .init("an empty name", Frame.get("/", [("", "a")])),
        .init("a line in a value", Frame.get("/", [("a", "b\r\nc: d")])),
        .init("NUL in a value", Frame.get("/", [("a", "\0")])),
        .init("connection", Frame.get("/", [("connection", "close")])),
        .init("keep-alive", Frame.get("/", [("keep-alive", "1")])),
        .init("proxy-connection", Frame.get("/", [("proxy-connection", "a")])),
        .init("transfer-encoding", Frame.get("/", [("transfer-encoding", "chunked")])),
        .init("upgrade", Frame.get("/", [("upgrade", "h2c")])),
        .init("te", Frame.get("/", [("te", "gzip")])),
        .init("te: trailers", Frame.get("/", [("te", "trailers")]), "head"),
        .init("no method", Array(Frame.get().dropFirst())),
        .init("no scheme", Frame.get().filter { $0.0 != ":scheme" }),
        .init("no path", Frame.get().filter { $0.0 != ":path" }),
        .init("empty path", Frame.get("")),
        .init("a path without a slash", Frame.get("foo")),
        .init("more than an asterisk", Frame.get("*foo")),
        .init("an asterisk for GET", Frame.get("*")),
        .init("a URL for a path", Frame.get("https://a.test/")),
        .init("no authority", Frame.get().filter { $0.0 != ":authority" }),
        .init(
            "host instead", Frame.get().filter { $0.0 != ":authority" } + [("host", "b")], "head"),
        .init("two methods", Frame.get() + [(":method", "GET")]),
        .init("two paths", [(":path", "/")] + Frame.get()),
        .init("status in a request", Frame.get() + [(":status", "200")]),
        .init("unknown pseudo-header field", Frame.get() + [(":new", "1")]),
        .init("pseudo behind the fields", [("a", "1")] + Frame.get()),
        .init(
            "two content-lengths",
            Frame.get("/", [("content-length", "0"), ("content-length", "0")])),
        .init("content-length of letters", Frame.get("/", [("content-length", "a")])),
        .init("content-length without content", Frame.get("/", [("content-length", "3")])),
        .init(
            "content-length beyond all",
            Frame.get("/", [("content-length", "99999999999999999999")])),
        .init("CONNECT", connect, "head"),
        .init("CONNECT with a path", connect + [(":path", "/")]),
        .init("CONNECT with a scheme", connect + [(":scheme", "https")]),
        .init("extended CONNECT that was not allowed", Frame.get() + [(":protocol", "websocket")]),
        .init("empty block", [Frame(1, flags: 5, stream: 1)], "reset 1"),
        .init(
            "more content than said",
            [
                .headers(1, Frame.get("/", [("content-length", "1")]), ends: false),
                .data(1, [1, 2], ends: true),
            ], "head reset 1"),
        .init(
            "less content than said",
            [
                .headers(1, Frame.get("/", [("content-length", "9")]), ends: false),
                .data(1, [1, 2], ends: true),
            ], "head reset 1"),
        .init(
            "pseudo in trailers",
            [.headers(1, Frame.get(), ends: false), .headers(1, [(":path", "/")])], "head reset 1"),
        .init(
            "transfer-encoding in trailers",
            [
                .headers(1, Frame.get(), ends: false),
                .headers(1, [("transfer-encoding", "chunked")]),
            ], "head reset 1"),
        .init(
            "trailers that end nothing",
            [.headers(1, Frame.get(), ends: false), .headers(1, [("a", "b")], ends: false)],
            "head reset 1"),
        .init(
            "larger than allowed",
            [
                .headers(
                    1,
                    Frame.get() + (0..<8).map { ("x-\($0)", String(repeating: "a", count: 9000)) })
            ], "GOAWAY 6"),
        // What ends the connection.
        .init("an even stream", [.headers(2, Frame.get())], "GOAWAY 1"),
        .init("stream 0", [.headers(0, Frame.get())], "GOAWAY 1"),
        .init("content of no stream", [.data(5, [1])], "GOAWAY 1"),
        .init("reset of no stream", [.reset(5)], "GOAWAY 1"),
        .init("a short ping", [Frame(6, [1])], "GOAWAY 6"),
        .init("a short setting", [Frame(4, [1])], "GOAWAY 6"),
        .init("settings of a stream", [Frame(4, stream: 1)], "GOAWAY 1"),
        .init("a large window", [.settings([(4, 0x8000_0000)])], "GOAWAY 3"),
        .init("a small frame size", [.settings([(5, 1)])], "GOAWAY 1"),
        .init("a promise of a client", [Frame(5, stream: 1, [0, 0, 0, 2])], "GOAWAY 1"),
        .init("continuation of nothing", [Frame(9, flags: 4, stream: 1)], "GOAWAY 1"),
        .init(
            "something inside a block", [Frame(1, stream: 1, Frame.block(Frame.get())), .ping()],
            "GOAWAY 1"),
        .init("a window of nothing", [.windowUpdate(0, 0)], "GOAWAY 1"),
        .init(
            "a window beyond all", [.windowUpdate(0, 0x7FFF_FFFF), .windowUpdate(0, 0x7FFF_FFFF)],
            "GOAWAY 3"),
        .init(
            "a block that cannot be decoded", [Frame(1, flags: 5, stream: 1, [0xFF, 0xFF, 0xFF])],
            "GOAWAY 9"),
        .init("an index of nothing", [Frame(1, flags: 5, stream: 1, [0x80])], "GOAWAY 9"),
        .init("padding beyond the frame", [Frame(1, flags: 13, stream: 1, [200, 0])], "GOAWAY 1"),
    ]

    /// What a server says to `bytes`, piece by piece: its events in short, then what it sends.
    private static func answer(
        to bytes: [UInt8], piece: Int
    ) -> (events: [HTTP2Event], frames: [Frame], session: HTTP2Session) {
        let server = HTTP2Session(role: .server)
        var events: [HTTP2Event] = []
        var parser = FrameParser()
        var frames: [Frame] = []
        var place = 0
        while place < bytes.count {
            let end = min(bytes.count, place + piece)
            do throws(HTTP2Violation) {
                try server.receive(Array(bytes[place..<end]).span, now: 0)
            } catch {
                server.terminate(HTTP2ErrorCode.enhanceYourCalm)
                place = bytes.count
            }
            place = end
            events += server.takeEvents()
            while server.wantsToSend {
                let buffer = ByteBuffer(capacity: 16384)
                _ = server.send(into: buffer)
                events += server.takeEvents()
                if buffer.isEmpty { break }
                frames += parser.take(buffer.copy)
            }
        }
        return (events, frames, server)
    }

    @Test(arguments: heads)
    func isAnsweredAsItShould(row: Row) {
        let bytes = Frame.preface + row.frames.flatMap(\.bytes)
        // The library counts the reads in which the head of a CONTINUATION comes, and allows 8.
        for piece in [bytes.count, 3, 17] {
            let (events, frames, session) = Self.answer(to: bytes, piece: piece)
            var words: [String] = []
            for event in events {
                if case .head = event { words.append("head") }
            }
            words += frames.filter { $0.type == 3 }.map { "reset \($0.number())" }
            words += frames.filter { $0.type == 7 }.map { "GOAWAY \($0.number(from: 4))" }
            #expect(words.joined(separator: " ") == row.expected, "in pieces of \(piece)")
            // A client takes a reset alone for a fault of the moment, and asks again.
            let answers = frames.filter { $0.type == 1 || $0.type == 3 }.map {
                $0.type == 1
                    ? "\(HPACKSession().decode($0.payload.span, headLimit: 100)?.fields.status ?? 0)"
                    : "reset"
            }
            let isRefused = row.expected.hasPrefix("reset")
            #expect(answers == (isRefused ? ["400", "reset"] : answers.filter { $0 == "reset" }))
            // Each head that came is told of once, sound or not, so that it is recorded.
            let told = events.filter {
                switch $0 {
                case .head: true
                case .malformed: !words.contains("head")
                default: false
                }
            }
            let isTold = row.expected.hasPrefix("head") || row.expected.hasPrefix("reset")
            #expect(told.count == (isTold ? 1 : 0), "in pieces of \(piece)")
            #expect((session.failure != nil) == row.expected.contains("GOAWAY"))
        }
    }

    @Test func aMalformedHeadIsToldWithItsReason() throws {
        let bytes = Frame.preface + Frame.headers(1, Frame.get("/x", [("Bad", "1")])).bytes
        let (events, _, _) = Self.answer(to: bytes, piece: bytes.count)
        let malformed = events.compactMap { event -> (HTTP2Head, String)? in
            if case .malformed(_, let head, let detail) = event { (head, detail) } else { nil }
        }
        #expect(malformed.count == 1)
        #expect(malformed.first?.1 == "the field Bad is not allowed")
        #expect(malformed.first.map { Array($0.0.path) } == Array("/x".utf8))
    }

    // MARK: Size

    /// A head in frames of 16 KiB.
    static func large(_ stream: UInt32, _ block: [UInt8]) -> [Frame] {
        let pieces = stride(from: 0, to: block.count, by: 16384).map {
            Array(block[$0..<min(block.count, $0 + 16384)])
        }
        return pieces.enumerated().map { index, piece in
            let ends = index == pieces.count - 1
            return index == 0
                ? Frame(1, flags: ends ? 5 : 1, stream: stream, piece)
                : Frame(9, flags: ends ? 4 : 0, stream: stream, piece)
        }
    }

    static let sizes: [(kib: Int, outcome: String)] = [
        (48, "head"), (63, "head"), (65, "malformed"),
    ]

    @Test(arguments: sizes)
    func headsAreBounded(size: (kib: Int, outcome: String)) {
        let fields = (0..<size.kib).map {
            ("x-\($0 + 100)", String(repeating: "a", count: 1024 - 37))
        }
        let block = Frame.block(Frame.get() + fields)
        let bytes =
            Frame.preface + Self.large(1, block).flatMap(\.bytes)
            + Frame.headers(3, Frame.get()).bytes
        for piece in [bytes.count, 1000] {
            let (events, _, session) = Self.answer(to: bytes, piece: piece)
            let words = events.compactMap { event -> String? in
                switch event {
                case .head(let stream, _): "\(stream) head"
                case .malformed(let stream, _, let detail):
                    detail.contains("65536") ? "\(stream) malformed" : detail
                default: nil
                }
            }
            // The next request is served, whatever the first one was.
            #expect(words == ["1 \(size.outcome)", "3 head"])
            #expect(session.failure == nil)
        }
    }

    @Test func aBombIsNotHeld() {
        // One entry of 4,000 bytes, and then a byte for each time that it is meant again.
        var block =
            Frame.block(Frame.get()) + Frame.indexed("x", String(repeating: "a", count: 3900))
        block += [UInt8](repeating: 0xBE, count: 16000)
        let bytes =
            Frame.preface + Self.large(1, block).flatMap(\.bytes)
            + Frame.headers(3, Frame.get()).bytes
        let (events, frames, _) = Self.answer(to: bytes, piece: bytes.count)
        var held = 0
        for event in events {
            if case .malformed(_, let head, let detail) = event {
                held = head.size
                #expect(detail.contains("65536"))
            }
        }
        #expect(held > 0 && held <= (64 << 10) + 4096)
        #expect(frames.contains { $0.type == 3 && $0.stream == 1 })
        #expect(events.contains { if case .head(3, _) = $0 { true } else { false } })
    }

    // MARK: Floods

    @Test func whatCameBeforeAFloodIsTold() {
        let request = Frame.headers(1, Frame.get()).bytes
        let flood = [Frame](repeating: .ping(), count: 501).flatMap(\.bytes)
        let (events, frames, _) = Self.answer(to: Frame.preface + request + flood, piece: 1 << 20)
        #expect(events.contains { if case .head(1, _) = $0 { true } else { false } })
        #expect(frames.last?.type == 7 && frames.last?.number(from: 4) == 11)
    }

    /// RST_STREAM in a server's stead: each makes it give up work that it has begun.
    @Test func streamsThatAreOpenedAndResetAreAFlood() {
        let streams = (0..<1500).map { UInt32($0 * 2 + 1) }
        let pairs: [Frame] = streams.flatMap { [.headers($0, Frame.get()), .reset($0)] }
        let (events, frames, _) = Self.answer(
            to: Frame.preface + pairs.flatMap(\.bytes), piece: 1 << 20)
        let heads = events.filter { if case .head = $0 { true } else { false } }
        let closed = events.filter { if case .closed = $0 { true } else { false } }
        #expect(heads.count == 1001)
        #expect(closed.count >= 1000)
        #expect(frames.last?.number(from: 4) == 11)
    }

    // MARK: Responses

    static let responses: [Row] = [
        .init("sound", [(":status", "200")], "head"),
        .init("no status", [("a", "1")], "malformed"),
        .init("two", [(":status", "200"), (":status", "200")], "malformed"),
        .init("no number", [(":status", "2x0")], "malformed"),
        .init("four digits", [(":status", "2000")], "malformed"),
        .init("switching", [(":status", "101")], "malformed"),
        .init("a method", [(":status", "200"), (":method", "GET")], "malformed"),
        .init("connection", [(":status", "200"), ("connection", "close")], "malformed"),
        .init("upper case", [(":status", "200"), ("A", "b")], "malformed"),
        .init("content-length", [(":status", "200"), ("content-length", "4")], "malformed"),
    ]

    @Test(arguments: responses)
    func responsesAreJudged(row: Row) throws {
        let pair = HTTP2Pair()
        _ = pair.client.request(try request(), endsStream: true)
        pair.run()
        pair.sayToClient(row.frames.flatMap(\.bytes))
        #expect(pair.atClient.contains { $0.hasPrefix("1 \(row.expected)") }, "\(pair.atClient)")
        pair.run()
        #expect(pair.clientViolation == nil)
    }

    @Test func aPromiseIsNotTaken() throws {
        let pair = HTTP2Pair()
        _ = pair.client.request(try request(), endsStream: true)
        pair.run()
        pair.sayToClient(Frame(5, flags: 4, stream: 1, big(2) + Frame.block(Frame.get())).bytes)
        pair.run()
        #expect(pair.client.failure != nil)
        #expect(pair.takeAtServer().contains("goaway 0 1"))
    }

    @Test func anyBytesAreTaken() {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func random() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state >> 16
        }
        let frames: [Frame] = [
            .headers(1, Frame.get(), ends: false), .data(1, [1, 2, 3]), .ping(),
            .windowUpdate(1, 5), .headers(1, [("x", "y")]), Frame(16, [0, 0, 0, 1]), .reset(1),
        ]
        let sound = frames.flatMap(\.bytes)
        for _ in 0..<500 {
            var bytes = sound
            for _ in 0...random() % 4 {
                bytes[Int(random() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random())
            }
            let pieces = Self.answer(to: Frame.preface + bytes, piece: 1 + Int(random() % 64))
            let whole = Self.answer(to: Frame.preface + bytes, piece: .max / 2)
            #expect(pieces.session.isOver == whole.session.isOver)
            let heads = [pieces, whole].map {
                $0.events.compactMap(HTTP2Pair.text).filter { $0.contains(" head ") }
            }
            #expect(heads[0] == heads[1])
        }
    }
}
