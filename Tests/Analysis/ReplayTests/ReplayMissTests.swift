import Base
import Testing

@testable import Replay

/// What a person is told to do about a request without an answer.
struct ReplayMissTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let head: String
        var content = ""
        let hint: String
        var rules: [String] = []

        var testDescription: String { name }
    }

    static let again = "if the request is right, record the session anew"

    static let rows = [
        Row(
            name: "another parameter", head: "GET /a?page=2 HTTP/1.1\nhost: example.com\n\n",
            hint: "if that may differ, --rules with 'ignore query page'",
            rules: ["ignore query page"]),
        Row(
            name: "a range of what was whole",
            head: "GET /a?page=1 HTTP/1.1\nhost: example.com\nrange: bytes=0-9\n\n",
            hint: "if that may differ, --rules with 'ignore header range'",
            rules: ["ignore header range"]),
        Row(
            name: "another host", head: "GET /a?page=1 HTTP/1.1\nhost: example.net\n\n",
            hint: "if that may differ, --rules with 'ignore authority'",
            rules: ["ignore authority"]),
        Row(
            name: "two elements of a list",
            head: "POST /b HTTP/1.1\nhost: example.com\ncontent-type: application/json\n\n",
            content: #"{"items":[{"at":3},{"at":4}]}"#,
            hint: "if that may differ, --rules with 'ignore body $.items[*].at'",
            rules: ["ignore body $.items[*].at"]),
        Row(
            name: "another text",
            head: "POST /c HTTP/1.1\nhost: example.com\ncontent-type: text/xml\n\n",
            content: "<b>", hint: "if that may differ, --rules with 'ignore body'",
            rules: ["ignore body"]),
        Row(
            name: "a parameter called *", head: "GET /a?page=1&*=1 HTTP/1.1\nhost: example.com\n\n",
            hint: #"if that may differ, --rules with 'ignore query \*'"#,
            rules: [#"ignore query \*"#]),
        Row(
            name: "another method", head: "HEAD /a?page=1 HTTP/1.1\nhost: example.com\n\n",
            hint: again),
        Row(name: "another path", head: "GET /q HTTP/1.1\nhost: example.com\n\n", hint: again),
        Row(
            name: "once too often", head: "GET /once HTTP/1.1\nhost: example.com\n\n",
            hint: "with '--order stay' the last answer is given again, with '--order cycle' all are"
        ),
    ]

    @Test(arguments: rows)
    func tellsWhatToDo(_ row: Row) throws {
        let source = MemorySource()
        source.add("GET /a?page=1 HTTP/1.1\nhost: example.com\n\n")
        source.add(
            "POST /b HTTP/1.1\nhost: example.com\ncontent-type: application/json\n\n",
            [UInt8](#"{"items":[{"at":1},{"at":2}]}"#.utf8))
        source.add(
            "POST /c HTTP/1.1\nhost: example.com\ncontent-type: text/xml\n\n", Array("<a>".utf8))
        source.add("GET /once HTTP/1.1\nhost: example.com\n\n")
        let recording = try ReplayRecording(source, options: ReplayOptions(), digests: .forTests)
        let first = try recording.ask("GET /once HTTP/1.1\nhost: example.com\n\n")
        first.noteEnd()
        _ = first.next()
        let authority = row.head.contains("example.net") ? "example.net" : "example.com"
        let exchange = try recording.ask(row.head, authority: authority)
        if !row.content.isEmpty { exchange.receive(Array(row.content.utf8).span) }
        exchange.noteEnd()
        guard case .miss(let miss) = exchange.next() else {
            Issue.record("it was answered")
            return
        }
        #expect(miss.hint == row.hint)
        #expect(miss.rules.map(\.text) == row.rules)
    }
}
