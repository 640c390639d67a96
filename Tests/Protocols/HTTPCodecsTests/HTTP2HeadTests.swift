import Base
import HTTPModel
import Testing

@testable import HTTPCodecs

/// A decoded header block from pairs that are spelled `name: value`.
func head(_ lines: [String]) -> HTTP2Head {
    var block = HTTP2HeaderBlock()
    for line in lines {
        let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        let name = Array(parts[0].dropLast().utf8)
        let value = wire(parts.count > 1 ? String(parts[1]) : "")
        block.add(name.span, value.span)
    }
    return block.finish()
}

/// The fields of a block on its way out, as `name: value` lines.
func lines(_ fields: HTTP2Fields) -> [String] {
    fields.entries.map { entry in
        let name = fields.bytes[entry.name..<entry.name + entry.nameCount].text
        let value = fields.bytes[entry.value..<entry.value + entry.valueCount].text
        return "\(name): \(value)" + (entry.isSensitive ? " (sensitive)" : "")
    }
}

@Suite struct HTTP2HeadTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let lines: [String]
        let expected: String
        var testDescription: String { name }

        init(_ name: String, _ lines: [String], _ expected: String) {
            self.name = name
            self.lines = lines
            self.expected = expected
        }
    }

    private static let get = [":method: GET", ":scheme: https", ":authority: a.test", ":path: /"]

    private static func get(replacing path: String) -> [String] {
        get.dropLast() + [":path: \(path)"]
    }

    static let requests: [Row] = [
        .init("usual", get, "GET / HTTP/2.0|host: a.test|"),
        .init(
            "fields in their order and case", get + ["b: 2", "a: 1", "b:  3"],
            "GET / HTTP/2.0|host: a.test|b: 2|a: 1|b:  3|"),
        .init("host that says the same", get + ["host: a.test"], "GET / HTTP/2.0|host: a.test|"),
        .init(
            "host that says something else", get + ["host: b.test"],
            "GET / HTTP/2.0|host: a.test|host: b.test|"),
        .init(
            "host alone", [":method: GET", ":scheme: https", ":path: /", "host: b.test"],
            "GET / HTTP/2.0|host: b.test|"),
        .init("nobody asked", [":method: GET", ":scheme: https", ":path: /"], "GET / HTTP/2.0|"),
        .init(
            "cookie crumbs", get + ["cookie: a=1", "cookie: b=2"],
            "GET / HTTP/2.0|host: a.test|cookie: a=1|cookie: b=2|"),
        .init("asterisk", get(replacing: "*"), "GET * HTTP/2.0|host: a.test|"),
        .init("query", get(replacing: "/a?b#c"), "GET /a?b#c HTTP/2.0|host: a.test|"),
        .init("octets above ASCII", get(replacing: "/~FF"), "GET /\u{FFFD} HTTP/2.0|host: a.test|"),
        .init("empty value", get + ["a: "], "GET / HTTP/2.0|host: a.test|a: |"),
        .init(
            "CONNECT", [":method: CONNECT", ":authority: a.test:443"],
            "CONNECT a.test:443 HTTP/2.0|host: a.test:443|"),
        .init(
            "extended CONNECT",
            [
                ":method: CONNECT", ":protocol: websocket", ":scheme: https", ":path: /chat",
                ":authority: a.test", "sec-websocket-version: 13",
            ],
            "CONNECT /chat HTTP/2.0|host: a.test|:protocol: websocket|sec-websocket-version: 13|"),
        .init(
            "fields before others of the start", ["a: 1", get[0], "b: 2"] + get.dropFirst(),
            "GET / HTTP/2.0|host: a.test|a: 1|b: 2|"),
        .init(
            "a status besides", [":status: 200", "a: 1"] + get, "GET / HTTP/2.0|host: a.test|a: 1|"),
        .init(
            "a pseudo-header field nobody knows", get + [":new: 1"],
            "GET / HTTP/2.0|host: a.test|"),
        .init(
            "other method", [":method: M-SEARCH"] + get.dropFirst(),
            "M-SEARCH / HTTP/2.0|host: a.test|"),
        // What does not fit on a line of HTTP/1.
        .init("no path", get.dropLast(), "invalid-target"),
        .init("blank in the path", get(replacing: "/a b"), "invalid-target"),
        .init("line in the path", get(replacing: "/a~0D~0Ab"), "invalid-target"),
        .init("NUL in the path", get(replacing: "/~00"), "invalid-target"),
        .init("DEL in the path", get(replacing: "/~7F"), "invalid-target"),
        .init(
            "line in the authority", [":authority: a~0Ab"] + get.filter { !$0.hasPrefix(":a") },
            "invalid-target"),
        .init("no method", Array(get.dropFirst()), "invalid-method"),
        .init("blank in the method", [":method: GET /x"] + get.dropFirst(), "invalid-method"),
        .init("CONNECT to nowhere", [":method: CONNECT"], "invalid-target"),
    ]

    @Test(arguments: requests)
    func requestsAreSpelledAsHTTP1(row: Row) {
        do throws(HTTP1Violation) {
            let request = try head(row.lines).requestHead()
            let text = request.raw.text.replacing("\r\n", with: "|")
            #expect(text.hasSuffix("||"))
            #expect(text.dropLast() == row.expected)
            #expect(request.version == .http2)
            for slice in request.fields.slices {
                let name = request.fields.name(slice).text
                #expect(row.expected.contains("|\(name): \(request.fields.value(slice).text)|"))
                #expect(slice.known == KnownField(name: Array(name.utf8).span))
            }
        } catch {
            #expect(error.code == row.expected)
        }
    }

    @Test func knowsItsMethod() throws {
        let known: [(String, KnownMethod)] = [
            ("GET", .get), ("HEAD", .head), ("POST", .post), ("CONNECT", .connect), ("get", .other),
            ("PUT", .other),
        ]
        for (name, expected) in known {
            #expect(
                try head([":method: \(name)"] + Self.get.dropFirst()).requestHead().knownMethod
                    == expected)
        }
    }

    @Test func countsAsHPACKDoes() {
        #expect(head([":method: GET", "a: 1"]).size == 7 + 3 + 32 + 1 + 1 + 32)
    }

    static let responses: [Row] = [
        .init("usual", [":status: 200", "a: 1"], "HTTP/2.0 200|a: 1|"),
        .init("interim", [":status: 103", "link: x"], "HTTP/2.0 103|link: x|"),
        .init(
            "cookies", [":status: 200", "set-cookie: a", "set-cookie: b"],
            "HTTP/2.0 200|set-cookie: a|set-cookie: b|"),
        .init("a host is nothing special", [":status: 200", "host: a"], "HTTP/2.0 200|host: a|"),
        .init("fields before it", ["a: 1", ":status: 404", "b: 2"], "HTTP/2.0 404|a: 1|b: 2|"),
        .init("no number", [":status: ~FF~FF~FF"], "HTTP/2.0 999|"),
        .init("too small", [":status: 7"], "HTTP/2.0 100|"),
        .init("endless", [":status: 99999999999999999999999"], "HTTP/2.0 999|"),
    ]

    @Test(arguments: responses)
    func responsesAreSpelledAsHTTP1(row: Row) {
        let response = head(row.lines).responseHead()
        let text = response.raw.text.replacing("\r\n", with: "|").replacing("200 |", with: "200|")
        #expect(text.dropLast() == row.expected)
        #expect((100...999).contains(response.status))
        let fields = response.fields.pairs.map { "\($0.name): \($0.value)" }
        #expect(fields == row.expected.split(separator: "|").dropFirst().map(String.init))
        #expect(response.reason.isEmpty)
    }

    /// There may be many of them that nobody takes.
    @Test func shortHeadsTakeLittleRoom() {
        let interim = head([":status: 103"]).responseHead()
        #expect(interim.raw.capacity < 100)
        #expect(interim.fields.slices.capacity == 0)
        #expect(head(["x-sum: 1"]).trailers().raw.capacity < 100)
    }

    @Test func trailersEndInAnEmptyLine() {
        let trailers = head(["x-sum: 1", "y: "]).trailers()
        #expect(trailers.raw.text == "x-sum: 1\r\ny: \r\n\r\n")
        #expect(trailers.slices.count == 2)
    }

    @Test func headsCanBeReadAsTrailers() {
        let trailers = head([":status: 200", "a: 1", ":path: /", "b: 2"]).trailers()
        #expect(trailers.raw.text == "a: 1\r\nb: 2\r\n\r\n")
        #expect(trailers.pairs.map(\.name) == ["a", "b"])
        #expect(trailers.pairs.map(\.value) == ["1", "2"])
    }

    @Test func brokenHeadsHaveText() {
        #expect(
            head([":method: CONNECT", "a: 1"]).text.text == "CONNECT  HTTP/2.0\r\na: 1\r\n\r\n")
        #expect(
            head([":method: CONNECT", ":authority: a:1"]).text.text
                == "CONNECT a:1 HTTP/2.0\r\n\r\n")
        // A path that was not told is no authority.
        #expect(
            head([":method: GET", ":authority: a:1"]).text.text
                == "GET  HTTP/2.0\r\nhost: a:1\r\n\r\n")
        #expect(
            head([":status: 200", "a: 1", ":method: GET", "b: 2", ":path: /x y"]).text.text
                == "GET /x y HTTP/2.0\r\na: 1\r\nb: 2\r\n\r\n")
    }
}

@Suite struct HTTP2FieldsTests {
    typealias Row = HTTP2HeadTests.Row

    static let requests: [Row] = [
        .init("usual", ["GET /a?b HTTP/1.1", "Host: h", "X-Odd:  A "], ":path: /a?b|x-odd: A"),
        .init(
            "hop by hop",
            [
                "GET / HTTP/1.1", "Connection: keep-alive, X-Hop", "Keep-Alive: 1", "X-Hop: 1",
                "x-hOP: 2", "Proxy-Connection: 1", "Transfer-Encoding: chunked", "Upgrade: h2c",
                "HTTP2-Settings: AAA", "Proxy-Authorization: Basic x", "A: 1",
            ], ":path: /|a: 1"),
        .init(
            "Connection names what must stay",
            [
                "GET / HTTP/1.1", "Connection: Cookie, Authorization", "Cookie: a",
                "Authorization: b",
            ],
            ":path: /|cookie: a|authorization: b (sensitive)"),
        .init("TE", ["GET / HTTP/1.1", "TE: gzip, Trailers"], ":path: /|te: trailers"),
        .init("TE without trailers", ["GET / HTTP/1.1", "TE: gzip"], ":path: /"),
        .init("TE twice", ["GET / HTTP/1.1", "TE: gzip", "TE: trailers"], ":path: /|te: trailers"),
        .init("pseudo-header field", ["GET / HTTP/1.1", ":path: /b", "A: 1"], ":path: /|a: 1"),
        .init("asterisk", ["OPTIONS * HTTP/1.1"], ":path: *"),
    ]

    @Test(arguments: requests)
    func requestsAreWritten(row: Row) throws {
        // A name that begins with a colon passes no reader of HTTP/1; it comes from `HTTP2Head`.
        let target = row.lines[0].split(separator: " ")[1]
        let method = row.lines[0].split(separator: " ")[0]
        let pseudo = [":method: \(method)", ":path: \(target)"]
        let request =
            if row.name == "pseudo-header field" {
                try head(pseudo + [":protocol: x", "A: 1"]).requestHead()
            } else {
                try requestHead(
                    row.lines.joined(separator: "\r\n") + "\r\n"
                        + (row.lines.contains { $0.hasPrefix("Host") } ? "" : "Host: h\r\n")
                        + "\r\n")
            }
        let written = HTTP2Fields.request(
            request, scheme: "https", authority: Array("o.test".utf8)[...], target: nil)
        let expected =
            [":method: \(method)", ":scheme: https"]
            + row.expected.split(separator: "|").prefix(1).map(String.init)
            + [":authority: o.test"]
            + row.expected.split(separator: "|").dropFirst().map(String.init)
        #expect(lines(written) == expected)
    }

    @Test func plainConnectHasNoSchemeAndNoPath() throws {
        let request = try requestHead("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n")
        let written = HTTP2Fields.request(
            request, scheme: "https", authority: Array("a:1".utf8)[...], target: nil)
        #expect(lines(written) == [":method: CONNECT", ":authority: a:1"])
    }

    @Test func extendedConnectHasAllOfThem() throws {
        let request = try requestHead(
            "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n\r\n")
        let written = HTTP2Fields.request(
            request, method: Array("CONNECT".utf8), scheme: "https",
            authority: Array("a".utf8)[...],
            target: nil, protocolName: Array("websocket".utf8), dropping: ["sec-websocket-key"])
        #expect(
            lines(written) == [
                ":method: CONNECT", ":scheme: https", ":path: /chat", ":authority: a",
                ":protocol: websocket", "sec-websocket-version: 13",
            ])
    }

    @Test func responsesAreWritten() throws {
        let response = try responseHead(
            "HTTP/1.1 404 Odd\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\nTE: trailers\r\n"
                + "Transfer-Encoding: chunked\r\nProxy-Authenticate: Basic\r\nSet-Cookie: a\r\n"
                + "SET-COOKIE: b\r\nUpgrade: h2\r\n\r\n")
        #expect(
            lines(.response(response)) == [
                ":status: 404", "set-cookie: a", "set-cookie: b",
            ])
        #expect(
            lines(.response(status: 502, [("A-B", Array("c".utf8))])) == [":status: 502", "a-b: c"])
    }

    /// What a client says to a proxy of its own, and is told by it, is not for us to take out.
    @Test(arguments: [true, false])
    func proxyFieldsStayWhereTheyAreAnothers(isKept: Bool) throws {
        let request = try requestHead(
            "GET / HTTP/1.1\r\nHost: h\r\nProxy-Authorization: Basic x\r\n"
                + "Proxy-Connection: keep-alive\r\nA: 1\r\n\r\n")
        let written = HTTP2Fields.request(
            request, scheme: "https", authority: Array("o.test".utf8)[...], target: nil,
            keepsProxyFields: isKept)
        let password = isKept ? ["proxy-authorization: Basic x (sensitive)"] : []
        #expect(Array(lines(written).dropFirst(4)) == password + ["a: 1"])
        let response = try responseHead(
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nA: 1\r\n\r\n")
        let answer = HTTP2Fields.response(response, keepsProxyFields: isKept)
        let challenge = isKept ? ["proxy-authenticate: Basic"] : []
        #expect(Array(lines(answer).dropFirst()) == challenge + ["a: 1"])
    }

    @Test func trailersHaveNoPseudoHeaderFields() {
        #expect(lines(.trailers(head(["x-sum: 1", "te: trailers"]).trailers())) == ["x-sum: 1"])
        #expect(HTTP2Fields.trailers(.none).isEmpty)
    }
}
