import Base
import HTTP2Frames
import HTTPCodecs
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What clients take of an origin and no strict recipient does: it is taken, mended for the
    /// client, recorded as it came, and noted.
    @Suite struct LenientResponses {
        struct Row: CustomTestStringConvertible, Sendable {
            let name: String
            let head: String
            var content = "hello"
            /// What the client gets; the head without what the proxy adds.
            let mended: String
            var passed = "hello"
            let note: String
            var isReused = true
            var testDescription: String { name }
        }

        private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        private static let fives = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

        static let rows: [Row] = [
            Row(
                name: "LF alone", head: "HTTP/1.1 200 OK\nContent-Length: 5\n\n", mended: fives,
                note: "lenient-bare-lf"),
            Row(
                name: "LF alone here and there",
                head: "HTTP/1.1 200 OK\r\nX: 1\nContent-Length: 5\r\n\n",
                mended: "HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 5\r\n\r\n",
                note: "lenient-bare-lf"),
            Row(
                name: "a fold",
                head: "HTTP/1.1 200 OK\r\nX: 1 \r\n \t2\r\nContent-Length:\r\n\t5\r\n\r\n",
                mended: "HTTP/1.1 200 OK\r\nX: 1 2\r\nContent-Length: 5\r\n\r\n",
                note: "lenient-obs-fold"),
            Row(
                name: "white space before a colon",
                head: "HTTP/1.1 200 OK\r\nContent-Length \t: 5\r\n\r\n", mended: fives,
                note: "lenient-space-before-colon"),
            Row(
                name: "HTTP/1.2", head: "HTTP/1.2 200 OK\r\nContent-Length: 5\r\n\r\n",
                mended: fives, note: "lenient-version"),
            Row(
                name: "the same length twice",
                head: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: 1\r\nContent-Length: 5\r\n\r\n",
                mended: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: 1\r\n\r\n",
                note: "lenient-repeated-length"),
            Row(
                name: "a list of equal lengths",
                head: "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", mended: fives,
                note: "lenient-repeated-length"),
            Row(
                name: "both lengths",
                head: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
                content: "5\r\nhello\r\n0\r\n\r\n", mended: chunked,
                passed: "5\r\nhello\r\n0\r\n\r\n", note: "lenient-both-lengths",
                isReused: false),
            Row(
                name: "chunks in HTTP/1.0",
                head: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                content: "5\r\nhello\r\n0\r\n\r\n", mended: chunked,
                passed: "5\r\nhello\r\n0\r\n\r\n", note: "lenient-old-chunks",
                isReused: false),
            Row(
                name: "a coding that is none",
                head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n"
                    + "Content-Length: 5\r\n\r\n",
                mended: fives, note: "lenient-identity-coding"),
            Row(
                name: "chunks with LF alone", head: chunked,
                content: "5\nhello\n3;x=y\nabc\r\n0\nA: 1\n\n", mended: chunked,
                passed: "5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nA: 1\r\n\r\n",
                note: "lenient-bare-lf"),
            Row(
                name: "chunks that end with LF", head: chunked, content: "5\nhello\n0\n\n",
                mended: chunked, passed: "5\r\nhello\r\n0\r\n\r\n", note: "lenient-bare-lf"),
        ]

        @Test(arguments: rows, [false, true])
        func areTakenMendedAndNoted(_ row: Row, inPieces: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    while try wire.readHeadOrEnd() != nil {
                        for byte in [UInt8]((row.head + row.content).utf8).pieces(inPieces) {
                            try wire.send(byte)
                        }
                    }
                }
                let client = try proxy.connect()
                for _ in 0..<2 {
                    try client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(try client.readHead() == row.mended)
                    #expect(try client.read(row.passed.utf8.count).text == row.passed)
                }
                client.close()
                #expect(origin.acceptedCount == (row.isReused ? 1 : 2))
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == nil)
                #expect(exchange.responseHead.text == row.head)
                let connection = try proxy.traffic.connection()
                #expect(connection.notes.map(\.code) == [row.note])
            }
        }

        /// The connection to the origin goes on to the next client, which gets a sound response.
        @Test func areNotNotedOfOtherClients() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    while let head = try wire.readHeadOrEnd() {
                        let end = head.contains("/odd") ? "\n" : "\r\n"
                        try wire.send("HTTP/1.1 200 OK\(end)Content-Length: 5\(end)\(end)hello")
                    }
                }
                for (place, path) in ["odd", "sound"].enumerated() {
                    let client = try proxy.connect()
                    #expect(
                        try client.get("http://\(origin.authority)/\(path)").body.text == "hello")
                    client.close()
                    let codes = try proxy.traffic.connection(place).notes.map(\.code)
                    #expect(codes == (place == 0 ? ["lenient-bare-lf"] : []))
                }
                #expect(origin.acceptedCount == 1)
            }
        }

        @Test(arguments: rows)
        func passToHTTP2(_ row: Row) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    while try wire.readHeadOrEnd() != nil { try wire.send(row.head + row.content) }
                }
                let wire = try proxy.connect()
                let client = try HTTP2Peer(.client, wire)
                let stream = try client.request(
                    "GET / HTTP/1.1", authority: origin.authority, scheme: "http")
                let seen = try client.response(stream)
                #expect(seen.status == 200)
                #expect(seen.body.text.hasPrefix("hello"))
                wire.close()
                let connection = try proxy.http2Connection()
                #expect(connection.notes.map(\.code) == [row.note])
            }
        }
    }

    /// What must not stand behind a content (RFC 9110 §6.5.1).
    @Suite struct ForbiddenTrailers {
        private static let trailers =
            "Content-Length: 5\r\nX-Sum: 1\r\ntransfer-encoding: chunked\r\nHost: evil\r\n"
            + "If-Match: a\r\nAuthorization: b\r\nx-end: 2\r\n\r\n"
        private static let passing = "X-Sum: 1\r\nx-end: 2\r\n\r\n"

        @Test(arguments: Way.allCases, [false, true])
        func doNotPassOn(_ way: Way, inPieces: Bool) throws {
            let content = "3\r\nabc\r\n0\r\n\(Self.trailers)"
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let request = try wire.readRequest()
                    try check(request.trailers == Self.passing, request.trailers)
                    try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    for piece in [UInt8](content.utf8).pieces(inPieces) { try wire.send(piece) }
                    try wire.expectEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "POST \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n")
                for piece in [UInt8](content.utf8).pieces(inPieces) { try client.send(piece) }
                let response = try client.readResponse()
                #expect(response.body.text == "abc")
                #expect(response.trailers == Self.passing)
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.requestBody.trailers.text == Self.trailers)
                #expect(exchange.responseBody.trailers.text == Self.trailers)
                client.close()
                let connection = try proxy.traffic.connection()
                #expect(connection.notes.map(\.code) == ["forbidden-trailers"])
            }
        }

        /// Where nothing remains, the section does.
        @Test func leaveAnEmptySection() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + "0\r\nContent-Length: 5\r\n\r\n")
                    try wire.expectEnd()
                }
                let response = try proxy.connect().get("http://\(origin.authority)/")
                #expect(response.body.isEmpty)
                #expect(response.trailers == "")
            }
        }

        @Test func doNotPassToStreams() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + "4\r\ndone\r\n0\r\nContent-Type: x\r\nX-End: 2\r\n\r\n")
                    _ = try wire.readToEnd()
                }
                let wire = try proxy.connect()
                let client = try HTTP2Peer(.client, wire)
                let stream = try client.request(
                    "GET / HTTP/1.1", authority: origin.authority, scheme: "http")
                let seen = try client.response(stream)
                #expect(seen.body.text == "done")
                #expect(seen.trailers == "x-end: 2\r\n\r\n")
                client.wire.close()
            }
        }

        /// What a stream of HTTP/2 may end with; a Transfer-Encoding makes it malformed.
        private static let ofStreams = [
            ("content-length", "3"), ("x-sum", "1"), ("host", "evil"), ("if-match", "a"),
            ("authorization", "b"), ("set-cookie", "c"), ("x-end", "2"),
        ]
        private static let recorded =
            ofStreams.map { "\($0.0): \($0.1)\r\n" }.joined() + "\r\n"
        private static let passingOfStreams = "x-sum: 1\r\nx-end: 2\r\n\r\n"

        @Test func doNotPassFromStreamsOfClients() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    let request = try wire.readRequest()
                    try check(request.body.text == "abc", request.head)
                    try check(request.trailers == Self.passingOfStreams, request.trailers)
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    try wire.expectEnd()
                }
                let client = try HTTP2Peer(.client, try proxy.connect())
                let stream = try client.request(
                    "POST / HTTP/1.1", authority: origin.authority, scheme: "http",
                    endsStream: false)
                try client.send([UInt8]("abc".utf8), on: stream, ends: false)
                // Past the session, which sends no such trailers.
                try client.say(.headers(UInt32(stream), Self.ofStreams))
                #expect(try client.response(stream).body.text == "ok")
                client.wire.close()
                let trailers = try proxy.traffic.exchange().requestBody.trailers
                #expect(trailers.text == Self.recorded)
                let connection = try proxy.http2Connection()
                #expect(connection.notes.map(\.code) == ["forbidden-trailers"])
            }
        }

        @Test func doNotPassFromStreamsOfOrigins() throws {
            try withProxy(PlanChange { $0.policy.originVersion = .http2 }) { proxy in
                let origin = try proxy.http2Origin { peer, _ in
                    let (stream, _) = try peer.needRequest()
                    try peer.respond(stream, "HTTP/1.1 200 OK", "abc", ends: false)
                    try peer.say(.headers(UInt32(stream), Self.ofStreams))
                    try peer.waitForEnd()
                }
                let client = try proxy.secureTunnel(to: origin)
                let response = try client.get("/")
                #expect(response.body.text == "abc")
                #expect(response.trailers == Self.passingOfStreams)
                client.close()
                let trailers = try proxy.traffic.exchange().responseBody.trailers
                #expect(trailers.text == Self.recorded)
                let connection = try proxy.traffic.connection()
                #expect(connection.notes.map(\.code).contains("forbidden-trailers"))
            }
        }
    }
}

extension [UInt8] {
    /// Itself, or each byte alone.
    fileprivate func pieces(_ each: Bool) -> [[UInt8]] { each ? map { [$0] } : [self] }
}
