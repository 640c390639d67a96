import Base
import Testing

@testable import HTTPCodecs

struct WebSocketClientMachineTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// `0 text a`: a text message that comes behind so many of the origin's; `close` stands for
        /// one that comes behind the origin's close.
        let lines: [String]
        /// In all.
        let awaited: Int
        /// What happens: frames of the origin, `silence` and `end`.
        let events: [String]
        /// What is said, with `|` behind what is said before each event, and `.` at the end.
        let said: String
        var isWhole = true
        var heardLimit: UInt64 = 100
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(
            name: "an echo", lines: ["0 text a", "1 binary b", "2 close 1000 done"], awaited: 2,
            events: ["text a", "binary b", "close 1000"],
            said: "text a|binary b|close 1000 done|."),
        Row(
            name: "the origin speaks first", lines: ["2 text a"], awaited: 3,
            events: ["text x", "text y", "text z", "close 1000"],
            said: "||text a|close 1000|."),
        Row(
            name: "pings are answered, and are no messages", lines: ["1 text a"], awaited: 1,
            events: ["ping p", "pong q", "text x", "close 1000"],
            said: "|pong p||text a close 1000|."),
        Row(
            name: "pings of its own", lines: ["0 ping p", "0 text a"], awaited: 0,
            events: ["pong p", "close 1000"], said: "ping p text a close 1000||."),
        Row(
            name: "the origin closes", lines: ["0 text a", "1 close 4321 as asked"], awaited: 1,
            events: ["text a", "close 4321"], said: "text a||close 4321 as asked."),
        Row(
            name: "the origin closes too early", lines: ["0 text a", "1 text b"], awaited: 1,
            events: ["close 1001"], said: "text a|close 1001.", isWhole: false),
        Row(
            name: "a close without a code", lines: ["0 text a"], awaited: 1,
            events: ["text a", "close"], said: "text a|close 1000|."),
        Row(
            name: "fewer messages", lines: ["0 text a", "2 text b"], awaited: 2,
            events: ["text x", "silence", "close 1000"], said: "text a||close 1000|.",
            isWhole: false),
        Row(
            name: "fewer at the end", lines: ["0 text a"], awaited: 2,
            events: ["text x", "silence", "silence"], said: "text a||close 1000|.",
            isWhole: false),
        Row(
            name: "a close without an answer", lines: ["0 text a"], awaited: 0,
            events: ["silence"], said: "text a close 1000|."),
        Row(
            name: "more messages", lines: ["0 text a"], awaited: 1,
            events: ["text x", "text y", "close 1000"], said: "text a|close 1000||."),
        Row(
            name: "broken off", lines: ["0 text a", "1 text b"], awaited: 1, events: ["end"],
            said: "text a|.", isWhole: false),
        Row(
            name: "broken off when all was said", lines: ["0 text a"], awaited: 1,
            events: ["text x", "end"], said: "text a|close 1000|."),
        Row(
            name: "nonsense", lines: ["0 text a"], awaited: 1, events: ["nonsense"],
            said: "text a|.", isWhole: false),
        Row(
            name: "a flood", lines: ["0 text a"], awaited: 1, events: ["text xxxxxxxxxxx"],
            said: "text a|.", isWhole: false, heardLimit: 10),
        Row(
            name: "a flood of nothing", lines: ["0 text a", "9 text b"], awaited: 9,
            events: ["text", "text"], said: "text a||.", isWhole: false, heardLimit: 20),
        Row(
            name: "nobody says anything", lines: [], awaited: 0, events: ["close 1000"],
            said: "close 1000|."),
    ]

    @Test(arguments: rows) func plays(_ row: Row) throws {
        try play(row) { machine, bytes in
            machine.receive(bytes.span, scratch: ByteBuffer(capacity: 4096)) { _, _ in }
        }
    }

    @Test(arguments: rows) func playsByteByByte(_ row: Row) throws {
        try play(row) { machine, bytes in
            for byte in bytes {
                machine.receive([byte].span, scratch: ByteBuffer(capacity: 4096)) { _, _ in }
            }
        }
    }

    /// What a few bytes unpack to is not looked at beyond the limit.
    @Test(arguments: [1, 9]) func endsAFloodThatIsPacked(_ messages: Int) {
        var script = WebSocketScript()
        script.heardLimit = 50_000
        script.patience = 7
        script.awaited = 100
        let machine = WebSocketClientMachine(script)
        machine.agree(on: PerMessageDeflate())
        let writer = WebSocketMessageWriter(role: .server, extensions: PerMessageDeflate())
        let content = [UInt8](repeating: 0, count: 1_000_000 / messages)
        var bytes: [UInt8] = []
        for _ in 0..<messages { writer.write(.binary, content.span, maskingKey: nil, into: &bytes) }
        #expect(bytes.count < 2000)
        var seen = 0
        machine.receive(bytes.span, scratch: ByteBuffer(capacity: 4096)) { seen += $1.count }
        #expect(say(machine) == ".")
        #expect(seen <= 50_000 + 4096 && !machine.isWhole)
    }

    private func play(
        _ row: Row, _ receive: (WebSocketClientMachine, [UInt8]) -> Void
    ) throws {
        var script = WebSocketScript()
        script.lines = try row.lines.map(Self.line)
        script.awaited = row.awaited
        script.patience = 7
        script.heardLimit = row.heardLimit
        let machine = WebSocketClientMachine(script)
        var said = say(machine)
        for event in row.events {
            switch event {
            case "silence": machine.noteSilence()
            case "end": machine.noteEnd()
            default: receive(machine, Self.frame(event))
            }
            said += "|" + say(machine)
        }
        #expect(said == row.said)
        #expect(machine.isWhole == row.isWhole)
    }

    /// What it says until it waits.
    private func say(_ machine: WebSocketClientMachine) -> String {
        var said: [String] = []
        while true {
            switch machine.next() {
            case .send(let frame):
                let parts = [
                    "\(frame.opcode)", frame.code.map { "\($0)" } ?? "", frame.content.text,
                ]
                said.append(parts.filter { !$0.isEmpty }.joined(separator: " "))
            case .wait: return said.joined(separator: " ")
            case .end: return said.joined(separator: " ") + "."
            }
        }
    }

    private static func line(_ text: String) throws -> WebSocketScript.Line {
        let parts = text.split(separator: " ", maxSplits: 3).map(String.init)
        let opcode = try #require(opcodes[parts[1]])
        let isClose = opcode == .close
        return WebSocketScript.Line(
            opcode, Array((isClose ? parts.dropFirst(3).first ?? "" : parts[2]).utf8),
            code: isClose ? UInt16(parts[2]) : nil, awaited: Int(parts[0]) ?? 0,
            awaitsClose: isClose && parts[2] == "4321", patience: 7)
    }

    private static func frame(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        let parts = text.split(separator: " ").map(String.init)
        guard let opcode = opcodes[parts[0]] else { return [0xFF, 0xFF] }
        let content = Array((parts.dropFirst().first ?? "").utf8)
        if opcode == .close {
            WebSocketWriter.writeClose(code: UInt16(content.text), reason: Span(), into: &bytes)
        } else {
            WebSocketWriter.write(opcode, content.span, into: &bytes)
        }
        return bytes
    }

    private static let opcodes: [String: WebSocketOpcode] = [
        "text": .text, "binary": .binary, "close": .close, "ping": .ping, "pong": .pong,
    ]
}
