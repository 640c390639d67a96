import Base
import HTTPModel
import Testing

@testable import HTTPCodecs

struct ForwardingRow: Sendable, CustomTestStringConvertible {
    var name: String
    /// Field lines that came, joined by `|`.
    var came: String
    var forwarding: Forwarding
    /// Field lines that go out, joined by `|`.
    var goes: String
    var testDescription: String { name }

    init(_ name: String, _ came: String, _ goes: String, _ forwarding: Forwarding = Forwarding()) {
        self.name = name
        self.came = came
        self.forwarding = forwarding
        self.goes = goes
    }
}

private func section(_ lines: String) -> String {
    lines.split(separator: "|").map { "\($0)\r\n" }.joined() + "\r\n"
}

@Suite struct HeadWriterTests {
    static let requests: [ForwardingRow] = [
        .init("nothing to leave out", "Host: a|B: 1|a:2", "Host: a|B: 1|a:2"),
        .init("no field", "", ""),
        .init("white space stays", "Host:\t a \t|X:", "Host:\t a \t|X:"),
        .init("keep-alive", "Host: a|Connection: keep-alive|B: 1", "Host: a|B: 1"),
        .init("at the start", "Connection: close|Host: a", "Host: a"),
        .init("at the end", "Host: a|Connection: close", "Host: a"),
        .init("only such fields", "Connection: close|Keep-Alive: 5", ""),
        .init(
            "one after the other", "A: 1|Keep-Alive: 5|Proxy-Connection: x|CONNECTION: close|B: 2",
            "A: 1|B: 2"),
        .init(
            "named by Connection", "A: 1|Connection: close, x-secret , B|X-Secret: 2|b: 3|BB: 4",
            "A: 1|BB: 4"),
        .init("named before", "X: 1|Host: a|Connection: x", "Host: a"),
        .init("named in two lines", "Connection: x|X: 1|Connection: y|Y: 1|Z: 1", "Z: 1"),
        .init(
            "no name of a known field",
            "Connection: host, content-length, authorization, cookie|Host: a|Content-Length: 5"
                + "|Authorization: b|Cookie: c",
            "Host: a|Content-Length: 5|Authorization: b|Cookie: c"),
        .init(
            "nor Transfer-Encoding", "Connection: transfer-encoding|Transfer-Encoding: chunked",
            "Transfer-Encoding: chunked"),
        .init("odd options", "Connection: ,, ,\"a b\"|A: 1", "A: 1"),
        .init("16 names count", "Connection: a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q|P: 1|Q: 1", "Q: 1"),
        .init(
            "credentials",
            "Authorization: a|Proxy-Authorization: b|Cookie: c|Proxy-Authenticate: d",
            "Authorization: a|Cookie: c|Proxy-Authenticate: d"),
        .init("TE trailers", "TE: trailers|A: 1", "TE: trailers|A: 1|Connection: TE"),
        .init(
            "TE trailers and more", "te: gzip, Trailers|A: 1", "te: trailers|A: 1|Connection: TE"),
        .init(
            "TE trailers in Connection's place", "Connection: TE|TE: trailers|A: 1",
            "Connection: TE|TE: trailers|A: 1"),
        .init("TE gzip", "TE: gzip|A: 1", "A: 1"),
        .init("upgrade left out", "Connection: Upgrade|Upgrade: websocket|A: 1", "A: 1"),
        .init(
            "upgrade kept", "A: 1|connection: keep-alive, upgrade|Upgrade: websocket|B: 1",
            "A: 1|Connection: Upgrade|Upgrade: websocket|B: 1", Forwarding(keepsUpgrade: true)),
        .init(
            "upgrade kept without Connection", "Upgrade: websocket|B: 1",
            "Upgrade: websocket|B: 1|Connection: Upgrade", Forwarding(keepsUpgrade: true)),
        .init("upgrade that is none", "B: 1", "B: 1", Forwarding(keepsUpgrade: true)),
        .init(
            "HTTP2-Settings goes along",
            "Connection: Upgrade, HTTP2-Settings|Upgrade: h2c|HTTP2-Settings: x",
            "Connection: Upgrade, HTTP2-Settings|Upgrade: h2c|HTTP2-Settings: x",
            Forwarding(keepsUpgrade: true)),
        .init(
            "HTTP2-Settings goes with the hop",
            "Connection: Upgrade, HTTP2-Settings|Upgrade: h2c|HTTP2-Settings: x", ""),
        .init("closing", "A: 1", "A: 1|Connection: close", Forwarding(closes: true)),
        .init(
            "closing in place", "Connection: keep-alive|A: 1", "Connection: close|A: 1",
            Forwarding(closes: true)),
        .init(
            "one Connection", "Connection: a|B: 1|Connection: c", "Connection: close|B: 1",
            Forwarding(closes: true)),
        .init(
            "all options", "TE: trailers|Upgrade: x|Connection: y",
            "TE: trailers|Upgrade: x|Connection: close, Upgrade, TE",
            Forwarding(keepsUpgrade: true, closes: true)),
        .init("keeping alive", "A: 1", "A: 1|Connection: keep-alive", Forwarding(keepsAlive: true)),
        .init(
            "closing wins", "A: 1", "A: 1|Connection: close",
            Forwarding(closes: true, keepsAlive: true)),
        .init(
            "host in place", "A: 1|HOST: a|B: 1", "A: 1|HOST: b:1|B: 1",
            Forwarding(host: Array("b:1".utf8))),
        .init("host added first", "A: 1", "Host: b|A: 1", Forwarding(host: Array("b".utf8))),
        .init("host alone", "", "Host: b", Forwarding(host: Array("b".utf8))),
        .init(
            "framing as it came", "Transfer-Encoding: chunked|Trailer: X",
            "Transfer-Encoding: chunked|Trailer: X"),
        .init(
            "length for chunks", "A: 1|Transfer-Encoding: chunked|Trailer: X|B: 1",
            "A: 1|Content-Length: 7|B: 1", Forwarding(framing: .length(7))),
        .init(
            "length for a length", "content-length: 5|B: 1", "Content-Length: 0|B: 1",
            Forwarding(framing: .length(0))),
        .init(
            "length for nothing", "B: 1", "B: 1|Content-Length: 7",
            Forwarding(framing: .length(7))),
        .init(
            "chunks for a length", "Content-Length: 5|Trailer: X",
            "Transfer-Encoding: chunked|Trailer: X", Forwarding(framing: .chunked)),
        .init(
            "neither", "Content-Length: 5|Transfer-Encoding: chunked|Trailer: X|A: 1",
            "A: 1|Connection: close", Forwarding(framing: .untilClose, closes: true)),
        .init(
            "dropping", "Accept-Encoding: br|X-A: 1|A: 1", "A: 1",
            Forwarding(dropping: ["accept-encoding", "x-a"])),
        .init(
            "adding", "A: 1", "A: 1|Via: 1.1 x",
            Forwarding(adding: [AddedField("Via".utf8, "1.1 x".utf8)].compactMap(\.self))),
        .init(
            "dropping and adding", "Accept-Encoding: br", "Accept-Encoding: gzip",
            Forwarding(
                dropping: ["accept-encoding"],
                adding: [AddedField("Accept-Encoding".utf8, "gzip".utf8)].compactMap(\.self))),
    ]

    @Test(arguments: requests)
    func writesRequests(row: ForwardingRow) throws {
        let came = "POST /a?b HTTP/1.0\r\n" + section(row.came)
        let head = try requestHead(came)
        var output: [UInt8] = []
        HeadWriter.writeRequest(head, forwarding: row.forwarding, into: &output)
        #expect(output.text == "POST /a?b HTTP/1.1\r\n" + section(row.goes))
        #expect(head.raw.text == came)
        // What goes out is sound.
        _ = try requestHead(output.text.replacingHost)
    }

    @Test func writesAnotherTarget() throws {
        let head = try requestHead("GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n")
        var output = Array("before".utf8)
        HeadWriter.writeRequest(head, target: Array("/b".utf8)[...], into: &output)
        #expect(output.text == "beforeGET /b HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK", "HTTP/1.1 200 OK"),
        ("HTTP/1.0 404 Not  Found", "HTTP/1.1 404 Not  Found"),
        ("HTTP/1.1 204 ", "HTTP/1.1 204 "), ("HTTP/1.0 204", "HTTP/1.1 204 "),
    ])
    func writesStatusLines(came: String, goes: String) throws {
        var output: [UInt8] = []
        HeadWriter.writeResponse(try responseHead("\(came)\r\nA: 1\r\n\r\n"), into: &output)
        #expect(output.text == "\(goes)\r\nA: 1\r\n\r\n")
    }

    @Test(arguments: [(200, "HTTP/1.1 200 OK"), (299, "HTTP/1.1 299 ")])
    func writesReasonsThatHTTP2HasNot(status: Int, goes: String) {
        let came = head([":status: \(status)"]).responseHead()
        var output: [UInt8] = []
        HeadWriter.writeResponse(came, into: &output)
        #expect(output.text == "\(goes)\r\n\r\n")
    }

    /// Browsers save one with HTTP/2, too.
    @Test func writesASavedReasonOnce() throws {
        let came = try responseHead("HTTP/1.1 200 OK\r\nA: 1\r\n\r\n")
        let saved = ResponseHead(
            version: .http2, status: 200, reasonRange: came.reasonRange, fields: came.fields)
        var output: [UInt8] = []
        HeadWriter.writeResponse(saved, into: &output)
        #expect(output.text == "HTTP/1.1 200 OK\r\nA: 1\r\n\r\n")
    }

    static let responses: [ForwardingRow] = [
        .init(
            "credentials", "Proxy-Authenticate: a|WWW-Authenticate: b|Proxy-Authorization: c",
            "WWW-Authenticate: b|Proxy-Authorization: c"),
        .init("cookies stay apart", "Set-Cookie: a|set-cookie: b", "Set-Cookie: a|set-cookie: b"),
        .init("TE means nothing", "TE: trailers|A: 1", "A: 1"),
        .init("no Host", "A: 1|Host: x", "A: 1|Host: x", Forwarding(host: Array("b".utf8))),
        .init(
            "switch", "Connection: Upgrade|Upgrade: websocket|Sec-WebSocket-Accept: x",
            "Connection: Upgrade|Upgrade: websocket|Sec-WebSocket-Accept: x",
            Forwarding(keepsUpgrade: true)),
        .init(
            "for an old client", "Transfer-Encoding: chunked|Trailer: A|B: 1",
            "B: 1|Connection: close", Forwarding(framing: .untilClose, closes: true)),
    ]

    @Test(arguments: responses)
    func writesResponses(row: ForwardingRow) throws {
        var output: [UInt8] = []
        HeadWriter.writeResponse(
            try responseHead("HTTP/1.1 200 OK\r\n" + section(row.came)),
            forwarding: row.forwarding, into: &output)
        #expect(output.text == "HTTP/1.1 200 OK\r\n" + section(row.goes))
    }

    @Test(arguments: [
        ("A", "b", true), ("A", "", true), ("A", "\u{FC}\t", true), ("", "b", false),
        ("A:", "b", false), ("A B", "b", false), ("A", "b\r\nC: d", false), ("A", "b\n", false),
        ("A", "\0", false), ("A\r\n", "b", false),
    ])
    func addsNoLineBreaks(name: String, value: String, isSound: Bool) {
        #expect((AddedField(name.utf8, value.utf8) != nil) == isSound)
    }
}

extension String {
    /// With a Host in front, so that the strict reader takes the head.
    fileprivate var replacingHost: String {
        guard let end = firstRange(of: "\r\n"), !lowercased().contains("\r\nhost:") else {
            return self
        }
        return self[..<end.upperBound] + "Host: a\r\n" + self[end.upperBound...]
    }

    private func firstRange(of text: String) -> Range<Index>? {
        indices.first { self[$0...].hasPrefix(text) }.map {
            $0..<index($0, offsetBy: text.count)
        }
    }
}
