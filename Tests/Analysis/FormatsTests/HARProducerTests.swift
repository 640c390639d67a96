import Base
import Testing
import Traffic

@testable import Formats

/// What the files of browsers and tools are odd in, each in an entry of our own.
struct HARProducerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let entry: String
        var requestHead: String?
        var requestContent: String?
        var responseHead: String?
        var content: String?
        var error: String?
        var losses: [String] = []
        var testDescription: String { name }
    }

    static func entry(
        _ request: String, _ response: String, _ more: String = ""
    ) -> String {
        #"{"startedDateTime":"2026-03-09T07:05:01.250Z","time":30,"# + more
            + #""request":{"httpVersion":"HTTP/1.1",\#(request)},"#
            + #""response":{"httpVersion":"HTTP/1.1",\#(response)}}"#
    }

    static let get = #""method":"GET","url":"https://shop.example/","headers":[]"#
    static let ok = #""status":200,"statusText":"OK","headers":[],"content":{}"#

    static func page(_ content: String, _ status: Int = 200) -> String {
        #""status":\#(status),"statusText":"","headers":[],"content":\#(content)"#
    }

    static let rows = [
        Row(
            name: "Firefox shows what its cache holds beside a 304",
            entry: entry(get, page(#"{"size":5,"mimeType":"text/html","text":"hello"}"#, 304)),
            responseHead: "HTTP/1.1 304 \r\n\r\n", content: "",
            losses: ["cached-content-left-out"]),
        Row(
            name: "Firefox cuts a long content",
            entry: entry(get, page(#"{"size":5000000,"mimeType":"text/plain","text":"hello"}"#)),
            content: "hello", losses: ["content-differs"]),
        Row(
            name: "Insomnia writes bytes that are no text as replacement characters",
            entry: entry(get, page(#"{"size":3,"text":"%\ufffd\ufffd"}"#)),
            content: "%\u{FFFD}\u{FFFD}", losses: ["content-differs"]),
        Row(
            name: "mitmproxy tells the size of the coded content",
            entry: entry(get, page(#"{"size":30,"compression":-25,"text":"hello"}"#)),
            content: "hello"),
        Row(
            name: "a browser tells the length of the coded content",
            entry: entry(
                get,
                #""status":200,"statusText":"","headers":[{"name":"Content-Encoding","value":"br"},"#
                    + #"{"name":"Content-Length","value":"3"}],"content":{"size":5,"text":"hello"}"#
            ),
            responseHead: "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\n", content: "hello",
            losses: ["coding-undone"]),
        Row(
            name: "Safari tells no size of a content that it has not",
            entry: entry(get, page(#"{"size":0,"compression":0,"mimeType":"x-unknown"}"#)),
            content: ""),
        Row(
            name: "Safari took it from its cache",
            entry: entry(get, ok, #""_fetchType":"Memory Cache","#), losses: ["cache-answered"]),
        Row(
            name: "Chrome took it from its cache",
            entry: entry(get, ok, #""_fromCache":"disk","#), losses: ["cache-answered"]),
        Row(name: "Safari loaded it", entry: entry(get, ok, #""_fetchType":"Network Load","#)),
        Row(
            name: "Safari joins the cookies of a response",
            entry: entry(
                get,
                #""status":200,"statusText":"OK","cookies":[{"name":"a","value":"1"},"#
                    + #"{"name":"b","value":"x,y=z"}],"headers":[{"name":"Set-Cookie","value":"#
                    + #""a=1; Expires=Mon, 09 Mar 2026 07:05:01 GMT; Path=/, b=x,y=z"}]"#),
            responseHead: "HTTP/1.1 200 OK\r\n"
                + "Set-Cookie: a=1; Expires=Mon, 09 Mar 2026 07:05:01 GMT; Path=/\r\n"
                + "Set-Cookie: b=x,y=z\r\n\r\n"),
        Row(
            name: "HTTP Toolkit joins them, and lists none",
            entry: entry(
                get,
                #""status":200,"statusText":"OK","cookies":[],"headers":[{"name":"set-cookie","#
                    + #""value":"a=1; Expires=Mon, 09 Mar 2026 07:05:01 GMT,b=\"x, y\",c=3"}]"#),
            responseHead: "HTTP/1.1 200 OK\r\n"
                + "set-cookie: a=1; Expires=Mon, 09 Mar 2026 07:05:01 GMT\r\n"
                + "set-cookie: b=\"x, y\"\r\nset-cookie: c=3\r\n\r\n"),
        Row(
            name: "Insomnia keeps cookies and parameters apart",
            entry: entry(
                #""method":"GET","url":"https://shop.example/a","headers":[],"cookies":["#
                    + #"{"name":"sid","value":"1"},{"name":"b","value":"2"}],"queryString":["#
                    + #"{"name":"q","value":"a b"},{"name":"on","value":"é"}],"postData":{"#
                    + #""mimeType":"","text":"","params":[]},"headersSize":-1,"bodySize":-1"#, ok),
            requestHead: "GET /a?q=a+b&on=%C3%A9 HTTP/1.1\r\nhost: shop.example\r\n"
                + "cookie: sid=1; b=2\r\n\r\n"),
        Row(
            name: "Charles has nulls for texts, and pseudo-fields",
            entry: entry(
                #""method":"GET","url":"https://shop.example/?=","headers":[{"name":":path","#
                    + #""value":"/?="},{"name":"cookie","value":"a=1"},{"name":"cookie","value":"#
                    + #""b=2"}],"cookies":[{"name":"a","value":"1","expires":null}]"#,
                #""_charlesStatus":"COMPLETE","status":200,"statusText":null,"headers":[{"name":"#
                    + #"":status","value":"200"}],"content":{"size":2,"mimeType":null,"text":"#
                    + #""aGk=","encoding":"base64"},"redirectURL":null"#),
            requestHead: "GET /?= HTTP/1.1\r\nhost: shop.example\r\ncookie: a=1\r\n"
                + "cookie: b=2\r\n\r\n",
            responseHead: "HTTP/1.1 200 \r\n\r\n", content: "hi"),
        Row(
            name: "Charles tells that a response broke off",
            entry: entry(get, #""_charlesStatus":"EXCEPTION","# + ok),
            error: "har-error Charles: EXCEPTION"),
        Row(
            name: "Chrome tells that a response broke off",
            entry: entry(get, #""_error":"net::ERR_ABORTED","# + ok),
            error: "har-error net::ERR_ABORTED"),
        Row(
            name: "Charles takes a content for the name of a parameter",
            entry: entry(
                #""method":"POST","url":"https://shop.example/","headers":[],"bodySize":7,"#
                    + #""postData":{"mimeType":"application/x-www-form-urlencoded","params":["#
                    + #"{"name":"{\"a\":1}","value":""}]}"#, ok),
            requestContent: #"{"a":1}"#, losses: ["content-rebuilt"]),
        Row(
            name: "Fiddler lists parameters without text",
            entry: entry(
                #""method":"POST","url":"https://shop.example/","headers":[{"name":"#
                    + #""Content-Length","value":"11"}],"bodySize":11,"postData":{"params":["#
                    + #"{"name":"op","value":"a b&c"}],"mimeType":"#
                    + #""application/x-www-form-urlencoded"}"#, ok,
                #""connection":"ClientPort:52146;EgressPort:52149","comment":"[#1]","#),
            requestContent: "op=a+b%26c", losses: ["content-rebuilt", "comments-left-out"]),
        Row(
            name: "a proxy's tracker has numbers for texts",
            entry: entry(
                #""method":"POST","url":"https://shop.example/","headers":[{"name":"N","value":7},"#
                    + #"{"name":"Content-Type"}]"#, ok),
            requestHead: "POST / HTTP/1.1\r\nhost: shop.example\r\nN: 7\r\nContent-Type: \r\n\r\n"),
        Row(
            name: "Proxyman leaves a response out",
            entry: #"{"startedDateTime":"2026-03-09T08:05:01+01:00","time":1948,"#
                + #""request":{\#(get)},"response":null}"#,
            responseHead: "", error: "no-response the HAR has no response"),
    ]

    @Test(arguments: rows) func reads(_ row: Row) async throws {
        let (traffic, losses) = try await HARDialectTests().read("[\(row.entry)]")
        let record = try #require(try traffic.exchange(7))
        if let head = row.requestHead { #expect(record.requestHead.text == head) }
        if let head = row.responseHead { #expect(record.responseHead.text == head) }
        if let content = row.requestContent {
            #expect(traffic.content(7, .request).text == content)
        }
        if let content = row.content { #expect(traffic.content(7, .response).text == content) }
        let error = record.error.map { "\($0) \(record.errorDetail ?? "")" }
        #expect(error == row.error)
        let codes = losses.losses.map(\.kind.code).filter { $0 != "head-rebuilt" }
        #expect(codes.sorted() == row.losses.sorted())
    }

    @Test(arguments: [
        ("HAR 1.2: TLS is a part of connect", 110.0, 100.0, 60.0, 105, 110),
        ("Firefox: TLS is beside connect", 170.0, 100.0, 60.0, 165, 170),
        ("no sum", 0.0, 100.0, 60.0, 105, 110), ("unknown", -1.0, 100.0, -1.0, 105, 110),
        ("parts overlap", 40.0, 100.0, -1.0, 40, 40),
    ])
    func addsTimesUp(
        _ name: String, _ time: Double, _ connect: Double, _ tls: Double, _ first: Int64,
        _ last: Int64
    ) async throws {
        let entry =
            #"[{"startedDateTime":"2026-03-09T07:05:01Z","time":\#(time),"request":{\#(Self.get)},"#
            + #""response":{\#(Self.ok)},"timings":{"blocked":-1,"dns":-1,"connect":\#(connect),"#
            + #""ssl":\#(tls),"send":0,"wait":5,"receive":5}}]"#
        let record = try #require(try await HARDialectTests().read(entry).0.exchange(7))
        #expect(record.firstByteMicroseconds == first * 1000)
        #expect(record.durationMicroseconds == last * 1000)
    }

    /// Two hosts behind one address are no one connection because both have port 443.
    @Test(arguments: [
        ("443", "203.0.113.9", "shop.example 203.0.113.9:443, cdn.example 203.0.113.9:443"),
        ("443", "203.0.113.9:443", "shop.example 203.0.113.9:443, cdn.example 203.0.113.9:443"),
        ("2001", "2001:db8::9", "shop.example [2001:db8::9]:443"),
        ("1", "[2001:db8::9]", "shop.example [2001:db8::9]:443"),
    ])
    func guessesConnections(
        _ connection: String, _ address: String, _ connections: String
    ) async throws {
        let entries = ["shop.example", "cdn.example", "shop.example"].map { host in
            #"{"startedDateTime":"2026-03-09T07:05:01Z","connection":"\#(connection)","#
                + #""serverIPAddress":"\#(address)","request":{"method":"GET","#
                + #""url":"https://\#(host)/"},"response":{\#(Self.ok)}}"#
        }
        let (traffic, _) = try await HARDialectTests().read("[\(entries.joined(separator: ","))]")
        var found: [String] = []
        try traffic.connections { record in
            found.append("\(record.originHost) \(record.originAddress ?? "-")")
            return true
        }
        #expect(found.joined(separator: ", ") == connections)
    }

    /// Behind a proxy, Firefox writes the proxy's port as the connection of every entry.
    @Test func portOfAProxyIsNoConnection() async throws {
        let entries = ["shop.example", "cdn.example"].map { host in
            #"{"startedDateTime":"2026-03-09T07:05:01Z","connection":"8080","#
                + #""serverIPAddress":"127.0.0.1","request":{"method":"GET","#
                + #""url":"https://\#(host)/"},"response":{\#(Self.ok)}}"#
        }
        let (traffic, _) = try await HARDialectTests().read(
            file: Array(
                (#"{"log":{"version":"1.2","creator":{"name":"Firefox","version":"153.0"},"#
                    + #""entries":[\#(entries.joined(separator: ","))]}}"#).utf8))
        var found: [String] = []
        try traffic.connections { record in
            found.append(record.originHost)
            return true
        }
        #expect(found == ["shop.example", "cdn.example"])
    }
}
