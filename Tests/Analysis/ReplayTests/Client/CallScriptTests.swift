import Base
import HTTPCodecs
import Testing
import Traffic

@testable import Replay

struct CallScriptTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// In order: `> 0 5` is the client's message at byte 0 with 5 behind its prefix, `<` one of
        /// the origin's; each a second behind the one before, or at the second that stands last.
        let messages: [String]
        var type = "application/grpc+proto"
        var timing: Int64?
        /// `10 after 1`, with its time; `nil` if there is none.
        let lines: [String]?
        /// For how many seconds each of them waits, beside the time that any origin gets.
        var patience: [UInt64]?
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(
            name: "turn by turn", messages: ["> 0 5", "< 0 1", "> 10 5", "< 6 1"],
            lines: ["10 after 0 at 0", "20 after 1 at 0"], patience: [0, 2]),
        Row(
            name: "an answer that took long",
            messages: ["> 0 5 0", "< 0 1 100", "> 10 5 101"],
            lines: ["10 after 0 at 0", "20 after 1 at 0"], patience: [0, 101]),
        Row(
            name: "longer than anybody waits",
            messages: ["> 0 5 0", "< 0 1 9", "> 10 5 9000000000"],
            lines: ["10 after 0 at 0", "20 after 1 at 0"], patience: [0, 3600]),
        Row(
            name: "behind the content", messages: ["< 0 1", "> 0 5", "> 10 6"],
            lines: ["10 after 1 at 0"]),
        Row(
            name: "the origin first", messages: ["< 0 1", "< 6 1", "> 0 0"],
            lines: ["5 after 2 at 0"]),
        Row(
            name: "all at once", messages: ["> 0 5", "> 10 5", "< 0 1"],
            lines: ["10 after 0 at 0", "20 after 0 at 0"]),
        Row(
            name: "all at once, in their time", messages: ["> 0 5", "> 10 5", "< 0 1"],
            timing: 500, lines: ["10 after 0 at 0", "20 after 0 at 500"]),
        Row(
            name: "twice as slow", messages: ["> 0 5", "< 0 1", "> 10 5"], timing: 2000,
            lines: ["10 after 0 at 0", "20 after 1 at 4000"]),
        Row(
            name: "a time beyond all", messages: ["< 0 1", "> 0 5"], timing: .max,
            lines: ["10 after 1 at 1000000000000000"]),
        Row(
            name: "a file that lies",
            messages: ["< 0 1", "> 0 5", "> 3 1", "> -9 1", "> 9223372036854775807 1", "> 11 -7"],
            lines: ["10 after 1 at 0"]),
        Row(
            name: "not gRPC", messages: ["> 0 5", "< 0 1", "> 10 5"], type: "text/plain",
            timing: 1000, lines: nil),
        Row(name: "no messages", messages: [], timing: 1000, lines: nil),
    ])
    func reads(_ row: Row) throws {
        let source = MemorySource()
        source.add(
            "POST /a HTTP/2.0\nhost: a\ncontent-type: \(row.type)\n\n",
            Array(repeating: 0, count: 20))
        for (second, text) in row.messages.enumerated() {
            let parts = text.split(separator: " ")
            source.add(
                parts[0] == ">" ? .request : .response, .grpc, [], exchange: 1,
                offset: Int64(parts[1]))
            source.messageRecords[second].size = try #require(Int64(parts[2]))
            let moment = parts.count > 3 ? try #require(Int64(parts[3])) : Int64(second)
            source.messageRecords[second].at = Timestamp(
                microseconds: (1_700_000_000 + moment) * 1_000_000)
        }
        let script = try CallScript(
            source.exchangeRecords[0], from: source, timing: row.timing)
        #expect(
            script?.lines.map { "\($0.end) after \($0.awaited) at \($0.due)" } == row.lines)
        if let patience = row.patience {
            #expect(script?.lines.map { $0.patience / 1000 } == patience)
        }
        if row.lines != nil {
            #expect(script?.awaited == row.messages.count { $0.hasPrefix("<") })
        }
    }
}
