import Base
import HTTP2Frames
import Testing

@testable import HTTPCodecs

@Suite struct HTTP2FrameReaderTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: [UInt8]
        /// Side frames as `name flags stream size kept`, and the code of a flood behind them.
        let expected: [String]
        var skipsPreface = false
        var testDescription: String { name }

        init(_ name: String, _ frames: [Frame], _ expected: String..., preface: Bool = false) {
            self.name = name
            bytes = (preface ? Frame.preface : []) + frames.flatMap(\.bytes)
            self.expected = expected
            skipsPreface = preface
        }
    }

    /// What a reader says of pieces that come one after the other.
    private static func reading(_ pieces: [ArraySlice<UInt8>], skipsPreface: Bool) -> [String] {
        var reader = HTTP2FrameReader(skippingPreface: skipsPreface)
        var result: [String] = []
        do throws(HTTP2Flood) {
            for piece in pieces { try reader.read(Array(piece).span, now: 0) }
        } catch {
            result = ["\(error.code) \(error.count)"]
        }
        let frames = reader.takeSideFrames().map {
            "\($0.type.name) \($0.flags) \($0.stream) \($0.size) \($0.payload.text)"
        }
        return frames + result
    }

    static let rows: [Row] = [
        .init("nothing", []),
        .init("preface and settings", [.settingsAcknowledged], preface: true),
        .init("an exchange", [.headers(1, Frame.get(), ends: false), .data(1, [1], ends: true)]),
        .init("priority is not kept", [Frame(2, stream: 3, [0, 0, 0, 0, 16])]),
        .init(
            "PRIORITY_UPDATE", [Frame(16, [0, 0, 0, 5] + Array("u=1".utf8))],
            "PRIORITY_UPDATE 0 0 7 ~00~00~00~05u=1"),
        .init("ALTSVC", [Frame(10, stream: 1, [0, 0, 0x61])], "ALTSVC 0 1 3 ~00~00a"),
        .init("ORIGIN", [Frame(12, [0x62])], "ORIGIN 0 0 1 b"),
        .init("unknown", [Frame(200, flags: 255, stream: 9, [])], "type 200 255 9 0 "),
        .init(
            "the reserved bit", [Frame(200, stream: 0xFFFF_FFFF, [])], "type 200 0 2147483647 0 "),
        .init(
            "among others",
            [.ping(), Frame(99, [0x41]), .data(1, [0]), Frame(99, [0x42]), .ping()],
            "type 99 0 0 1 A", "type 99 0 0 1 B"),
        .init(
            "too long", [Frame(99, [UInt8](repeating: 0x61, count: 700))],
            "type 99 0 0 700 " + String(repeating: "a", count: 512)),
        .init(
            "continued too often",
            [Frame(1, stream: 1, [0])] + [Frame](repeating: Frame(9, stream: 1), count: 33),
            "h2-continuation-flood 33"),
        .init(
            "a frame and then a flood",
            [Frame(77), Frame(1, stream: 1)] + [Frame](repeating: Frame(9, stream: 1), count: 40),
            "type 77 0 0 0 ", "h2-continuation-flood 33"),
    ]

    @Test(arguments: rows)
    func readsHoweverItIsCut(row: Row) {
        func read(_ pieces: [ArraySlice<UInt8>]) -> [String] {
            Self.reading(pieces, skipsPreface: row.skipsPreface).map { text in
                text.unicodeScalars.map { $0.value < 32 ? "~0\($0.value)" : "\($0)" }.joined()
            }
        }
        #expect(read([row.bytes[...]]) == row.expected)
        #expect(read(row.bytes.indices.map { row.bytes[$0...$0] }) == row.expected)
        for cut in row.bytes.indices {
            let halves = read([row.bytes[..<cut], row.bytes[cut...]])
            #expect(halves == row.expected, "cut at \(cut)")
        }
    }

    struct FloodRow: CustomTestStringConvertible, Sendable {
        let code: String
        let frame: Frame
        let burst: Int
        let perSecond: Int
        var testDescription: String { "\(code) by \(HTTP2FrameType(rawValue: frame.type).name)" }
    }

    static let floods: [FloodRow] = [
        .init(code: "h2-rapid-reset", frame: .reset(1), burst: 1000, perSecond: 33),
        .init(code: "h2-settings-flood", frame: .settings(), burst: 100, perSecond: 10),
        .init(code: "h2-settings-flood", frame: .settingsAcknowledged, burst: 100, perSecond: 10),
        .init(code: "h2-ping-flood", frame: .ping(), burst: 500, perSecond: 50),
        .init(code: "h2-empty-frames-flood", frame: .data(1, []), burst: 1000, perSecond: 100),
        .init(
            code: "h2-idle-frames-flood", frame: Frame(2, stream: 3, [0, 0, 0, 0, 1]), burst: 2000,
            perSecond: 1000),
        .init(code: "h2-idle-frames-flood", frame: Frame(0xBB), burst: 2000, perSecond: 1000),
        .init(code: "h2-idle-frames-flood", frame: .goAway(last: 0), burst: 2000, perSecond: 1000),
        .init(
            code: "h2-window-flood", frame: .windowUpdate(0, 1), burst: 2000, perSecond: 1000),
        .init(
            code: "h2-empty-frames-flood", frame: Frame(0, flags: 8, stream: 1, [3, 0, 0, 0]),
            burst: 1000, perSecond: 100),
    ]

    /// How many of a frame are taken.
    private static func taken(
        _ frame: Frame, of count: Int, _ reader: inout HTTP2FrameReader, now: UInt64
    ) -> (Int, HTTP2Flood?) {
        let bytes = frame.bytes
        for index in 0..<count {
            do throws(HTTP2Flood) {
                try reader.read(bytes.span, now: now)
            } catch {
                return (index, error)
            }
        }
        return (count, nil)
    }

    @Test(arguments: floods)
    func floodsEndAtTheirLimit(row: FloodRow) {
        var reader = HTTP2FrameReader(skippingPreface: false)
        let (first, none) = Self.taken(row.frame, of: row.burst, &reader, now: 5)
        #expect(first == row.burst && none == nil)
        // A second later, so many may come again and no more.
        let (second, flood) = Self.taken(row.frame, of: row.burst, &reader, now: 1005)
        #expect(second == row.perSecond)
        #expect(flood?.code == row.code)
        #expect(flood?.count == row.burst + row.perSecond + 1)
        #expect(flood?.detail.isEmpty == false)
        #expect(reader.sideFrames.count <= 64)
    }

    @Test(arguments: floods)
    func timeThatRunsBackwardsFillsNothing(row: FloodRow) {
        var reader = HTTP2FrameReader(skippingPreface: false)
        _ = Self.taken(row.frame, of: row.burst, &reader, now: .max)
        #expect(Self.taken(row.frame, of: 1, &reader, now: 0).0 == 0)
    }

    @Test func endingDataIsNoFlood() {
        var reader = HTTP2FrameReader(skippingPreface: false)
        #expect(Self.taken(.data(1, [], ends: true), of: 5000, &reader, now: 0).0 == 5000)
    }

    /// What opens windows for content that was sent is no flood, however fast that goes.
    @Test func windowsOfContentAreNoFlood() {
        var reader = HTTP2FrameReader(skippingPreface: false)
        for _ in 0..<20_000 {
            reader.noteSentData()
            #expect(Self.taken(.windowUpdate(1, 9), of: 2, &reader, now: 0).1 == nil)
        }
    }

    /// Content is content, also with padding around it.
    @Test func paddedContentIsNoFlood() {
        var reader = HTTP2FrameReader(skippingPreface: false)
        let frame = Frame(0, flags: 8, stream: 1, [2, 7, 0, 0])
        #expect(Self.taken(frame, of: 5000, &reader, now: 0).0 == 5000)
    }

    @Test func slowFramesAreNoFlood() throws {
        var reader = HTTP2FrameReader(skippingPreface: false)
        for second in 0..<2000 {
            #expect(Self.taken(.ping(), of: 50, &reader, now: UInt64(second) * 1000).1 == nil)
        }
    }

    struct BlockRow: CustomTestStringConvertible, Sendable {
        let name: String
        let sizes: [Int]
        let code: String?
        var testDescription: String { name }
    }

    static let blocks: [BlockRow] = [
        .init(name: "at the limit", sizes: [16384, 114_688], code: nil),
        .init(name: "one above", sizes: [16384, 114_689], code: "h2-header-block"),
        .init(name: "the first alone", sizes: [131_073], code: "h2-header-block"),
        .init(name: "the largest frame", sizes: [0xFF_FFFF], code: "h2-header-block"),
        .init(name: "32 continuations", sizes: [Int](repeating: 1, count: 33), code: nil),
        .init(
            name: "33 continuations", sizes: [Int](repeating: 1, count: 34),
            code: "h2-continuation-flood"),
    ]

    @Test(arguments: blocks)
    func headerBlocksAreBounded(row: BlockRow) {
        var reader = HTTP2FrameReader(skippingPreface: false)
        var code: String?
        for (index, size) in row.sizes.enumerated() where code == nil {
            let frame = Frame(
                index == 0 ? 1 : 9, stream: 1, [UInt8](repeating: 0, count: size))
            do throws(HTTP2Flood) {
                try reader.read(frame.bytes.span, now: 0)
            } catch {
                code = error.code
            }
        }
        #expect(code == row.code)
    }

    @Test func countsByType() throws {
        var reader = HTTP2FrameReader(skippingPreface: true)
        let frames: [Frame] = [.ping(), .ping(), .reset(1), Frame(14), Frame(15), Frame(250)]
        try reader.read((Frame.preface + frames.flatMap(\.bytes)).span, now: 0)
        #expect(reader.counts[4] == 1)
        #expect(reader.counts[6] == 2)
        #expect(reader.counts[3] == 1)
        #expect(reader.counts[14] == 1)
        #expect(reader.counts[15] == 2)
    }

    @Test func tellsHowFarItWasSound() {
        let sound =
            Frame(1, stream: 1).bytes
            + [Frame](repeating: Frame(9, stream: 1), count: 32)
            .flatMap(\.bytes)
        var reader = HTTP2FrameReader(skippingPreface: false)
        #expect(throws: HTTP2Flood.self) {
            try reader.read((sound + Frame(9, stream: 1).bytes).span, now: 0)
        }
        #expect(reader.soundCount == sound.count)
    }

    @Test func anyBytesAreRead() {
        var state: UInt64 = 88_172_645_463_325_252
        for _ in 0..<300 {
            var reader = HTTP2FrameReader(skippingPreface: false)
            var bytes: [UInt8] = []
            for _ in 0..<2000 {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                bytes.append(state & 3 == 0 ? 0 : UInt8(truncatingIfNeeded: state >> 24))
            }
            do throws(HTTP2Flood) {
                try reader.read(bytes.span, now: state)
            } catch {
                #expect(error.count > 0)
            }
            #expect(reader.sideFrames.allSatisfy { $0.payload.count <= 512 && $0.stream >= 0 })
        }
    }
}
