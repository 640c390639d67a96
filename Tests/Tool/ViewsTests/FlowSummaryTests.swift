import Base
import Contents
import Testing
import Traffic

@testable import Views

struct FlowSummaryTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let startLine: String
        let method: String
        let url: String
        var testDescription: String { startLine }
    }

    static let buildsTheURLRows: [Row] = [
        Row(startLine: "GET /a?b HTTP/1.1", method: "GET", url: "https://h:1/a?b"),
        Row(startLine: "GET http://o/a HTTP/1.1", method: "GET", url: "http://o/a"),
        Row(startLine: "OPTIONS * HTTP/1.1", method: "OPTIONS", url: "https://h:1"),
        Row(startLine: "CONNECT o:443 HTTP/1.1", method: "CONNECT", url: "o:443"),
        Row(startLine: "GET a HTTP/1.1", method: "GET", url: "https://h:1/a"),
        Row(startLine: "GET /a b HTTP/1.1", method: "GET", url: "https://h:1/a b"),
        Row(startLine: "GET /a", method: "GET", url: "https://h:1/a"),
        Row(startLine: "GET", method: "GET", url: "https://h:1"),
        Row(startLine: "GET  HTTP/1.1", method: "GET", url: "https://h:1"),
        Row(startLine: "", method: "", url: "https://h:1"),
        Row(startLine: "GET ://x HTTP/1.1", method: "GET", url: "https://h:1/://x"),
    ]

    @Test(arguments: buildsTheURLRows)
    func buildsTheURL(_ row: Row) {
        for end in ["", "\n", "\r\n", "\r\nHost: x\r\n\r\n"] {
            var exchange = ExchangeRecord(
                id: 1, connection: 1, startedAt: Timestamp(microseconds: 0), scheme: .https,
                authority: "h:1")
            exchange.requestHead = [UInt8]((row.startLine + end).utf8)
            let flow = FlowSummary(ExchangeSummary(exchange), client: "", withSecrets: true)
            #expect(flow.method.text == row.method)
            #expect(flow.url.text == row.url)
        }
    }

    @Test func showsInvalidBytesAsReplacement() {
        var exchange = ExchangeRecord(
            id: 1, connection: 1, startedAt: Timestamp(microseconds: 0), scheme: .http,
            authority: "h")
        exchange.requestHead = [UInt8]("GET /".utf8) + [0xFF] + [UInt8](" HTTP/1.1\r\n\r\n".utf8)
        let line = FlowSummary(ExchangeSummary(exchange), client: "", withSecrets: false).json.line
            .text
        #expect(line.contains("\"url\":\"http://h/\u{FFFD}\""))
    }
}
