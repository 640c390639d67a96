import Testing

@testable import Contents

/// Scripts as companies and the content server write them, and what is none.
struct ProxyScriptTests {
    static let company = """
        // The proxies of a company.
        var inner = "PROXY inner.corp.test:3128";
        function FindProxyForURL(url, host) {
            /* names without a dot */
            if (isPlainHostName(host) || dnsDomainIs(host, ".corp.test") || host === "localhost")
                return "DIRECT";
            else if (shExpMatch(url, "http:*") && !shExpMatch(host, "*.cdn.tes?")) { return inner }
            if (isInNet("10.1.2.3", "10.0.0.0", "255.0.0.0") && localHostOrDomainIs(host, "www.a.test")) {
                return 'SOCKS s:1';
            }
            return "PROXY p:1; DIRECT"
        }
        """

    static let plain = """
        function FindProxyForURL(url, host) {
            if (isPlainHostName(host)) return "DIRECT";
            return "PROXY p:1";
        }
        """

    /// Conditions on all of a URL that scripts here are told.
    static let urls = """
        function FindProxyForURL(url, host) {
            if (shExpMatch(url, "http://a.test:81/*")) return "PROXY p:1";
            if (shExpMatch(url, "*.b.test/*")) return "PROXY p:2";
            if (shExpMatch(url, "file://*") || shExpMatch(url, "FTP://*")) return "PROXY p:4";
            if (shExpMatch(url, "https?://*") || shExpMatch(url, "moz-extension://*")) return "PROXY p:4";
            if (shExpMatch(url, "*s://e.test*")) return "PROXY p:5";
            if (url == "https://c.test/" || shExpMatch(url, "https://c.test/never")) return "PROXY p:3";
            return "DIRECT";
        }
        """

    static let rows: [(script: String, url: String, answer: String)] = [
        (ProxyScript.text(answering: "DIRECT"), "https://a.test/", "DIRECT"),
        (
            ProxyScript.text(answering: "PROXY 127.0.0.1:1; DIRECT"), "http://a.test/",
            "PROXY 127.0.0.1:1; DIRECT"
        ),
        (company, "https://printer/", "DIRECT"),
        (company, "https://w.corp.test/", "DIRECT"),
        (company, "https://localhost/", "DIRECT"),
        (plain, "http://[::1]/", "PROXY p:1"),
        (plain, "http://printer/", "DIRECT"),
        (company, "http://a.test/", "PROXY inner.corp.test:3128"),
        (company, "http://b.cdn.test/", "PROXY p:1; DIRECT"),
        (company, "https://www.a.test/", "SOCKS s:1"),
        (company, "https://www.b.test/", "PROXY p:1; DIRECT"),
        (
            "function FindProxyForURL(u, h) { if (isInNet(h, '10.0.0.0', '255.0.0.0')) return 'DIRECT'; return h; }",
            "https://10.1.1.1/", "DIRECT"
        ),
        (
            "function FindProxyForURL(u, h) { if (!(true && (false || h == 'a\\'b'))) return 'x\\\\y'; }",
            "https://a/", "x\\y"
        ),
        ("function FindProxyForURL(u, h) { return u }", "https://a/", "https://a/"),
        (urls, "http://a.test:81/", "PROXY p:1"),
        (urls, "http://x.b.test/", "PROXY p:2"),
        (urls, "https://c.test/", "PROXY p:3"),
        (urls, "https://d.test/", "DIRECT"),
        (urls, "https://e.test/", "PROXY p:5"),
    ]

    @Test(arguments: rows)
    func answers(_ row: (script: String, url: String, answer: String)) throws {
        let program = try ProxyScriptProgram([UInt8](row.script.utf8))
        let host = String(row.url.split(separator: "/")[1])
        #expect(try program.answer(url: row.url, host: host) == row.answer)
    }

    static let refused = [
        "if (shExpMatch(url, \"*assets/44*\")) return \"DIRECT\";",
        "if (shExpMatch(url, \"*?to=http://*\")) return \"DIRECT\";",
        "if (shExpMatch(url, \"*to?http://*\")) return \"DIRECT\";",
        "if (shExpMatch(url, \"*&to=a*\")) return \"DIRECT\";",
        "if (shExpMatch(url, \"http://10.0.0.[0-9]*\")) return \"DIRECT\";",
        "if (shExpMatch(url, \"https://(a|b).test/*\")) return \"DIRECT\";",
        "if (shExpMatch(host, \"(*.a.test|a.test)\")) return \"DIRECT\";",
        "if (shExpMatch(host, \"a+.test\")) return \"DIRECT\";",
        "if (!host == \"a.test\") return \"DIRECT\";",
        "if (shExpMatch(url, \"http://a.test/*/b\")) return \"DIRECT\";",
        "if (shExpMatch(url, \"http://a.test/\")) return \"DIRECT\";",
        "if (dnsDomainIs(url, \".zip\")) return \"DIRECT\";",
        "if (shExpMatch(url, \"*.iso\")) return \"DIRECT\";",
        "if (\"http://a.test/b\" == url) return \"DIRECT\";",
        "return {{", "while (true) {}", "throw new Error(\"no proxy\");", "",
        "dnsResolve(host); return \"PROXY p:1\";", "return myIpAddress();", "return \"a",
        "return \"\\u0041\";", "var a = \"x\"; var a = \"y\"; return a;", "return b;",
        "if (isResolvable(host)) return \"DIRECT\";", "/*", "return \"a\" \"b\";",
        "if (weekdayRange(\"MON\")) return \"DIRECT\";", "if (host) return \"DIRECT\";",
        "if (isInNet(host, \"10.0.0.0\", \"255.0.0.0\")) return \"DIRECT\";",
        String(repeating: "if (host == \"a\") ", count: 10_000),
        "if (" + String(repeating: "!", count: 10_000) + "true) return \"a\";",
        "if (" + String(repeating: "(", count: 10_000) + "true",
        String(repeating: "{", count: 10_000),
    ]

    /// Whatever it is, it is read to its end and refused: no proxy is guessed.
    @Test(arguments: refused.indices)
    func refuses(_ index: Int) {
        #expect(throws: ProxyScriptViolation.self) {
            let program = try ProxyScriptProgram(
                [UInt8](ProxyScript.text(Self.refused[index]).utf8))
            _ = try program.answer(url: "https://a.test/", host: "a.test")
        }
    }

    @Test func isReadToItsEndCutAnywhere() {
        let bytes = [UInt8](Self.company.utf8)
        for count in 0..<bytes.count - 1 {
            #expect(throws: ProxyScriptViolation.self) {
                try ProxyScriptProgram(Array(bytes[..<count]))
            }
        }
    }

    /// Neither long texts nor many patterns hold up who asks.
    @Test func takesSoManySteps() throws {
        let stars = "*" + String(repeating: "a", count: 500) + "b"
        let text = String(repeating: "a", count: 1000)
        let line = "if (shExpMatch(\"\(text)\", \"\(stars)\")) return \"DIRECT\";"
        let script = ProxyScript.text(
            String(repeating: line, count: 500) + "return \"DIRECT\";")
        let program = try ProxyScriptProgram([UInt8](script.utf8))
        #expect(throws: ProxyScriptViolation.self) {
            try program.answer(url: "https://a.test/", host: "a.test")
        }
        let long = ProxyScript.text(answering: String(repeating: "a", count: 2000))
        #expect(throws: ProxyScriptViolation.self) { try ProxyScriptProgram([UInt8](long.utf8)) }
    }

    @Test func isBounded() {
        #expect(throws: ProxyScriptViolation.tooLong) {
            try ProxyScriptProgram(
                [UInt8](repeating: 0x20, count: ProxyScriptProgram.byteLimit + 1))
        }
    }
}
