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

    struct Call: CustomTestStringConvertible, Sendable {
        let name: String
        /// Of the response's head.
        var fields = ""
        var trailers = ""
        var type = "application/grpc"
        var error: String?
        var isCut = false
        let status: Int?
        let trouble: String?
        let remark: String
        var testDescription: String { name }
    }

    static let calls = [
        Call(
            name: "in the trailers", trailers: "grpc-status: 14", status: 14,
            trouble: "grpc 14 UNAVAILABLE", remark: "grpc 14 UNAVAILABLE"),
        Call(
            name: "nothing but trailers", fields: "grpc-status: 14\r\n", status: 14,
            trouble: "grpc 14 UNAVAILABLE", remark: "grpc 14 UNAVAILABLE"),
        Call(
            name: "and cut", trailers: "grpc-status: 14", isCut: true, status: 14,
            trouble: "grpc 14 UNAVAILABLE", remark: "grpc 14 UNAVAILABLE, response cut"),
        Call(
            name: "and broken off", trailers: "grpc-status: 14", error: "origin-closed",
            status: 14, trouble: "origin-closed", remark: "origin-closed"),
        Call(
            name: "a success", trailers: "grpc-status: 0", status: 0, trouble: nil, remark: ""),
        Call(name: "no end", status: nil, trouble: nil, remark: ""),
        Call(
            name: "no call", trailers: "grpc-status: 14", type: "text/plain", status: nil,
            trouble: nil, remark: ""),
    ]

    /// With a status of 200 all the same.
    @Test(arguments: calls)
    func tellsHowACallEnded(_ call: Call) {
        var exchange = ExchangeRecord(
            id: 1, connection: 1, startedAt: Timestamp(microseconds: 0), scheme: .https,
            authority: "h")
        exchange.requestHead = [UInt8]("POST /a/B HTTP/2.0\r\n\r\n".utf8)
        exchange.responseHead = [UInt8](
            "HTTP/2.0 200\r\ncontent-type: \(call.type)\r\n\(call.fields)\r\n".utf8)
        exchange.responseBody.trailers = [UInt8](
            (call.trailers.isEmpty ? "" : "\(call.trailers)\r\n\r\n").utf8)
        exchange.responseBody.isTruncated = call.isCut
        exchange.status = 200
        exchange.error = call.error
        let flow = FlowSummary(ExchangeSummary(exchange), client: "", withSecrets: false)
        #expect(flow.grpcStatus == call.status)
        #expect(flow.trouble == call.trouble)
        #expect(flow.remark == call.remark)
        let number = call.status.map { String($0) } ?? "null"
        #expect(flow.json.line.text.contains("\"grpcStatus\":\(number)"))
    }
}
