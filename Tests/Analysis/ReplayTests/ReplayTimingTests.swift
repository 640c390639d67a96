import Base
import Synchronization
import Testing
import Traffic

@testable import Replay

/// When recorded moments are due, by a clock that stands still unless it is told.
struct ReplayTimingTests {
    static let contentRows: [(timing: Int64, times: [UInt64])] = [
        (1000, [100, 100, 182, 264, 300]), (500, [50, 50, 91, 132, 150]),
    ]

    @Test(arguments: contentRows)
    func keepsTheTimesOfAContent(_ row: (timing: Int64, times: [UInt64])) throws {
        let played = try Self.play(Self.slowContent(), row.timing)
        #expect(
            played.steps == ["head", "content 16384", "content 16384", "content 7232", "end"])
        #expect(played.times == row.times)
    }

    @Test func answersAtOnce() throws {
        let played = try Self.play(Self.slowContent(), 0)
        #expect(played.steps == ["head", "content 40000", "end"])
        #expect(played.times == [0, 0, 0])
    }

    private static func slowContent() -> MemorySource {
        let source = MemorySource()
        source.add(
            get, to: "example.com", "HTTP/1.1 200 OK\ncontent-length: 40000\n\n",
            [UInt8](repeating: 1, count: 40_000))
        source.exchangeRecords[0].firstByteMicroseconds = 100_000
        source.exchangeRecords[0].durationMicroseconds = 300_000
        return source
    }

    static let eventRows: [(timing: Int64, times: [UInt64])] = [
        (0, [0, 0, 0, 0, 0, 0]), (1000, [5, 5, 20, 1000, 1300, 1300]),
    ]

    @Test(arguments: eventRows)
    func keepsTheTimesOfEvents(_ row: (timing: Int64, times: [UInt64])) throws {
        let source = MemorySource()
        let events = [UInt8]("data: 1\n\ndata: 2\r\n\r\ndata: 3\r\r:\n\n".utf8)
        source.add(
            Self.get, to: "example.com", "HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n",
            events)
        source.exchangeRecords[0].firstByteMicroseconds = 5000
        source.exchangeRecords[0].durationMicroseconds = 1_300_000
        let start = source.exchangeRecords[0].startedAt.microseconds
        // Where an event is: without the empty line that ends it.
        for (index, place) in [(0, 8, 5000), (9, 9, 20_000), (20, 8, 1_000_000)].enumerated() {
            let (offset, size, due) = place
            source.add(
                .response, .event, Array(events[offset..<offset + size]), exchange: 1,
                offset: Int64(offset))
            source.messageRecords[index].at = Timestamp(microseconds: start + Int64(due))
        }
        let played = try Self.play(source, row.timing)
        #expect(
            played.steps == [
                "head", "content 9", "content 11", "content 9", "content 3", "end",
            ])
        #expect(played.times == row.times)
    }

    /// A client that is slower than the recorded one does not wait besides.
    @Test func playsADialogueInItsTime() {
        var script = DialogueScript()
        let source = MemorySource()
        for (index, line) in [
            (Direction.response, "hello\n"), (.request, "a\n"), (.response, "b\n"),
            (.request, "c\n"), (.response, "d\n"),
        ].enumerated() {
            source.add(line.0, .segment, [UInt8](line.1.utf8))
            source.messageRecords[index].at = Timestamp(microseconds: Int64(index) * 100_000)
        }
        for message in source.messageRecords { script.add(message) }
        let clock = StandingClock()
        let dialogue = SegmentDialogue(script, with: "mail.test:25", clock.options(1000))
        #expect(dialogue.next() == .send([UInt8]("hello\n".utf8)))
        #expect(dialogue.next() == .needMore)
        dialogue.receive([UInt8]("a\n".utf8).span)
        #expect(dialogue.next() == .pause(200))
        clock.pass(200)
        #expect(dialogue.next() == .send([UInt8]("b\n".utf8)))
        clock.pass(1000)
        dialogue.receive([UInt8]("c\n".utf8).span)
        #expect(dialogue.next() == .send([UInt8]("d\n".utf8)))
        #expect(dialogue.next() == .end)
    }

    private static let get = "GET / HTTP/1.1\nhost: example.com\n\n"

    /// - Returns: what comes, and when, in milliseconds.
    private static func play(
        _ source: MemorySource, _ timing: Int64
    ) throws -> (steps: [String], times: [UInt64]) {
        let clock = StandingClock()
        let recording = try ReplayRecording(
            source, options: clock.options(timing), digests: .forTests)
        let exchange = try recording.ask(get)
        exchange.noteEnd()
        var steps: [String] = []
        var times: [UInt64] = []
        while steps.count < 100 {
            let step: String
            switch exchange.next() {
            case .pause(let time):
                clock.pass(time)
                continue
            case .head: step = "head"
            case .content(let bytes): step = "content \(bytes.count)"
            case .end: step = "end"
            default: step = "something else"
            }
            steps.append(step)
            times.append(clock.milliseconds)
            if step == "end" || step == "something else" { break }
        }
        return (steps, times)
    }
}
