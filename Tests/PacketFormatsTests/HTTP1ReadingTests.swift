import Formats
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
        writer.flush()
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
        writer.flush()
        #expect(sink.exchanges.count == HTTP1Reading.openLimit)
        #expect(writer.losses.losses.map(\.kind) == [.requestsUnanswered])
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
