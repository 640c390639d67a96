import Base
import Formats
import Recording
import TestConditions
import Testing
import Traffic

@testable import PacketFormats

struct HTTP1ReadingTests {
    private let sink = RecordingSink()

    @Test("Requests that come in one piece are told with their answers, however many")
    func manyAtOnce() {
        let (reading, writer) = begin()
        var turns = [reading.read(requests(600), .request, at: RecordedTraffic.start)]
        turns.append(reading.read(responses(300), .response, at: RecordedTraffic.start))
        turns.append(reading.read(responses(300), .response, at: RecordedTraffic.start))
        reading.finish(at: RecordedTraffic.start, .orderly)
        writer.recorder.flush()
        #expect(turns.allSatisfy { if case .none = $0 { true } else { false } })
        #expect(sink.exchanges.map(\.status) == [Int](repeating: 204, count: 600))
        #expect(writer.losses.losses.isEmpty)
    }

    @Test("Requests whose answers were not caught fill no memory, and are told as lost")
    func unanswered() {
        let (reading, writer) = begin()
        var count = 0
        var turn = HTTP1Reading.Turn.none
        while case .none = turn, count < 100 {
            turn = reading.read(requests(1000), .request, at: RecordedTraffic.start)
            count += 1
        }
        // 26 bytes each: more than 1 MiB of them behind the first 256.
        #expect(count == 41)
        reading.finish(at: RecordedTraffic.start, .missing)
        writer.recorder.flush()
        #expect(sink.exchanges.count == HTTP1Reading.openLimit)
        #expect(writer.losses.losses.map(\.kind) == [.requestsUnanswered])
    }

    /// What has come of a response is not read again with each packet of its request.
    @Test(.processorTime(below: .seconds(60))) func readsHeadsOnce() {
        let (reading, writer) = begin()
        let count = 1_000_000
        let request = "POST / HTTP/1.1\r\nHost:a\r\nContent-Length:\(count)\r\n\r\n"
        let fields = String(repeating: "a: \(String(repeating: "b", count: 995))\r\n", count: 60)
        var turns = [
            reading.read([UInt8](request.utf8), .request, at: RecordedTraffic.start),
            reading.read(
                [UInt8]("HTTP/1.1 200 \r\n\(fields)".utf8), .response, at: RecordedTraffic.start),
        ]
        for _ in 0..<count {
            let turn = reading.read([0x61], .request, at: RecordedTraffic.start)
            guard case .none = turn else {
                Issue.record("\(turn)")
                return
            }
        }
        let end = [UInt8]("Content-Length:0\r\n\r\n".utf8)
        turns += end.map { reading.read([$0], .response, at: RecordedTraffic.start) }
        writer.recorder.flush()
        #expect(turns.allSatisfy { if case .none = $0 { true } else { false } })
        #expect(sink.exchanges.map(\.status) == [200])
        #expect(sink.exchanges.map(\.requestBody.size) == [Int64(count)])
    }

    @Test("A content is cut as a recorded one, whatever the packets were")
    func evenPieces() throws {
        let (reading, writer) = begin()
        let content = [UInt8](repeating: 7, count: 3 * BodyRecorder.pieceSize + 9)
        let request = [UInt8](
            "POST / HTTP/1.1\r\nHost:a\r\nContent-Length:\(content.count)\r\n\r\n".utf8)
        let bytes = request + content
        for start in stride(from: 0, to: bytes.count, by: 1009) {
            let piece = Array(bytes[start..<min(start + 1009, bytes.count)])
            _ = reading.read(piece, .request, at: RecordedTraffic.start)
        }
        _ = reading.read(responses(1), .response, at: RecordedTraffic.start)
        writer.recorder.flush()
        let exchange = try #require(sink.exchanges.first)
        let size = BodyRecorder.pieceSize
        #expect(sink.chunks(of: exchange, .request).map(\.count) == [size, size, size, 9])
    }

    @Test(
        "A head that breaks the grammar is kept as it came, with what follows",
        arguments: [
            "POST /login HTTP/1.1\r\nHost : a.test\r\nAuthorization: Basic bm86cHc=\r\n\r\n",
            "\r\nPOST /login HTTP/1.1\r\nHost: a.test\r\nX\u{1}: y\r\n\r\n",
            "POST /login HTTP/1.1\nHost: a.test\nno colon\n\n",
        ], [1, 7, 1000])
    func malformedRequest(_ head: String, _ size: Int) throws {
        let (reading, writer) = begin()
        let bytes = [UInt8]("\(head)password=hunter2".utf8)
        var isBroken = false
        for start in stride(from: 0, to: bytes.count, by: size) where !isBroken {
            // Nothing more is read once it broke off.
            let piece = size == 1000 ? bytes : Array(bytes[start..<min(start + size, bytes.count)])
            if case .broken = reading.read(piece, .request, at: RecordedTraffic.start) {
                isBroken = true
            }
        }
        reading.finish(at: RecordedTraffic.start, .broken)
        writer.recorder.flush()
        #expect(isBroken)
        let exchange = try #require(sink.exchanges.first)
        #expect(exchange.error != nil && exchange.error != "origin-closed")
        #expect([UInt8](head.utf8).starts(with: exchange.requestHead))
        guard size == 1000 else { return }
        #expect(exchange.requestHead.text == head)
        #expect(exchange.requestBody.bytes.text == "password=hunter2")
        #expect(exchange.authority == (head.contains("Host :") ? exchange.authority : "a.test"))
    }

    @Test("An answer that breaks the grammar is kept as well")
    func malformedResponse() throws {
        let (reading, writer) = begin()
        _ = reading.read(requests(1), .request, at: RecordedTraffic.start)
        let head = "HTTP/1.1 2x0 OK\r\nSet-Cookie: a=b\r\n\r\n"
        let turn = reading.read([UInt8](head.utf8), .response, at: RecordedTraffic.start)
        guard case .broken = turn else {
            Issue.record("\(turn)")
            return
        }
        reading.finish(at: RecordedTraffic.start, .broken)
        writer.recorder.flush()
        #expect(sink.exchanges.map(\.responseHead.text) == [head])
    }

    @Test(
        "A head of empty lines alone costs no more than its bytes",
        .processorTime(below: .seconds(20)))
    func emptyLines() {
        let (reading, writer) = begin()
        var turn = HTTP1Reading.Turn.none
        for _ in 0..<64 {
            turn = reading.read(
                [UInt8](repeating: 0x0A, count: 4096), .request, at: RecordedTraffic.start)
            if case .broken = turn { break }
        }
        reading.finish(at: RecordedTraffic.start, .broken)
        writer.recorder.flush()
        #expect(sink.exchanges.count <= 1)
    }

    private func begin() -> (HTTP1Reading, ImportWriter) {
        let writer = ImportWriter(sink: sink, nextConnection: 1, nextExchange: 1)
        let messages = ImportedMessages(
            writer, connection: 1, at: RecordedTraffic.start, WebSocketRoom())
        let reading = HTTP1Reading(writer, messages, connection: 1, scheme: .http, origin: "a")
        return (reading, writer)
    }

    private func requests(_ count: Int) -> [UInt8] {
        [[UInt8]](repeating: [UInt8]("GET / HTTP/1.1\r\nHost:a\r\n\r\n".utf8), count: count)
            .flatMap { $0 }
    }

    private func responses(_ count: Int) -> [UInt8] {
        [[UInt8]](repeating: [UInt8]("HTTP/1.1 204 \r\n\r\n".utf8), count: count).flatMap { $0 }
    }
}
