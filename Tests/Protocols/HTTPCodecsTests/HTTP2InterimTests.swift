import Base
import HTTP2Frames
import Testing

@testable import HTTPCodecs

/// Interim responses that an origin sends before anybody has read one.
@Suite struct HTTP2InterimTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        /// Of a value of each interim response, in bytes.
        let valueLength: Int
        let streams: Int
        let eachStream: Int
        /// How many are taken at the most, of all streams, and in bytes.
        let headLimit: Int
        let byteLimit: Int
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        .init(
            name: "many on a stream", valueLength: 1, streams: 1, eachStream: 1_000, headLimit: 64,
            byteLimit: 64 * 80),
        .init(
            name: "large ones on a stream", valueLength: 40_000, streams: 1, eachStream: 64,
            headLimit: 6, byteLimit: 256 << 10),
        .init(
            name: "on all streams", valueLength: 40_000, streams: 100, eachStream: 6,
            headLimit: 26, byteLimit: 1 << 20),
    ]

    private static let request = [
        (":method", "GET"), (":scheme", "http"), (":authority", "a.test"), (":path", "/"),
    ]

    @Test(arguments: rows)
    func areBounded(row: Row) throws {
        let client = HTTP2Session(role: .client)
        try client.receive(Frame.settings([(3, 1_000)]).bytes.span, now: 0)
        let head = try requestHead("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        let fields = HTTP2Fields.request(
            head, scheme: "http", authority: Array("a.test".utf8)[...], target: nil)
        var streams: [UInt32] = []
        for _ in 0..<row.streams {
            streams.append(UInt32(try #require(client.request(fields, endsStream: true))))
        }
        send(client)
        // The large value is in the table after the first time: one byte stands for it.
        let value = String(repeating: "a", count: row.valueLength)
        let literal = Frame.block([(":status", "103")]) + Frame.indexed("x", value)
        var frames: [UInt8] = []
        for round in 0..<row.eachStream {
            for stream in streams {
                let isTabled = row.valueLength < 4_000 && (round > 0 || stream != streams[0])
                let block = isTabled ? Frame.block([(":status", "103")]) + [0xBE] : literal
                frames += Self.headers(stream, block)
            }
        }
        try client.receive(frames.span, now: 0)
        var heads = 0
        var bytes = 0
        var refused: Set<Int32> = []
        for event in client.takeEvents() {
            switch event {
            case .head(_, let head):
                heads += 1
                bytes += head.size
            case .malformed(let stream, _, let detail):
                #expect(detail.contains("interim responses"))
                refused.insert(stream)
            default: continue
            }
        }
        #expect(heads <= row.headLimit)
        #expect(heads >= row.headLimit - 1)
        #expect(bytes <= row.byteLimit)
        #expect(!refused.isEmpty)
        // The connection goes on.
        #expect(client.failure == nil)
        #expect(send(client).contains { $0.type == 3 && $0.number() == 11 })
    }

    /// What was read makes room for more.
    @Test func readingMakesRoom() throws {
        let client = HTTP2Session(role: .client)
        try client.receive(Frame.settings().bytes.span, now: 0)
        let head = try requestHead("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        let fields = HTTP2Fields.request(
            head, scheme: "http", authority: Array("a.test".utf8)[...], target: nil)
        let value = String(repeating: "a", count: 40_000)
        for _ in 0..<60 {
            let stream = UInt32(try #require(client.request(fields, endsStream: true)))
            send(client)
            let interim = Frame.block([(":status", "103"), ("x", value)])
            try client.receive(Self.headers(stream, interim).span, now: 0)
            let events = client.takeEvents()
            let heads = events.compactMap { if case .head(_, let head) = $0 { head } else { nil } }
            #expect(heads.count == 1)
            for head in heads { client.releaseInterims(head.size) }
            client.reset(Int32(stream), HTTP2ErrorCode.cancel)
            send(client)
        }
    }

    /// HEADERS with CONTINUATION where the block is longer than a frame.
    private static func headers(_ stream: UInt32, _ block: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var start = 0
        repeat {
            let end = min(block.count, start + 16_384)
            let flags: UInt8 = end == block.count ? 4 : 0
            bytes +=
                Frame(start == 0 ? 1 : 9, flags: flags, stream: stream, Array(block[start..<end]))
                .bytes
            start = end
        } while start < block.count
        return bytes
    }

    @discardableResult
    private func send(_ session: HTTP2Session) -> [Frame] {
        var parser = FrameParser()
        var frames: [Frame] = []
        while session.wantsToSend {
            let buffer = ByteBuffer(capacity: 1 << 16)
            _ = session.send(into: buffer)
            guard !buffer.isEmpty else { break }
            let bytes = buffer.copy
            let preface = HTTP2DirectionReader.preface
            frames += parser.take(
                bytes.starts(with: preface) ? Array(bytes.dropFirst(preface.count)) : bytes)
        }
        return frames
    }
}
