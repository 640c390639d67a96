import Base
import HTTPModel
import HTTPServer
import Testing

struct ResponsePlanTests {
    struct Row: Sendable, CustomTestStringConvertible {
        enum Content: Sendable {
            case none
            case bytes(Int)
            case known(UInt64)
            case unknown
        }

        let name: String
        var method = "GET"
        var version = HTTPVersion.http11
        var keepsAlive = true
        var status = 200
        var fields: [ResponseField] = []
        var content = Content.bytes(3)
        let expected: String
        let framing: BodyFraming
        var closes = false
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(
            name: "bytes",
            expected: "200 OK|Date: D|Content-Length: 3", framing: .length(3)),
        Row(
            name: "fields in order", fields: [ResponseField("B", "2"), ResponseField("a", "1")],
            expected: "200 OK|B: 2|a: 1|Date: D|Content-Length: 3", framing: .length(3)),
        Row(
            name: "a date of its own", fields: [ResponseField("Date", "then")],
            expected: "200 OK|Date: then|Content-Length: 3", framing: .length(3)),
        Row(
            name: "framing fields of a route",
            fields: [
                ResponseField("content-length", "9"), ResponseField("Connection", "x"),
                ResponseField("TRANSFER-ENCODING", "chunked"),
            ],
            expected: "200 OK|Date: D|Content-Length: 3", framing: .length(3)),
        Row(
            name: "nothing", content: .none, expected: "200 OK|Date: D|Content-Length: 0",
            framing: .none),
        Row(
            name: "2^63-1 bytes", content: .known(UInt64(Int64.max)),
            expected: "200 OK|Date: D|Content-Length: 9223372036854775807",
            framing: .length(UInt64(Int64.max))),
        Row(
            name: "HEAD", method: "HEAD", expected: "200 OK|Date: D|Content-Length: 3",
            framing: .none),
        Row(
            name: "HEAD of a stream", method: "HEAD", content: .unknown,
            expected: "200 OK|Date: D", framing: .none),
        Row(
            name: "a stream", content: .unknown,
            expected: "200 OK|Date: D|Transfer-Encoding: chunked", framing: .chunked),
        Row(
            name: "a stream for 1.0", version: .http10, content: .unknown,
            expected: "200 OK|Date: D|Connection: close", framing: .untilClose, closes: true),
        Row(
            name: "bytes for 1.0", version: .http10,
            expected: "200 OK|Date: D|Content-Length: 3|Connection: keep-alive",
            framing: .length(3)),
        Row(
            name: "the last", keepsAlive: false,
            expected: "200 OK|Date: D|Content-Length: 3|Connection: close", framing: .length(3),
            closes: true),
        Row(name: "204", status: 204, expected: "204 No Content|Date: D", framing: .none),
        Row(name: "304", status: 304, expected: "304 Not Modified|Date: D", framing: .none),
        Row(
            name: "205", status: 205, expected: "205 Reset Content|Date: D|Content-Length: 0",
            framing: .none),
        Row(
            name: "no reason", status: 599, expected: "599 |Date: D|Content-Length: 3",
            framing: .length(3)),
    ])
    func plans(_ row: Row) {
        var response = ServerResponse(row.status, row.fields)
        switch row.content {
        case .none: break
        case .bytes(let count): response.body = .bytes([UInt8](repeating: 0, count: count))
        case .known(let length): response.body = .stream(length: length, BytesSource([]))
        case .unknown: response.body = .stream(length: nil, BytesSource([]))
        }
        let plan = ResponsePlan(
            response, toMethod: RequestMethod(row.method.utf8), version: row.version,
            keepsAlive: row.keepsAlive, date: "D")
        let lines = row.expected.split(separator: "|").joined(separator: "\r\n")
        #expect(plan.head.text == "HTTP/1.1 \(lines)\r\n\r\n")
        #expect(plan.framing == row.framing)
        #expect(plan.closes == row.closes)
    }

    @Test func endsChunks() {
        #expect(ResponsePlan.lastChunk(trailers: []).text == "0\r\n\r\n")
        #expect(
            ResponsePlan.lastChunk(
                trailers: [ResponseField("A", "b\r\nc"), ResponseField("Content-Length", "1")]
            ).text == "0\r\nA: b  c\r\n\r\n")
    }
}
