import Base
import Testing

@testable import HTTPCodecs

struct CallClientMachineTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// `10 2 500`: a message that ends at byte 10, behind two of the origin's, and at 500 ms.
        let lines: [String]
        /// What happens: messages of the origin with so many bytes, `last` ones that end its answer,
        /// `at` a time, and `end`.
        let events: [String]
        /// What it says before each event and at the end.
        let steps: [String]
        var isWhole = true
        var hasGivenUp = false
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(
            name: "turn by turn", lines: ["10 0 0", "20 1 0", "30 2 0"],
            events: ["message 3", "message 0"], steps: ["10 until 100", "20 until 100", "all"]),
        Row(
            name: "several at once", lines: ["10 0 0", "20 0 0", "30 1 0", "40 1 0"],
            events: ["message 3"], steps: ["20 until 100", "all"]),
        Row(
            name: "the origin is first", lines: ["10 2 0"], events: ["message 1", "message 1"],
            steps: ["until 100", "until 100", "all"]),
        Row(
            name: "more than there were", lines: ["10 1 0"], events: ["message 1", "message 1"],
            steps: ["until 100", "all", "all"]),
        Row(
            name: "at their times", lines: ["10 0 0", "20 0 50", "30 0 70"],
            events: ["at 49", "at 50", "at 80"],
            steps: ["10 until 50", "until 50", "20 until 70", "all"]),
        Row(
            name: "late", lines: ["10 0 0", "20 0 50", "30 0 70"], events: ["at 90"],
            steps: ["10 until 50", "all"]),
        Row(
            name: "a time and an answer", lines: ["10 0 0", "20 1 50"],
            events: ["message 1", "at 50"], steps: ["10 until 150", "until 50", "all"]),
        Row(
            name: "an answer too late for its time", lines: ["10 0 0", "20 1 50"],
            events: ["at 60", "message 1"], steps: ["10 until 150", "until 150", "all"]),
        Row(
            name: "silence", lines: ["10 0 0", "20 1 0", "30 2 0"],
            events: ["at 90", "message 1", "at 189", "at 190"],
            steps: ["10 until 100", "until 100", "20 until 190", "until 190", "end"],
            isWhole: false, hasGivenUp: true),
        Row(
            name: "the answer ends", lines: ["10 0 0", "20 1 0"], events: ["end"],
            steps: ["10 until 100", "end"], isWhole: false),
        Row(
            name: "the answer ends with what was waited for", lines: ["10 0 0", "20 1 0"],
            events: ["last 1"], steps: ["10 until 100", "all"]),
        Row(
            name: "the answer ends before the last", lines: ["10 0 0", "20 1 0", "30 2 0"],
            events: ["last 1"], steps: ["10 until 100", "20 end"], isWhole: false),
        Row(
            name: "the answer ends behind all", lines: ["10 0 0"], events: ["message 1", "end"],
            steps: ["all", "all", "all"]),
        Row(
            name: "nonsense is no message", lines: ["10 0 0", "20 1 0"],
            events: ["nonsense", "message 1"],
            steps: ["10 until 100", "until 100", "until 100"], isWhole: false),
        Row(name: "nothing", lines: [], events: [], steps: ["all"]),
    ]

    @Test(arguments: rows) func plays(_ row: Row) throws {
        try play(row) { machine, bytes, now in machine.receive(bytes.span, now: now) }
    }

    @Test(arguments: rows) func playsByteByByte(_ row: Row) throws {
        try play(row) { machine, bytes, now in
            for byte in bytes { machine.receive([byte].span, now: now) }
        }
    }

    private func play(
        _ row: Row, _ receive: (CallClientMachine, [UInt8], UInt64) -> Void
    ) throws {
        var script = CallScript()
        script.lines = try row.lines.map { line in
            let numbers = try line.split(separator: " ").map { try #require(Int64($0)) }
            return CallScript.Line(
                end: numbers[0], awaited: Int(numbers[1]), due: UInt64(numbers[2]), patience: 10)
        }
        let machine = CallClientMachine(script)
        // What came of an attempt before does not count.
        machine.begin(now: 1, timeout: 1)
        machine.noteSent(.max, now: 1)
        machine.receive([0, 0, 0, 0, 0].span, now: 1)
        machine.noteEnd()
        let start: UInt64 = 1000
        machine.begin(now: start, timeout: 90)
        var now = start
        var steps = [say(machine, now, start)]
        for event in row.events {
            let parts = event.split(separator: " ")
            switch parts[0] {
            case "at": now = start + (try #require(UInt64(parts[1])))
            case "message", "last":
                let size = try #require(UInt8(parts[1]))
                receive(machine, [0, 0, 0, 0, size] + Array(repeating: 7, count: Int(size)), now)
                if parts[0] == "last" { machine.noteEnd() }
            case "end": machine.noteEnd()
            default: receive(machine, [0x70, 1, 2], now)
            }
            steps.append(say(machine, now, start))
        }
        #expect(steps == row.steps)
        #expect(machine.isWhole == row.isWhole)
        #expect(machine.hasGivenUp == row.hasGivenUp)
        #expect(machine.silence.isEmpty == row.isWhole)
    }

    @Test func countsWhatWentOut() {
        var script = CallScript()
        script.lines = [10, 20].map { .init(end: $0, awaited: 0) }
        let machine = CallClientMachine(script)
        machine.begin(now: 1, timeout: 1)
        #expect(machine.next(now: 1) == .send(upTo: .max))
        #expect(machine.sent == 0)
        machine.noteSent(19, now: 1)
        #expect(machine.sent == 1 && !machine.isWhole)
        #expect(machine.next(now: 1) == .send(upTo: .max))
        machine.noteSent(20, now: 1)
        #expect(machine.isWhole)
    }

    /// What it sends until it waits, and until when.
    private func say(_ machine: CallClientMachine, _ now: UInt64, _ start: UInt64) -> String {
        var said: [String] = []
        while true {
            switch machine.next(now: now) {
            case .send(let end):
                machine.noteSent(end, now: now)
                if end == .max { return (said + ["all"]).joined(separator: " ") }
                said.append("\(end)")
            case .wait(let time):
                return (said + ["until \(time - start)"]).joined(separator: " ")
            case .end: return (said + ["end"]).joined(separator: " ")
            }
        }
    }
}
