import Base
import Dispatch
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Exchanges byte for byte: what the client sent, the origin got and the record holds.
    @Suite struct Exchanges {
        @Test(arguments: Way.allCases)
        func headsAreRecordedAsTheyCame(_ way: Way) throws {
            try withProxy { proxy in
                let fields =
                    "hOsT:localhost\r\nX-Odd:   two  spaces\t \r\nx-odd: again\r\nX-EMPTY:\r\n"
                    + "Cookie: a=b;  c=\u{e9}\r\n\r\n"
                let answer =
                    "HTTP/1.1 299  Odd  reason \r\nsErVeR:x\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
                    + "X:\t\tz \r\ncontent-LENGTH: 2\r\n\r\n"
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let head = try wire.readHead()
                    let expected = fields.dropFirst("hOsT:localhost\r\n".count)
                    try check(head.hasPrefix("BREW /a%20b?x=%7e;y HTTP/1.1\r\n"), head)
                    try check(head.hasSuffix("\r\n" + expected), head)
                    try wire.send(answer + "ok")
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                let sent = "BREW \(way.target("/a%20b?x=%7e;y", origin)) HTTP/1.1\r\n" + fields
                try client.send(sent)
                #expect(try client.readHead() == answer)
                #expect(try client.read(2).text == "ok")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.requestHead.text == sent)
                #expect(exchange.responseHead.text == answer)
                #expect(exchange.status == 299)
            }
        }

        // MARK: Content

        enum Coding: CaseIterable { case length, chunks, close }

        static let sizes = [0, 1, 1024, 262_143, 262_144, 262_145, 5_000_000]
        static let questions = Dictionary(
            uniqueKeysWithValues: sizes.map { ($0, sampleBytes($0, seed: 3)) })
        static let answers = Dictionary(
            uniqueKeysWithValues: sizes.map { ($0, sampleBytes($0, seed: 4)) })

        private static func message(_ start: String, _ body: [UInt8], _ coding: Coding) -> [UInt8] {
            switch coding {
            case .length:
                [UInt8]("\(start)Content-Length: \(body.count)\r\n\r\n".utf8) + body
            case .chunks:
                [UInt8]("\(start)Transfer-Encoding: chunked\r\n\r\n".utf8)
                    + chunked(body, trailers: "X-Sum: 1\r\nx-sum:2 \r\n")
            case .close: [UInt8]("\(start)\r\n".utf8) + body
            }
        }

        struct ContentCase: CustomTestStringConvertible, Sendable {
            let size: Int
            let coding: Coding
            let way: Way
            var testDescription: String { "\(size) \(coding) \(way)" }
        }

        static let contentCases = sizes.flatMap { size in
            Coding.allCases.flatMap { coding in
                Way.allCases.map { ContentCase(size: size, coding: coding, way: $0) }
            }
        }

        @Test(arguments: contentCases)
        func contentPassesAndIsRecorded(_ row: ContentCase) throws {
            let question = try #require(Self.questions[row.size])
            let answer = try #require(Self.answers[row.size])
            let requestCoding = row.coding == .close ? .length : row.coding
            let hasTrailers = row.coding == .chunks
            let trailers = "X-Sum: 1\r\nx-sum:2 \r\n\r\n"
            try withProxy { proxy in
                let origin = try proxy.origin(row.way.kind) { wire, _ in
                    let request = try wire.readRequest()
                    try check(request.body == question, "other content: \(request.body.count)")
                    try check(request.trailers == (hasTrailers ? trailers : ""), request.trailers)
                    try wire.send(Self.message("HTTP/1.1 200 OK\r\n", answer, row.coding))
                    if row.coding == .close { try wire.finish() }
                    try wire.expectEnd()
                }
                let client = try row.way.open(proxy, origin)
                let start = "POST \(row.way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                try client.send(Self.message(start, question, requestCoding))
                let response = try client.readResponse()
                #expect(response.body == answer)
                #expect(response.trailers == (hasTrailers ? trailers : ""))
                // An origin of the client's own has not said it, and its end says it all.
                let isTold = row.coding == .close && row.way == .absoluteForm
                #expect(response.field("connection") == (isTold ? "close" : nil))
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == nil)
                #expect(exchange.requestBody.size == Int64(row.size))
                #expect(exchange.responseBody.size == Int64(row.size))
                #expect(proxy.traffic.body(exchange, .request) == question)
                #expect(proxy.traffic.body(exchange, .response) == answer)
                #expect(exchange.requestBody.trailers.text == (hasTrailers ? trailers : ""))
                #expect(exchange.responseBody.trailers.text == (hasTrailers ? trailers : ""))
                #expect(!exchange.responseBody.isTruncated)
            }
        }

        @Test func contentPastTheLimitIsCounted() throws {
            try withProxy(.policy(\.recordedBody, 1000)) { proxy in
                let content = sampleBytes(300_000)
                let origin = try proxy.origin { wire, _ in
                    let request = try wire.readRequest()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n")
                    try wire.send(request.body)
                    try wire.expectEnd()
                }
                let client = try proxy.connect()
                try client.send(
                    "POST http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n"
                        + "Content-Length: 300000\r\n\r\n")
                try client.send(content)
                #expect(try client.readResponse().body == content)
                let exchange = try proxy.traffic.exchange()
                for direction in [Direction.request, .response] {
                    let body =
                        direction == .request ? exchange.requestBody : exchange.responseBody
                    #expect(body.size == 300_000)
                    #expect(body.isTruncated)
                    #expect(
                        proxy.traffic.body(exchange, direction) == Array(content.prefix(1000)))
                }
            }
        }

        /// A method, what answers it, and its status; no content follows any of them.
        static let bareResponses = [
            ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", 200),
            ("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200),
            ("HEAD", "HTTP/1.1 200 OK\r\n\r\n", 200),
            ("GET", "HTTP/1.1 204 No Content\r\n\r\n", 204),
            (
                "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\nETag: \"a\"\r\n\r\n",
                304
            ),
            ("GET", "HTTP/1.1 304 Not Modified\r\n\r\n", 304),
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200),
            ("OPTIONS", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200),
        ]

        @Test(arguments: bareResponses)
        func responsesWithoutContent(_ method: String, _ answer: String, _ status: Int) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    for _ in 0..<3 {
                        _ = try wire.readHead()
                        try wire.send(answer)
                    }
                    try wire.expectEnd()
                }
                let client = try proxy.connect()
                for place in 0..<3 {
                    try client.send(
                        "\(method) http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(try client.readHead() == answer)
                    let exchange = try proxy.traffic.exchange(place)
                    #expect(exchange.status == status)
                    #expect(exchange.responseBody.size == 0)
                }
                #expect(origin.acceptedCount == 1)
            }
        }
    }
}
