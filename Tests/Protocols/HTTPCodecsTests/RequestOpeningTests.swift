import Testing

@testable import HTTPCodecs

@Suite struct RequestOpeningTests {
    @Test(
        arguments: [
            ("GET / HTTP/1.1\r\n", true), ("GET /", true), ("GET *", true), ("GET ?a", true),
            ("GET index.html HTTP/1.1\r\n", true), ("GET http://a/ HTTP/1.0\n", true),
            ("OPTIONS * HTTP/1.1\r\n", true), ("OPTIONS * ", true), ("CONNECT a:443", true),
            ("PROPFIND /a HTTP/1.1\r\n", true), ("BREW /pot HTTP/1.1 \r\n", true),
            ("REPORT https://a/b HTTP/1.1\r\n", true), ("M-SEARCH * HTTP/1.1\r\n", true),
            ("get / HTTP/1.1\r\n", true), ("Get /", true),
            ("ge", nil), ("X.Y /a HTTP/1.1\r\n", true),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZ /a HTTP/1.1\r\n", true),
            // Nothing but the end of the line tells.
            ("GET", nil), ("GET ", nil), ("GET key", nil), ("BREW ", nil),
            ("BREW /pot HTTP/1", nil),
            ("PASS hunter2", false), ("PASS http", nil), ("OPTIONS rtsp://a/b RTSP", nil),
            // Other protocols.
            ("PASS /secret\r\n", false), ("PASS http://x\r\n", false), ("AUTH hunter2\r\n", false),
            ("NICK hans\r\n", false), ("USER h 0 * :Hans\r\n", false), ("LIST *\r\n", false),
            ("OPTIONS rtsp://a/b RTSP/1.0\r\n", false), ("OPTIONS sip:a@b SIP/2.0\r\n", false),
            ("DESCRIBE rtsp://a/b RTSP/1.0\r\n", false), ("GNUTELLA CONNECT/0.6\r\n", false),
            ("GET key\r\n", false), ("GET hkey\r\n", false), ("PING\r\n", false),
            ("CAP LS 302\r\n", false), ("CONNECT ", nil), ("CONNECT /_goRPC_ HTTP/1.0\n\n", false),
            ("EHLO host.example\r\n", false), ("hello", false), ("brew /pot HTTP/1.1\r\n", false),
            (" GET / HTTP/1.1\r\n", false), ("\u{0}", false),
        ] as [(String, Bool?)])
    func judges(text: String, expected: Bool?) {
        #expect(RequestOpening.judge(Array(text.utf8).span) == expected)
    }

    /// Nothing that was judged is judged otherwise with more of it.
    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "PROPFIND http://a/ HTTP/1.1\r\n", "OPTIONS rtsp://a RTSP/1.0\r\n",
        "PASS http\r\n", "AUTH hunter2\r\n", "GET key\r\n",
    ])
    func staysAtItsWord(text: String) {
        let bytes = Array(text.utf8)
        var judged: Bool?
        for count in 0...bytes.count {
            let verdict = RequestOpening.judge(Array(bytes[..<count]).span)
            if judged != nil { #expect(verdict == judged, "after \(count) bytes") }
            judged = verdict
        }
        #expect(judged != nil)
    }

    @Test func aLineWithoutEndIsJudgedByItsBeginning() {
        let long = Array("BREW /".utf8) + [UInt8](repeating: 0x61, count: 10_000)
        #expect(RequestOpening.judge(long.span) == true)
        let word = [UInt8](repeating: 0x41, count: 65)
        #expect(RequestOpening.judge(word.span) == false)
    }
}
