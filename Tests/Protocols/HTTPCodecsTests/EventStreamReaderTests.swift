import Base
import Testing

@testable import HTTPCodecs

@Suite struct EventStreamReaderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        /// Type and lines of each.
        var events: [Told]
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ events: Told...) {
            self.name = name
            bytes = wire(text)
            self.events = events
        }
    }

    struct Told: Equatable, Sendable {
        var type: String
        var lines: String

        init(_ lines: String, type: String = "") {
            self.type = type
            self.lines = lines
        }
    }

    private static let longType = String(repeating: "t", count: 64)

    static let rows: [Row] = [
        Row("nothing", ""), Row("no empty line", "data: 1\n"), Row("no line", "data: 1"),
        Row("LF", "data: 1\n\n", Told("data: 1\n")),
        Row("CR", "data: 1\r\r", Told("data: 1\r")),
        Row("CRLF", "data: 1\r\n\r\n", Told("data: 1\r\n")),
        Row("LF, then CRLF", "data: 1\n\r\n", Told("data: 1\n")),
        Row("CR, then LF, is one end", "data: 1\r\n"),
        Row("LF, then CR", "data: 1\n\r", Told("data: 1\n")),
        Row(
            "two with CRLF", "data: 1\r\n\r\ndata: 2\r\n\r\n", Told("data: 1\r\n"),
            Told("data: 2\r\n")),
        Row(
            "mixed", "data: 1\r\rdata: 2\n\ndata: 3\r\n\rdata: 4\n\r\n", Told("data: 1\r"),
            Told("data: 2\n"), Told("data: 3\r\n"), Told("data: 4\n")),
        Row("empty lines first", "\r\n\n\r\rdata: 1\n\n", Told("data: 1\n")),
        Row(
            "type", "event: add\ndata: 73857293\n\nevent:remove\ndata: 2153\n\n",
            Told("event: add\ndata: 73857293\n", type: "add"),
            Told("event:remove\ndata: 2153\n", type: "remove")),
        Row("one space only", "event:  a \ndata\n\n", Told("event:  a \ndata\n", type: " a ")),
        Row(
            "last type counts", "event: a\nevent: b\ndata\n\n",
            Told("event: a\nevent: b\ndata\n", type: "b")),
        Row("type taken back", "event: a\nevent\ndata\n\n", Told("event: a\nevent\ndata\n")),
        Row(
            "type taken back by a colon", "event: a\nevent:\ndata\n\n",
            Told("event: a\nevent:\ndata\n")),
        Row("type without data", "event: a\n\ndata: 1\n\n", Told("data: 1\n")),
        Row("data without a colon", "data\n\n", Told("data\n")),
        Row("data with no value", "data:\n\n", Told("data:\n")),
        Row("other fields", "id: 1\nretry: 5\nfoo\n\n"),
        Row(
            "comments", ": keep-alive\n\n:\n\n: c\ndata: 1\n:d\n\n", Told(": c\ndata: 1\n:d\n")),
        Row("names of other length", "dat: 1\ndataa: 1\n data: 1\nData: 1\n\n"),
        Row("names that end like ours", "xxxxdata: 1\nxxxxxxxxdata: 1\nxevent: a\n\n"),
        Row("byte order mark", "~EF~BB~BFdata: 1\n\n", Told("data: 1\n")),
        Row("byte order mark twice", "~EF~BB~BF~EF~BB~BFdata: 1\n\n"),
        Row("half a byte order mark", "~EF~BBdata: 1\n\ndata: 2\n\n", Told("data: 2\n")),
        Row("half a byte order mark alone", "~EF~BB\n\ndata: 2\n\n", Told("data: 2\n")),
        Row("byte order mark and an empty line", "~EF~BB~BF\r\n\r\ndata: 2\n\n", Told("data: 2\n")),
        Row("zero", "data: ~00\n~00\n\n", Told("data: \0\n\0\n")),
        Row(
            "long type", "event: \(longType)t\ndata\n\n",
            Told("event: \(longType)t\ndata\n", type: longType)),
        Row(
            "long line", "data: \(longType)\(longType)\r\ndata: x\r\n\r\n",
            Told("data: \(longType)\(longType)\r\ndata: x\r\n")),
    ]

    @Test(arguments: rows)
    func reads(row: Row) {
        let whole = Array(row.bytes.indices)
        for cuts in [[], whole] + whole.map({ [$0] }) {
            #expect(read(row.bytes, cuts) == row.events)
        }
    }

    private func read(_ bytes: [UInt8], _ cuts: [Int]) -> [Told] {
        var reader = EventStreamReader()
        var events: [Told] = []
        var start = 0
        for end in cuts + [bytes.count] {
            reader.read(bytes.span.extracting(start..<end)) { event, type in
                let place = Int(event.offset)..<Int(event.offset + event.size)
                let name = unsafe type.withUnsafeBufferPointer { unsafe Array($0) }
                events.append(Told(bytes[place].text, type: name.text))
            }
            start = end
        }
        #expect(reader.offset == UInt64(bytes.count))
        return events
    }

    @Test func readsRandomBytesTheSameInPieces() {
        let pieces = ["data", "event", ":", " ", "\r", "\n", "\r\n", "\n\n", "x", "data: 1\n\n"]
        var generator = SeededGenerator(state: 9)
        var count = 0
        for _ in 0..<3000 {
            let bytes = (0..<Int.random(in: 0...30, using: &generator)).flatMap { _ in
                Array(pieces[Int.random(in: 0..<pieces.count, using: &generator)].utf8)
            }
            let whole = read(bytes, [])
            count += whole.count
            #expect(read(bytes, Array(bytes.indices)) == whole)
        }
        #expect(count > 1000)
    }
}
