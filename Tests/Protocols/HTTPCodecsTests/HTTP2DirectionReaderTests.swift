import Base
import HTTP2Frames
import HTTPModel
import Testing

@testable import HTTPCodecs

@Suite struct HTTP2DirectionReaderTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: [UInt8]
        /// A line an event, and the violation behind them.
        let expected: [String]
        let isClient: Bool
        var testDescription: String { name }

        /// - Parameter raw: instead of frames behind a sound start.
        init(
            _ name: String, _ frames: [Frame], _ expected: String..., isClient: Bool = true,
            raw: [UInt8]? = nil
        ) {
            self.name = name
            let start = isClient ? Frame.preface : Frame.settings().bytes
            bytes = raw ?? start + frames.flatMap(\.bytes)
            self.expected = expected
            self.isClient = isClient
        }
    }

    private static func head(
        _ stream: UInt32, _ block: [UInt8], flags: UInt8 = 4, type: UInt8 = 1
    ) -> Frame {
        Frame(type, flags: flags, stream: stream, block)
    }

    private static func continuation(
        _ stream: UInt32, _ block: [UInt8], ends: Bool = false
    ) -> Frame {
        head(stream, block, flags: ends ? 4 : 0, type: 9)
    }

    private static let get = Frame.block(Frame.get())
    private static let getText = "1 GET / HTTP/2.0|host: a.test||"

    static let exchanges: [Row] = [
        .init("nothing but the start", []),
        .init(
            "a request", [.headers(1, Frame.get("/a"))], "1 GET /a HTTP/2.0|host: a.test||", "1 end"
        ),
        .init(
            "a content",
            [.headers(1, Frame.get(), ends: false), .data(1, [0x61, 0x62], ends: true)],
            getText, "1 + ab", "1 end"),
        .init(
            "a content in pieces, with an empty one",
            [
                .headers(1, Frame.get(), ends: false), .data(1, [0x61]), .data(1, []),
                .data(1, [0x62]), .data(1, [], ends: true),
            ], getText, "1 + ab", "1 end"),
        .init(
            "padded",
            [
                head(1, [2] + get + [0, 0], flags: 4 | 8),
                Frame(0, flags: 8 | 1, stream: 1, [3, 0x61, 0, 0, 0]),
            ], getText, "1 + a", "1 end"),
        .init(
            "nothing but padding",
            [.headers(1, Frame.get(), ends: false), Frame(0, flags: 8 | 1, stream: 1, [2, 0, 0])],
            getText, "1 end"),
        .init(
            "with a priority", [head(1, [0, 0, 0, 3, 16] + get, flags: 4 | 0x20)], getText),
        .init(
            "padded, with a priority",
            [head(1, [1, 0, 0, 0, 3, 16] + get + [9], flags: 4 | 8 | 0x20)], getText),
        .init(
            "continued",
            [
                head(1, [UInt8](get.prefix(5)), flags: 1), continuation(1, []),
                continuation(1, [UInt8](get.dropFirst(5)), ends: true),
            ], getText, "1 end"),
        .init(
            "trailers",
            [
                .headers(1, Frame.get(), ends: false), .data(1, [0x61]),
                .headers(1, [("x-sum", "1")]),
            ], getText, "1 + a", "1 trailers x-sum: 1||", "1 end"),
        .init(
            "side by side",
            [
                .headers(1, Frame.get(), ends: false), .headers(3, Frame.get("/b"), ends: false),
                .data(3, [0x62]), .data(1, [0x61], ends: true), .data(3, [], ends: true),
            ], getText, "3 GET /b HTTP/2.0|host: a.test||", "3 + b", "1 + a", "1 end", "3 end"),
        .init(
            "a response", [.headers(1, [(":status", "200"), ("a", "1")])],
            "1 HTTP/2.0 200|a: 1||", "1 end", isClient: false),
        .init(
            "interim responses",
            [
                .headers(1, [(":status", "103"), ("link", "x")], ends: false),
                .headers(1, [(":status", "204")]),
            ], "1 HTTP/2.0 103|link: x||", "1 HTTP/2.0 204||", "1 end", isClient: false),
        .init(
            "ends",
            [.reset(1, 7), .goAway(last: 5, 11), Frame(7, big(1) + big(0) + [0x62, 0x79, 0x65])],
            "1 closed 7", "go away 5 11", "go away 1 0"),
        .init(
            "frames of no exchange",
            [
                .ping(), .windowUpdate(0, 9), Frame(2, stream: 3, [0, 0, 0, 0, 16]),
                Frame(99, [1, 2, 3]), .settings([(1, 0), (5, 1 << 20)]), .settingsAcknowledged,
                Frame(16, [0, 0, 0, 1] + Array("u=1".utf8)), .headers(1, Frame.get()),
            ], getText, "1 end"),
        .init(
            "a frame as large as can be",
            [
                .headers(1, Frame.get(), ends: false),
                .data(1, [UInt8](repeating: 0x61, count: 70_000)),
            ],
            getText, "1 + " + String(repeating: "a", count: 70_000)),
    ]

    static let tables: [Row] = [
        .init(
            "a field of the table",
            [
                head(1, get + Frame.indexed("x", "1"), flags: 5), head(3, get + [0xBE], flags: 5),
            ], "1 GET / HTTP/2.0|host: a.test|x: 1||", "1 end",
            "3 GET / HTTP/2.0|host: a.test|x: 1||", "3 end"),
        .init(
            "a promise fills the table",
            [
                head(1, big(2) + get + Frame.indexed("x", "1"), type: 5),
                head(1, Frame.block([(":status", "200")]) + [0xBE], flags: 5),
            ], "2 promised GET / HTTP/2.0|host: a.test|x: 1||", "1 HTTP/2.0 200|x: 1||", "1 end",
            isClient: false),
        .init(
            "a promise in pieces, with padding",
            [
                head(1, [2] + big(4) + get + [0, 0], flags: 8, type: 5),
                head(1, Frame.block([("A", "1")]), type: 9),
                head(1, Frame.block([(":status", "200")]), flags: 5),
            ], "4 promised GET / HTTP/2.0|host: a.test|| but the field A is not allowed",
            "1 HTTP/2.0 200||", "1 end", isClient: false),
        .init(
            "a table that its sender made larger than the standard",
            [
                // 8192, in five bits and more.
                head(1, [0x3F, 0xE1, 0x3F] + get + filling(6), flags: 5),
                // The first that was put in, behind five others.
                head(3, get + [0xC3], flags: 5),
            ], "1 \(filled(6))", "1 end", "3 \(filled(1))", "3 end"),
        .init(
            "a table of the standard size has lost it",
            [head(1, get + filling(6), flags: 5), head(3, get + [0xC3], flags: 5)],
            "1 \(filled(6))", "1 end", "h2-protocol-error"),
        .init(
            "a table that its sender gave up",
            [
                head(1, get + Frame.indexed("x", "1"), flags: 5),
                head(3, [0x20] + get + [0xBE], flags: 5),
            ], "1 GET / HTTP/2.0|host: a.test|x: 1||", "1 end", "h2-protocol-error"),
        .init(
            "a table larger than any", [head(1, [0x3F, 0xFF, 0xFF, 0x7F] + get, flags: 5)],
            "h2-protocol-error"),
        .init(
            "a field of a table that was not seen", [head(1, get + [0xBE], flags: 5)],
            "h2-protocol-error"),
        .init("a block that is cut", [head(1, [UInt8](get.dropLast()))], "h2-protocol-error"),
    ]

    /// Fields of a thousand bytes each that go into the table.
    private static func filling(_ count: Int) -> [UInt8] {
        (0..<count).flatMap {
            Frame.indexed("x\($0)", String(repeating: "y", count: 1000))
        }
    }

    private static func filled(_ count: Int) -> String {
        "GET / HTTP/2.0|host: a.test|"
            + (0..<count).map { "x\($0): \(String(repeating: "y", count: 1000))|" }.joined() + "|"
    }

    static let flaws: [Row] = [
        .init(
            "a line end in a value", [.headers(1, Frame.get("/", [("a", "1\r\nb: 2")]))],
            "1 malformed the value of the field a is not allowed", "1 end"),
        .init(
            "a name in capitals", [.headers(1, Frame.get("/", [("A", "1")]))],
            "1 malformed the field A is not allowed", "1 end"),
        .init(
            "more fields than are kept, and what follows",
            [
                head(
                    1,
                    get + Frame.indexed("x", String(repeating: "y", count: 3000))
                        + [UInt8](repeating: 0xBE, count: 30), flags: 5), .headers(3, Frame.get()),
            ], "1 malformed the fields are larger than 65536 bytes", "1 end",
            "3 GET / HTTP/2.0|host: a.test||", "3 end"),
        .init("no preface", [], "h2-bad-preface", raw: [UInt8]("GET / HTTP/1.1\r\n\r\n".utf8)),
        .init(
            "no settings", [], "h2-protocol-error",
            raw: Frame.preface.prefix(24) + Frame.headers(1, Frame.get()).bytes),
        .init(
            "settings that acknowledge", [], "h2-protocol-error", isClient: false,
            raw: Frame.settingsAcknowledged.bytes),
        .init(
            "another frame within a block", [head(1, get, flags: 0), .ping()], "h2-protocol-error"),
        .init(
            "a block that goes on on another stream",
            [head(1, get, flags: 0), continuation(3, [], ends: true)], "h2-protocol-error"),
        .init("a continuation of nothing", [continuation(1, [], ends: true)], "h2-protocol-error"),
        .init("content on no stream", [.data(0, [1])], "h2-protocol-error"),
        .init(
            "padding longer than the content",
            [.headers(1, Frame.get(), ends: false), Frame(0, flags: 8, stream: 1, [3, 0, 0])],
            getText, "h2-protocol-error"),
        .init(
            "padding without a byte for it",
            [.headers(1, Frame.get(), ends: false), Frame(0, flags: 8, stream: 1, [])],
            getText, "h2-protocol-error"),
        .init(
            "padding longer than the head", [head(1, [200] + get, flags: 4 | 8)],
            "h2-protocol-error"),
        .init(
            "a priority that is cut", [head(1, [0, 0, 0], flags: 4 | 0x20)], "h2-protocol-error"),
        .init("a reset of three bytes", [Frame(3, stream: 1, [0, 0, 1])], "h2-protocol-error"),
        .init(
            "continued without end",
            [head(1, get, flags: 0)] + [Frame](repeating: continuation(1, []), count: 33),
            "h2-continuation-flood"),
        .init(
            "a block too large",
            [head(1, [UInt8](repeating: 0x82, count: 100_000), flags: 0)]
                + [continuation(1, [UInt8](repeating: 0x82, count: 40_000), ends: true)],
            "h2-header-block"),
    ]

    @Test(arguments: exchanges + tables + flaws)
    func readsHoweverItIsCut(row: Row) {
        #expect(read([row.bytes[...]], row) == row.expected)
        #expect(read(row.bytes.indices.map { row.bytes[$0...$0] }, row) == row.expected)
        // Long ones are cut about their start, and here and there.
        let step = max(1, row.bytes.count / 300)
        for cut in row.bytes.indices where cut < 500 || cut % step == 0 {
            let halves = read([row.bytes[..<cut], row.bytes[cut...]], row)
            #expect(halves == row.expected, "cut at \(cut)")
        }
    }

    /// What was read before an end is a start of what is read of all.
    @Test(arguments: exchanges + tables + flaws)
    func endsAnywhere(row: Row) {
        for end in row.bytes.indices where end < 500 {
            let events = read([row.bytes[..<end]], row)
            for (event, expected) in zip(events, row.expected) {
                #expect(expected.hasPrefix(event), "ended at \(end)")
            }
            #expect(events.count <= row.expected.count)
        }
    }

    @Test func headsThatGrowWithoutEndAreRefused() {
        let field = Frame.indexed("x", String(repeating: "y", count: 3900))
        var reader = HTTP2DirectionReader(hasPreface: true)
        reader.append(Frame.preface + Self.head(1, Self.get + field, flags: 5).bytes)
        let more = Self.head(3, Self.get + [UInt8](repeating: 0xBE, count: 16), flags: 5).bytes
        var count = 0
        do throws(HTTP2Violation) {
            for _ in 0..<10_000 {
                reader.append(more)
                while try reader.next() != nil { count += 1 }
            }
            Issue.record("nothing was refused")
        } catch {
            #expect(error.code == "h2-protocol-error")
        }
        #expect(count < 2000)
    }

    @Test func anyBytesAreRead() {
        var state: UInt64 = 88_172_645_463_325_252
        for _ in 0..<500 {
            var reader = HTTP2DirectionReader(hasPreface: false)
            var bytes = Frame.settings().bytes
            for _ in 0..<2000 {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                bytes.append(state & 3 == 0 ? 0 : UInt8(truncatingIfNeeded: state >> 24 & 0x0F))
            }
            reader.append(bytes)
            do throws(HTTP2Violation) {
                while try reader.next() != nil {}
            } catch {
                #expect(!error.detail.isEmpty)
            }
        }
    }

    private func read(_ pieces: [ArraySlice<UInt8>], _ row: Row) -> [String] {
        var reader = HTTP2DirectionReader(hasPreface: row.isClient)
        var result: [String] = []
        do throws(HTTP2Violation) {
            for piece in pieces {
                reader.append([UInt8](piece))
                while let event = try reader.next() { add(event, to: &result) }
            }
        } catch {
            result.append(error.code)
        }
        return result
    }

    private func add(_ event: HTTP2Event, to result: inout [String]) {
        switch event {
        case .head(let stream, let head):
            var raw = head.responseHead().raw
            if head.status == 0 {
                do { raw = try head.requestHead().raw } catch { raw = head.text }
            }
            result.append("\(stream) \(line(raw))")
        case .content(let stream, let bytes):
            // How a content is cut is not told.
            if let last = result.last, last.hasPrefix("\(stream) + ") {
                result[result.count - 1] += bytes.text
            } else {
                result.append("\(stream) + \(bytes.text)")
            }
        case .trailers(let stream, let fields):
            result.append("\(stream) trailers \(line(fields.raw))")
        case .ended(let stream): result.append("\(stream) end")
        case .closed(let stream, let code): result.append("\(stream) closed \(code)")
        case .goAway(let last, let code): result.append("go away \(last) \(code)")
        case .promise(let stream, let head, let flaw):
            let end = flaw.map { " but \($0)" } ?? ""
            result.append("\(stream) promised \(line(head.text))\(end)")
        case .malformed(let stream, _, let detail):
            result.append("\(stream) malformed \(detail)")
        case .settings: result.append("settings")
        case .violated(let stream, let detail): result.append("\(stream) violated: \(detail)")
        case .unsent(let stream): result.append("\(stream) unsent")
        }
    }

    private func line(_ head: [UInt8]) -> String {
        head.text.replacing("\r\n", with: "|")
    }
}
