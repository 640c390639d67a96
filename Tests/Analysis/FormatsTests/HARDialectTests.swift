import Base
import HTTPCodecs
import Testing
import Traffic

@testable import Formats

/// What browsers and proxies make of the format.
struct HARDialectTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// One entry.
        let entry: String
        let request: String
        var requestContent = ""
        var response = ""
        var content = ""
        var protocolName = "HTTP/1.1"
        var losses: [String] = ["head-rebuilt"]
        var testDescription: String { name }
    }

    static let start = #""startedDateTime":"2026-03-09T07:05:01.250Z","time":30,"#
    static let plainResponse =
        #""response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[],"#
        + #""content":{"size":2,"mimeType":"text/plain","text":"hi"}}"#

    static let rows = browserRows + toolRows

    static let browserRows = [
        Row(
            name: "Chrome over HTTP/2",
            entry: start
                + #""request":{"method":"GET","url":"https://a.example/p?q=1#f","httpVersion":"#
                + #""http/2.0","headers":[{"name":":authority","value":"a.example"},"#
                + #"{"name":"accept","value":"*/*"}]},"response":{"status":200,"statusText":"","#
                + #""httpVersion":"h2","headers":[{"name":"set-cookie","value":"a=1\nb=2"}],"#
                + #""content":{"size":2,"text":"aGk=","encoding":"base64"}}"#,
            request: "GET /p?q=1 HTTP/2.0\r\nhost: a.example\r\naccept: */*\r\n\r\n",
            response: "HTTP/2.0 200\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n\r\n", content: "hi",
            protocolName: "HTTP/2"),
        Row(
            name: "Chrome's binary request",
            entry: start
                + #""request":{"method":"PUT","url":"http://a.example/","httpVersion":"HTTP/1.1","#
                + #""headers":[{"name":"Host","value":"a.example"},{"name":"Content-Length","#
                + #""value":"2"}],"postData":{"mimeType":"","text":"\u00e9P"}},"# + plainResponse,
            request: "PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\n",
            requestContent: "\u{FFFD}P", response: "HTTP/1.1 200 OK\r\n\r\n", content: "hi"),
        Row(
            name: "Slack's headers",
            entry: start
                + #""request":{"method":"GET","url":"http://a.example","httpVersion":"unknown","#
                + #""headers":[["Host","a.example"],["X","y"]]},"# + plainResponse,
            request: "GET / HTTP/1.1\r\nHost: a.example\r\nX: y\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\n\r\n", content: "hi"),
        Row(
            name: "Firefox leaves images out",
            entry: start
                + #""request":{"method":"GET","url":"http://a.example/i","httpVersion":"HTTP/1.1","#
                + #""headers":[{"name":"Host","value":"a.example"}]},"response":{"status":200,"#
                + #""statusText":"OK","httpVersion":"HTTP/1.1","headers":[],"bodySize":70,"#
                + #""content":{"size":70,"mimeType":"image/png","comment":"not included"}}"#,
            request: "GET /i HTTP/1.1\r\nHost: a.example\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\n\r\n", losses: ["head-rebuilt", "content-missing"]),
        Row(
            name: "the answer to HEAD has no content",
            entry: start
                + #""request":{"method":"HEAD","url":"http://a.example/i","httpVersion":"HTTP/1.1","#
                + #""headers":[{"name":"Host","value":"a.example"}]},"response":{"status":200,"#
                + #""statusText":"OK","httpVersion":"HTTP/1.1","headers":[{"name":"Content-Length","#
                + #""value":"70"}],"bodySize":70,"content":{"size":70}}"#,
            request: "HEAD /i HTTP/1.1\r\nHost: a.example\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Length: 70\r\n\r\n"),
        Row(
            name: "parameters without text",
            entry: start
                + #""request":{"method":"POST","url":"http://a.example/","httpVersion":"HTTP/1.1","#
                + #""headers":[{"name":"Host","value":"a.example"}],"postData":{"mimeType":"#
                + #""application/x-www-form-urlencoded","params":[{"name":"a b","value":"c&d"},"#
                + #"{"name":"e"}]}},"# + plainResponse,
            request: "POST / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            requestContent: "a+b=c%26d&e=", response: "HTTP/1.1 200 OK\r\n\r\n", content: "hi",
            losses: ["head-rebuilt", "content-rebuilt"]),
        Row(
            name: "parameters of a multipart content",
            entry: start
                + #""request":{"method":"POST","url":"http://a.example/","httpVersion":"HTTP/1.1","#
                + #""headers":[{"name":"Content-Type","value":"multipart/form-data; boundary=b"}],"#
                + #""postData":{"mimeType":"multipart/form-data","params":[{"name":"f","value":"x","#
                + #""fileName":"n"}]}},"# + plainResponse,
            request: "POST / HTTP/1.1\r\nhost: a.example\r\n"
                + "Content-Type: multipart/form-data; boundary=b\r\n\r\n",
            requestContent:
                "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n\"\r\n\r\n"
                + "x\r\n--b--\r\n",
            response: "HTTP/1.1 200 OK\r\n\r\n", content: "hi",
            losses: ["head-rebuilt", "content-rebuilt"]),
    ]

    static let toolRows = [
        Row(
            name: "HTTP Toolkit's binary request",
            entry: start
                + #""request":{"method":"PUT","url":"http://a.example/","httpVersion":"HTTP/1.1","#
                + #""headers":[{"name":"Host","value":"a.example"}],"_requestBodyStatus":"#
                + #""discarded:not-representable","_content":{"text":"aGk=","size":2,"#
                + #""encoding":"base64"},"_trailers":[{"name":"T","value":"1"}]},"# + plainResponse,
            request: "PUT / HTTP/1.1\r\nHost: a.example\r\n\r\n", requestContent: "hi",
            response: "HTTP/1.1 200 OK\r\n\r\n", content: "hi"),
        Row(
            name: "content that was decoded",
            entry: start
                + #""request":{"method":"GET","url":"http://a.example/","httpVersion":"HTTP/1.1","#
                + #""headers":[{"name":"Host","value":"a.example"}]},"response":{"status":200,"#
                + #""statusText":"OK","httpVersion":"HTTP/1.1","headers":[{"name":"Content-Encoding","#
                + #""value":"br"},{"name":"A","value":""}],"content":{"text":"hi"}}"#,
            request: "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nA: \r\n\r\n", content: "hi",
            losses: ["head-rebuilt", "coding-undone"]),
        Row(
            name: "no response",
            entry: start
                + #""request":{"method":"GET","url":"http://a.example/","httpVersion":"","#
                + #""headers":[]},"response":{"status":0,"statusText":"","httpVersion":"","#
                + #""headers":[],"content":{},"_error":"net::ERR_X"}"#,
            request: "GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"),
        Row(
            name: "wrong base64",
            entry: start
                + #""request":{"method":"GET","url":"http://a.example/","httpVersion":"h3","#
                + #""headers":[{"name":"Host","value":"a.example"}]},"response":{"status":200,"#
                + #""statusText":"OK","httpVersion":"","headers":[],"content":{"text":"hi!","#
                + #""encoding":"base64"}}"#,
            request: "GET / HTTP/3.0\r\nHost: a.example\r\n\r\n",
            response: "HTTP/3.0 200 OK\r\n\r\n", content: "hi!", protocolName: "HTTP/3",
            losses: ["head-rebuilt", "encoding-unreadable"]),
    ]

    @Test(arguments: rows)
    func readsEntries(_ row: Row) async throws {
        let (traffic, losses) = try await read("[{\(row.entry)}]")
        let record = try #require(try traffic.exchange(7))
        #expect(record.requestHead.text == row.request)
        #expect(record.responseHead.text == row.response)
        #expect(record.protocolName == row.protocolName)
        #expect(traffic.content(7, .request).text == row.requestContent)
        #expect(traffic.content(7, .response).text == row.content)
        #expect(losses.losses.map(\.kind.code) == row.losses)
        #expect(record.startedAt.rfc3339 == "2026-03-09T07:05:01.250Z")
        #expect(record.durationMicroseconds == 30_000)
    }

    @Test(arguments: [
        (#"{"request":{"method":"GET","url":"data:image/gif;base64,AA"}}"#, "item-unreadable"),
        (#"{"request":{"method":"GET"}}"#, "item-unreadable"), ("7", "item-unreadable"),
    ])
    func leavesOutWhatIsNoExchange(_ entry: String, _ code: String) async throws {
        let (traffic, losses) = try await read("[\(entry)]")
        #expect(losses.losses.map(\.kind.code) == [code])
        #expect(try traffic.exchange(7) == nil)
    }

    @Test func guessesConnections() async throws {
        let entry = { (more: String, url: String) in
            "{\(Self.start)\(more)\"request\":{\"method\":\"GET\",\"url\":\"\(url)\"},"
                + Self.plainResponse + "}"
        }
        let (traffic, _) = try await read(
            "["
                + [
                    entry(#""connection":"52","serverIPAddress":"1.2.3.4","#, "https://a.example/"),
                    entry(#""connection":"52","serverIPAddress":"1.2.3.4","#, "https://b.example/"),
                    entry(#""connection":"443","_connectionId":"9","#, "https://a.example/"),
                    entry(#""serverIPAddress":"[::1]","#, "http://c.example:81/"),
                    entry(#""serverIPAddress":"[::1]","#, "http://c.example:81/"),
                ].joined(separator: ",") + "]")
        var lines: [String] = []
        try traffic.connections { record in
            lines.append(
                "\(record.originHost) \(record.originPort) \(record.originAddress ?? "-")"
                    + " \(record.exchangeCount) \(record.outcome.rawValue)")
            return true
        }
        #expect(
            lines == [
                "a.example 443 1.2.3.4:443 2 completed", "a.example 443 - 1 completed",
                "c.example 81 [::1]:81 2 completed",
            ])
    }

    @Test func readsWebSockets() async throws {
        let (traffic, losses) = try await read(
            """
            [{\(Self.start)"request":{"method":"GET","url":"wss://a.example/"},\
            "response":{"status":101,"statusText":"","headers":[]},"_webSocketMessages":[\
            {"type":"send","time":1773039901.5,"opcode":1,"data":"hi"},\
            {"type":"receive","time":1773039901.75,"opcode":2,"data":"/wAB"},\
            {"type":"error","time":1,"opcode":-1,"data":"x"}],\
            "_webSocketClose":{"code":1000,"reason":"bye","timestamp":1773039902}}]
            """)
        var lines: [String] = []
        try traffic.messages(ofConnection: 3, exchange: 7) { record in
            lines.append(
                "\(record.number) \(record.direction) \(record.kind) \(record.bytes.hex)"
                    + " \(record.at.iso8601) \(record.detail)")
            return true
        }
        #expect(
            lines == [
                "1 request text 6869 2026-03-09T07:05:01.500Z ",
                "2 response binary ff0001 2026-03-09T07:05:01.750Z ",
                "3 response close 627965 2026-03-09T07:05:02.000Z 1000 bye",
            ])
        #expect(losses.count(of: .messageUnreadable) == 1)
    }

    @Test func readsFailedHandshakes() async throws {
        let (traffic, _) = try await read(
            #"[],"_tlsErrors":[{"startedDateTime":"2026-03-09T07:05:01Z","time":2,"#
                + #""hostname":"a.example","cause":"cert-rejected","clientPort":4,"#
                + #""tlsMetadata":{"ja3Fingerprint":"x"}}]"#)
        let record = try #require(try traffic.connection(3))
        #expect(record.outcome == .clientRefused)
        #expect(record.clientTLS?.sni == "a.example")
        #expect(record.clientTLS?.ja3 == "x")
        #expect(record.client == "127.0.0.1:4")
    }

    @Test(arguments: ["7", "[]", "{}", #"{"a":{"entries":[]}}"#])
    func refusesWhatIsNoHAR(_ text: String) async {
        let failure = await #expect(throws: Failure.self) { try await read(file: Array(text.utf8)) }
        #expect(failure?.code == "har-malformed")
    }

    @Test func refusesAnotherVersion() async {
        let text = #"{"log":{"version":"2.0","entries":[]}}"#
        let failure = await #expect(throws: Failure.self) { try await read(file: Array(text.utf8)) }
        #expect(failure?.code == "har-version")
    }

    @Test func readsByteOrderMarksAndCompression() async throws {
        let text = Array(
            "\u{FEFF}{\"log\":{\"version\":\"\",\"entries\":[{\(Self.rows[0].entry)}]}}".utf8)
        #expect(HARImporter.recognizes(text))
        #expect(HARImporter.recognizes(ContentEncoder.encode(text)))
        #expect(!HARImporter.recognizes(Array("GET / HTTP/1.1".utf8)))
        let packed = ContentEncoder.encode(text)
        #expect(try await read(file: packed).0.exchange(7) != nil)
        for cut in stride(from: 3, to: packed.count, by: 9) {
            let failure = await #expect(throws: Failure.self) {
                try await read(file: Array(packed[..<cut]))
            }
            #expect(failure?.code == "har-malformed")
        }
    }

    @Test func leavesOutWhatIsTooLong() async throws {
        var importer = HARImporter()
        importer.stringByteLimit = 300
        let long = String(repeating: "x", count: 301)
        let entry = Self.rows[2].entry.replacing("\"hi\"", with: "\"\(long)\"")
        let (traffic, losses) = try await read(
            file: Array("{\"log\":{\"entries\":[{\(entry)}]}}".utf8), importer)
        #expect(losses.losses.map(\.kind.code) == ["head-rebuilt", "content-too-long"])
        #expect(try traffic.exchange(7)?.responseBody.isTruncated == true)
    }

    /// Of a packed file too: it is unpacked, and left out, as it is read.
    @Test func leavesOutWhatUnpacksToTooMuch() async throws {
        var importer = HARImporter()
        importer.stringByteLimit = 1 << 20
        let long = String(repeating: "x", count: 3 << 20)
        let entry = Self.rows[2].entry
        let longEntry = entry.replacing("\"hi\"", with: "\"\(long)\"")
        let packed = ContentEncoder.encode(
            Array("{\"log\":{\"entries\":[{\(longEntry)},{\(entry)}]}}".utf8))
        #expect(packed.count < 10_000)
        let (traffic, losses) = try await read(file: packed, importer)
        #expect(losses.losses.map(\.kind.code) == ["head-rebuilt", "content-too-long"])
        #expect(try traffic.exchange(7)?.responseBody.isTruncated == true)
        #expect(traffic.content(7, .response) == [])
        #expect(traffic.content(8, .response).text == "hi")
    }

    func read(_ entries: String) async throws -> (MemoryTraffic, LossReport) {
        try await read(file: Array("{\"log\":{\"version\":\"1.2\",\"entries\":\(entries)}}".utf8))
    }

    @discardableResult
    func read(
        file: [UInt8], _ importer: HARImporter = HARImporter()
    ) async throws -> (MemoryTraffic, LossReport) {
        let traffic = MemoryTraffic()
        let writer = ImportWriter(sink: traffic, nextConnection: 3, nextExchange: 7)
        var pieces = [file]
        try await importer.read({ pieces.popLast() ?? [] }, into: writer)
        return (traffic, writer.losses)
    }
}
