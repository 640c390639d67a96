import Base
import HTTPCodecs
import Testing
import Traffic

@testable import Recording

@Suite struct TrafficRecorderTests {
    private let sink = TrafficCollector()

    private func chunk(_ count: Int) -> TrafficEvent {
        .bodyChunk(
            exchange: 1, direction: .request, sequence: 0,
            bytes: [UInt8](repeating: 0, count: count))
    }

    @Test func batchesUntilItIsFlushed() {
        var planned = 0
        let recorder = TrafficRecorder(sink: sink) { _ in planned += 1 }
        for _ in 0..<3 { recorder.record(chunk(1)) }
        #expect(sink.batches.isEmpty && planned == 1)
        recorder.flush()
        recorder.flush()
        #expect(sink.batches.map(\.count) == [3])
        recorder.record(chunk(1))
        #expect(planned == 2)
        recorder.record(chunk(1 << 20))
        #expect(sink.batches.map(\.count) == [3, 2])
    }

    @Test func handsEachEventOverByItself() {
        let recorder = TrafficRecorder(sink: sink)
        recorder.record(chunk(1))
        recorder.record(chunk(1))
        #expect(sink.batches.map(\.count) == [1, 1])
    }

    @Test func recordsNothingWithoutASink() async {
        let recorder = TrafficRecorder(sink: nil)
        recorder.record(chunk(1))
        recorder.flush()
        await recorder.waitForRoom()
        #expect(!recorder.isRecording)
    }

    @Test func waitsForRoom() async {
        let recorder = TrafficRecorder(sink: sink) { _ in }
        recorder.record(chunk(1))
        sink.congest()
        async let relief: Void = { [sink] in
            while !sink.isAwaited { await Task.yield() }
            sink.relieve()
        }()
        await recorder.waitForRoom()
        await relief
        #expect(sink.batches.map(\.count) == [1])
    }

    @Test func numbersRise() {
        let numbers = RecordNumbers(connection: 3, exchange: 9)
        #expect([numbers.nextConnection(), numbers.nextConnection()] == [3, 4])
        #expect([numbers.nextExchange(), numbers.nextExchange()] == [9, 10])
    }

    // MARK: Messages

    final class Connection: MessageRecorder {
        let connectionNumber: Int64 = 7
        var messageCount: Int64 = 0
        var notes: [ConnectionNote] = []
        let recorder: TrafficRecorder

        init(_ recorder: TrafficRecorder) { self.recorder = recorder }

        func write(_ message: MessageRecord) { recorder.record(.message(message)) }
    }

    @Test(arguments: [1 << 30, 1009, 262_145])
    func cutsLongMessagesEvenly(_ step: Int) {
        let size = BodyRecorder.pieceSize
        let content = (0..<(size + 10)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let messages = WebSocketMessageRecorder(
            Connection(TrafficRecorder(sink: sink)), exchange: 2, byteLimit: Int64(size) + 6)
        messages.note(.messageBegin(.text, isCompressed: false), Span(), .response)
        for start in stride(from: 0, to: content.count, by: step) {
            let end = min(start + step, content.count)
            messages.note(.content, content.span.extracting(start..<end), .response)
        }
        messages.note(.ping, Span(), .request)
        messages.finish()
        #expect(sink.messages.map(\.number) == [1, 2, 1])
        #expect(sink.messages.allSatisfy { $0.at.microseconds > 0 })
        #expect(sink.messages.map(\.part) == [0, 0, 1])
        #expect(sink.messages.map(\.isLast) == [false, true, true])
        #expect(sink.messages.map(\.isTruncated) == [false, false, true])
        #expect(sink.messages.map(\.size) == [Int64(size), 0, 10])
        #expect(sink.messages.map(\.bytes.count) == [size, 0, 6])
        #expect(sink.messages.last?.detail == "cut: the message did not end")
    }

    @Test func notesACodeOnce() {
        let connection = Connection(TrafficRecorder(sink: sink))
        for index in 0..<200 { connection.noteOnce("code-\(index / 2)", "\(index)") }
        #expect(connection.notes.count == 64)
        #expect(connection.notes.prefix(2).map(\.detail) == ["0", "2"])
    }

    // MARK: Exchanges

    @Test func finishesAnExchangeOnce() {
        var record = ExchangeRecord(
            id: 5, connection: 1, startedAt: Timestamp(microseconds: 1_000), scheme: .http,
            authority: "a")
        record.error = "first"
        let exchange = ExchangeRecorder(
            record, to: TrafficRecorder(sink: sink), messages: nil, byteLimit: 3)
        exchange.append([1, 2, 3, 4].span, .request)
        exchange.noteTrailers([5], .response)
        exchange.finish(at: Timestamp(microseconds: 1_500), error: "second", "why")
        exchange.finish(error: "third")
        let told = sink.events.compactMap {
            if case .exchange(let snapshot) = $0 { snapshot.record } else { nil }
        }
        #expect(told.map(\.durationMicroseconds) == [500])
        #expect(told.map(\.error) == ["first"])
        #expect(told.map(\.requestBody.bytes) == [[1, 2, 3]])
        #expect(told.map(\.requestBody.isTruncated) == [true])
        #expect(told.map(\.responseBody.trailers) == [[5]])
        #expect(exchange.size(.request) == 4)
    }
}
