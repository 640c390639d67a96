import Base
import HTTP2
import HTTP2Frames
import HTTPCodecs
import Sockets
import Synchronization
import TLS
import Testing
import Transport

@testable import HTTPServer

/// What a client sees on the wire of each way to deliver a response wrong.
struct DeliveryTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let delivery: Delivery
        /// The fields and the content over HTTP/1; `|` stands for the empty line.
        let http1: String
        /// How the connection ends, plain and secure.
        let ends: [End]
        /// The frames of HTTP/2 that matter; `nil` if it knows no such thing.
        let http2: String?

        init(
            _ name: String, http1: String, _ ends: [End], http2: String?,
            _ change: (inout Delivery) -> Void
        ) {
            testDescription = name
            var delivery = Delivery()
            change(&delivery)
            self.delivery = delivery
            self.http1 = http1
            self.ends = ends
            self.http2 = http2
        }
    }

    enum End: String, Sendable { case fin, truncated, reset }

    private static let fin: [End] = [.fin, .fin]

    static let rows = [
        Row("cut with FIN", http1: "Content-Length: 10|0123", fin, http2: "HEADERS DATA:0123 fin") {
            $0.cut = Delivery.Cut(at: 4, .finish)
        },
        Row(
            "cut without close_notify", http1: "Content-Length: 10|0123", [.fin, .truncated],
            http2: "HEADERS DATA:0123 fin"
        ) { $0.cut = Delivery.Cut(at: 4, .truncate) },
        Row(
            "cut with RST", http1: "Content-Length: 10|0123", [.reset, .reset],
            http2: "HEADERS DATA:0123 reset"
        ) { $0.cut = Delivery.Cut(at: 4, .reset) },
        Row(
            "reset stream", http1: "Content-Length: 10|0123", [.reset, .reset],
            http2: "HEADERS DATA:0123 RST_STREAM:8"
        ) { $0.cut = Delivery.Cut(at: 4, .stream(8)) },
        Row("cut ahead of the head", http1: "", fin, http2: "fin") {
            $0.cut = Delivery.Cut(at: nil, .finish)
        },
        Row("cut behind the head", http1: "Content-Length: 10|", fin, http2: "HEADERS fin") {
            $0.cut = Delivery.Cut(at: 0, .finish)
        },
        Row("cut behind all", http1: "Content-Length: 10|0123456789", fin, http2: nil) {
            $0.cut = Delivery.Cut(at: 10, .finish)
        },
        Row(
            "more declared", http1: "Content-Length: 13|0123456789", fin,
            http2: "HEADERS DATA:0123456789:END"
        ) { $0.lengthShift = 3 },
        Row(
            "less declared", http1: "Content-Length: 7|0123456789", fin,
            http2: "HEADERS DATA:0123456789:END"
        ) { $0.lengthShift = -3 },
        Row(
            "framing as given", http1: "Content-Length: 4|Content-Length: 10|0123456789", fin,
            http2: "HEADERS DATA:0123456789:END"
        ) {
            $0.framing = [
                ResponseField("Content-Length", "4"), ResponseField("Content-Length", "10"),
            ]
        },
        Row(
            "GOAWAY", http1: "Content-Length: 10|0123456789", [],
            http2: "HEADERS DATA:0123 GOAWAY:1:0 DATA:456789:END fin"
        ) {
            $0.goAway = Delivery.GoAway(at: 4)
        },
        Row(
            "GOAWAY at the end", http1: "Content-Length: 10|0123456789", [],
            http2: "HEADERS DATA:0123456789:END GOAWAY:1:0 fin"
        ) {
            $0.goAway = Delivery.GoAway(at: 10)
        },
        Row(
            "GOAWAY that is never due", http1: "Content-Length: 10|0123456789", [],
            http2: "HEADERS DATA:0123456789:END"
        ) {
            $0.goAway = Delivery.GoAway(at: 11)
        },
        Row(
            "GOAWAY that owns up to nothing", http1: "Content-Length: 10|0123456789", [],
            http2: "HEADERS DATA:0123 GOAWAY:0:0 fin"
        ) {
            $0.goAway = Delivery.GoAway(at: 4, isProcessed: false)
        },
        Row(
            "a stall", http1: "Content-Length: 10|0123456789", [],
            http2: "HEADERS DATA:0123456789:END"
        ) {
            $0.stalls = [Delivery.Stall(at: 4, milliseconds: 20)]
        },
        Row(
            "a dripping head and body", http1: "Content-Length: 10|0123456789", [],
            http2: "HEADERS DATA:0123456789:END"
        ) {
            $0.headPace = Pace(slice: 40, interval: 5)
            $0.bodyPace = Pace(slice: 3, interval: 10, jitter: 5, seed: 7)
        },
    ]

    private static func answer(_ delivery: Delivery) -> Answer {
        { _, _ in
            var response = ServerResponse(
                200, body: .stream(length: 10, BytesSource([UInt8]("0123456789".utf8))))
            response.delivery = delivery
            return response
        }
    }

    @Test(arguments: rows, [Wire.plain, .secure])
    func overHTTP1(_ row: Row, _ wire: Wire) async throws {
        let authority = wire.isSecure ? try testAuthority() : nil
        let security = authority.map { HTTPServer.Port.Security.tls($0) } ?? .plain
        try await withServer(Self.answer(row.delivery), security: security) { laboratory in
            let client =
                if let authority {
                    try await laboratory.connectSecurely(to: "origin.test", trusting: authority)
                } else {
                    try await laboratory.connect()
                }
            let close = row.ends.isEmpty ? "Connection: close\r\n" : ""
            try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\(close)\r\n")
            let (text, end) = await client.receiveToEnd()
            let lines = row.http1.split(separator: "|", omittingEmptySubsequences: false)
            let fields = lines.dropLast().map { "\($0)\r\n" }.joined()
            let expected =
                lines.count == 1
                ? "" : "HTTP/1.1 200 OK\r\n\(fields)\(close)\r\n\(lines.last ?? "")"
            #expect(text == expected)
            #expect(end == (row.ends.isEmpty ? .fin : row.ends[wire.isSecure ? 1 : 0]))
        }
    }

    @Test(arguments: rows)
    func overHTTP2(_ row: Row) async throws {
        guard let expected = row.http2 else { return }
        try await withServer(Self.answer(row.delivery)) { laboratory in
            let client = try await laboratory.connect()
            try await client.send(
                bytes: Frame.preface + Frame.headers(1, Frame.get(scheme: "http")).bytes)
            let isLast = expected.hasSuffix("fin") || expected.hasSuffix("reset")
            var words: [String] = []
            do {
                while let frame = try await client.receive(until: {
                    [0, 1, 3, 7].contains($0.type)
                }
                ) {
                    if frame.type == 0, let last = words.last, last.hasPrefix("DATA:") {
                        words[words.count - 1] = last + Self.word(frame).dropFirst(5)
                    } else {
                        words.append(Self.word(frame))
                    }
                    if !isLast, frame.type == 3 || frame.type == 0 && frame.flags & 1 == 1 { break }
                }
                if isLast { words.append("fin") }
            } catch StreamFailure.reset {
                words.append("reset")
            }
            #expect(words.joined(separator: " ") == expected)
            client.stream.close()
        }
    }

    private static func word(_ frame: Frame) -> String {
        switch frame.type {
        case 0: "DATA:\(frame.payload.text)" + (frame.flags & 1 == 1 ? ":END" : "")
        case 1: "HEADERS"
        case 3: "RST_STREAM:\(frame.number())"
        default: "GOAWAY:\(frame.number()):\(frame.number(from: 4))"
        }
    }

    /// Content in chunks whose last one never comes.
    @Test func omitsTheLastChunk() async throws {
        let answer: Answer = { _, _ in
            var response = ServerResponse(
                200, body: .stream(length: nil, BytesSource([UInt8]("abc".utf8))))
            response.delivery = Delivery()
            response.delivery?.omitsEnd = true
            return response
        }
        try await withServer(answer) { laboratory in
            let client = try await laboratory.connect()
            try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let (text, end) = await client.receiveToEnd()
            #expect(
                text == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
            #expect(end == .fin)
            let fetched = try await laboratory.overHTTP2 { try await $0.fetch("GET /") }
            #expect(fetched.content == "abc")
            #expect(fetched.failure == .reset(HTTP2ErrorCode.internalError))
        }
    }

    enum Way: CaseIterable, Sendable { case clientLeaves, serverStops }

    /// What is stalled for ever ends with the client, or with the server.
    @Test(arguments: [Wire.plain, .http2], Way.allCases)
    func stallsEnd(_ wire: Wire, _ way: Way) async throws {
        let outcomes = Outcomes()
        let answer: Answer = { _, _ in
            var response = ServerResponse(
                200, body: .stream(length: 10, BytesSource([UInt8]("0123456789".utf8))))
            response.delivery = Delivery()
            response.delivery?.stalls = [Delivery.Stall(at: 4, milliseconds: nil)]
            response.onEnd = { outcomes.add($0) }
            return response
        }
        try await withServer(answer) { laboratory in
            let client = try await laboratory.connect()
            if wire.isHTTP2 {
                try await client.send(
                    bytes: Frame.preface + Frame.headers(1, Frame.get(scheme: "http")).bytes)
                _ = try await client.receive(until: { $0.type == 0 })
            } else {
                try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await client.receive(through: "0123")
            }
            switch way {
            case .clientLeaves: client.stream.close()
            case .serverStops: laboratory.server.stop(grace: 60_000)
            }
            await outcomes.untilSome(laboratory.loop)
        }
        let outcome = try #require(outcomes.all.first)
        #expect(outcome.end == (way == .clientLeaves ? .left : .stopped))
        #expect(outcome.count == 4)
    }

    /// An upload whose window stays shut from an offset on.
    @Test(arguments: [Wire.plain, .http2])
    func withholds(_ wire: Wire) async throws {
        let seen = Counts()
        let answer: Answer = { _, body in
            body.withhold(at: 16, milliseconds: 20)
            let buffer = ByteBuffer(capacity: 16)
            do throws(Failure) {
                while try await body.read(into: buffer) > 0 {
                    seen.add(body.count)
                    buffer.removeAll()
                }
            } catch {
                return .plain(400)
            }
            return ServerResponse(200, type: "text/plain", "\(body.count)")
        }
        try await withServer(answer) { laboratory in
            let content = String(repeating: "x", count: 40)
            if wire.isHTTP2 {
                let fetched = try await laboratory.overHTTP2 {
                    try await $0.fetch("POST /", content: [UInt8](content.utf8))
                }
                #expect(fetched.content == "40")
            } else {
                let text = try await laboratory.exchange(
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n" + content)
                #expect(text.hasSuffix("\r\n\r\n40"))
            }
        }
        #expect(seen.all.first == 16)
    }

    /// Slices are due from the first on; jitter is drawn, the same for the same seed.
    @Test func paces() {
        func times(_ pace: Pace, from now: UInt64) -> [UInt64] {
            var machine = PaceMachine(pace)
            return (0..<4).map { _ in
                defer { machine.take(machine.allowance) }
                return machine.nextSlice(now: now)
            }
        }
        #expect(times(Pace(slice: 3, interval: 10), from: 1000) == [1000, 1010, 1020, 1030])
        let drawn = times(Pace(slice: 3, interval: 10, jitter: 9, seed: 7), from: 1000)
        #expect(drawn == times(Pace(slice: 3, interval: 10, jitter: 9, seed: 7), from: 1000))
        #expect(drawn != times(Pace(slice: 3, interval: 10, jitter: 9, seed: 8), from: 1000))
        #expect(zip(drawn, [1000, 1010, 1020, 1030]).allSatisfy { $0 - $1 <= 9 })
        #expect(Pace(bytesPerSecond: 100_000) == Pace(slice: 5000, interval: 50))
        #expect(Pace(bytesPerSecond: 4) == Pace(slice: 1, interval: 250))
    }
}

final class Counts: Sendable {
    private let state = Mutex<[UInt64]>([])
    var all: [UInt64] { state.withLock { $0 } }
    func add(_ count: UInt64) { state.withLock { $0.append(count) } }
}

final class Outcomes: Sendable {
    private let state = Mutex<(all: [SentResponse], waiter: (@Sendable () -> Void)?)>(([], nil))

    var all: [SentResponse] { state.withLock { $0.all } }

    func add(_ outcome: SentResponse) {
        let waiter = state.withLock { state in
            state.all.append(outcome)
            return state.waiter.take()
        }
        waiter?()
    }

    func untilSome(_ loop: EventLoop) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.all.isEmpty else { return true }
                state.waiter = { loop.execute { continuation.resume() } }
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

extension TestClient {
    /// All that comes, and how the connection ends.
    func receiveToEnd() async -> (text: String, end: DeliveryTests.End) {
        var bytes: [UInt8] = []
        let buffer = ByteBuffer(capacity: 65_536)
        do throws(StreamFailure) {
            while try await stream.read(into: buffer) > 0 {
                bytes += buffer.copy
                buffer.removeAll()
            }
        } catch {
            return (withoutDates(bytes.text), .reset)
        }
        return (withoutDates(bytes.text), stream.endedInOrder ? .fin : .truncated)
    }
}
