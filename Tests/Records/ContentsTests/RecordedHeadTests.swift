import Base
import Testing
import Traffic

@testable import Contents

struct RecordedHeadTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        let fields: [String]
        var isMalformed = false
        var testDescription: String { name }
    }

    /// Who reads the column with a program of his own is to get text.
    @Test(arguments: [
        ("text/html; x=a", "text/html; x=a"), ("text/\u{e9}", "text/\u{e9}"), ("", ""),
    ])
    func cutsContentTypes(_ sent: String, _ expected: String) {
        #expect(contentType(Array(sent.utf8)) == Array(expected.utf8))
    }

    @Test func cutsContentTypesThatAreNoText() {
        #expect(contentType([0x61, 0xE9, 0x62]) == Array("a\u{fffd}b".utf8))
    }

    private func contentType(_ value: [UInt8]) -> [UInt8] {
        var record = ExchangeRecord(
            id: 1, connection: 1, startedAt: Timestamp(microseconds: 0), scheme: .http,
            authority: "a")
        record.responseHead =
            Array("HTTP/1.1 200 \r\nContent-Type: ".utf8) + value + Array("\r\n\r\n".utf8)
        return Array(record.headSummary.contentType)
    }

    static let rows = [
        Row(name: "plain", text: "A: 1\r\nB:2\r\n\r\n", fields: ["A=1", "B=2"]),
        Row(name: "line feeds alone", text: "A: 1\nB:2\n", fields: ["A=1", "B=2"]),
        Row(name: "cut", text: "A: 1\r\nB", fields: ["A=1"], isMalformed: true),
        Row(
            name: "folded", text: "A: 1\r\n two\r\n\t three \r\nB: x\r\n\r\n",
            fields: ["A=1 two three", "B=x"]),
        Row(name: "folded from nothing", text: "A:\r\n  1\r\n \r\n\r\n", fields: ["A=1"]),
        Row(name: "folded at the start", text: " A: 1\r\n", fields: ["A=1"]),
        Row(name: "space before the colon", text: "A : 1\r\n", fields: ["A=1"]),
        Row(
            name: "pseudo-field", text: ":protocol: websocket\r\n", fields: [":protocol=websocket"]),
        Row(name: "no field", text: "nothing\r\nA: 1\r\n", fields: ["A=1"], isMalformed: true),
        Row(name: "no name", text: ": 1\r\nA: 1\r\n", fields: ["A=1"], isMalformed: true),
        Row(name: "colons in a value", text: "A: b:c\r\n", fields: ["A=b:c"]),
        Row(name: "nothing", text: "", fields: []),
    ]

    @Test(arguments: [
        ("CONNECT h:443 HTTP/1.1\r\n\r\n", true), ("CONNECT h:443 HTTP/2.0\r\n\r\n", true),
        ("CONNECT / HTTP/2.0\r\n:protocol: websocket\r\n\r\n", false),
        ("GET / HTTP/1.1\r\n\r\n", false), ("CONNECTION / HTTP/1.1\r\n\r\n", false), ("", false),
    ])
    func knowsTunnels(_ head: String, _ isTunnel: Bool) {
        #expect(RecordedHead(Array(head.utf8)).asksForTunnel == isTunnel)
    }

    @Test(arguments: rows)
    func takesFieldsApart(_ row: Row) {
        for (head, isSection) in [
            (RecordedHead(Array("GET / HTTP/1.1\r\n\(row.text)".utf8)), false),
            (RecordedHead(trailers: Array(row.text.utf8)), true),
        ] {
            #expect(head.fields.map { "\($0.name.text)=\($0.value.text)" } == row.fields)
            #expect(head.isMalformed == row.isMalformed)
            #expect(head.startLine.text == (isSection ? "" : "GET / HTTP/1.1"))
            for place in head.places where !place.name.isEmpty {
                let alone = RecordedHead(trailers: Array(head.bytes[place.lines])).fields
                #expect(alone.map(\.value) == [Array(head.value(place))])
            }
        }
    }

    @Test func findsValuesInAnyShape() {
        let head = RecordedHead(
            [UInt8](
                "GET / HTTP/1.1\r\nA: 1\r\na :2\nB: x\r\nA:\r\n a: folded\r\n\ta: too\r\nno field\r\n: y\r\n\r\n"
                    .utf8))
        #expect(head.values(named: "a").map(\.text) == ["1", "2", "a: folded a: too"])
        #expect(head.values(named: Array("a".utf8)).map(\.text) == ["1", "2", "a: folded a: too"])
        #expect(head.first(named: "b")?.text == "x")
        #expect(head.values(named: "c").isEmpty)
        #expect(
            head.lines.map(\.text) == [
                "A: 1", "a :2", "B: x", "A: a: folded a: too", "no field", ": y",
            ])
    }

    @Test(arguments: [
        ("GET /a b HTTP/1.1\r\nA: 1", "GET", "/a b"), ("GET /a", "GET", "/a"), ("GET", "GET", ""),
        (":method: PUT\r\n:path: /x\r\nA: 1\r\n", "PUT", "/x"), ("", "", ""),
    ])
    func tellsMethodAndTarget(_ text: String, _ method: String, _ target: String) {
        let head = RecordedHead(Array(text.utf8))
        #expect(head.method.text == method)
        #expect(head.target.text == target)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK now\r\n", 200, "OK now"), ("HTTP/2.0 404\r\n", 404, ""), ("x", 0, ""),
    ])
    func tellsTheStatus(_ text: String, _ status: Int, _ reason: String) {
        let head = RecordedHead(Array(text.utf8))
        #expect(head.status == status)
        #expect((head.statusWords.count > 2 ? head.statusWords[2].text : "") == reason)
    }

    @Test(arguments: ["", "\r", "\n", "\r\n", " ", "  ", ":", "HTTP/", "\u{0}"])
    func anyBytesAreAHead(_ text: String) {
        let head = RecordedHead([UInt8](text.utf8))
        #expect(head.values(named: "a").isEmpty)
        #expect(head.method.count + head.target.count <= text.utf8.count)
    }
}
