import Base
import Foundation
import HTTPCodecs
import ProcessStart
import Testing
import Traffic

@testable import Formats

struct RequestSnippetTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let form: RequestSnippet.Form
        let name: String
        let lines: [String]
        let body: [UInt8]
        let text: String
        var testDescription: String { "\(form) \(name)" }

        init(
            _ form: RequestSnippet.Form, _ name: String, _ lines: [String], _ body: [UInt8] = [],
            _ text: String
        ) {
            (self.form, self.name, self.lines, self.body) = (form, name, lines, body)
            self.text = text
        }
    }

    private static let get = ["GET /a?b=it's HTTP/1.1", "Host: x.example", "Accept: */*"]
    private static let post = [
        "POST / HTTP/1.1", "host: other.example", "Content-Type: text/plain", "X-Empty:",
        "X-Odd: =\"$(id)`\\", "Content-Length: 3",
    ]

    static let rows = [
        Row(
            .curl, "GET", get, [],
            #"""
            curl \
              --globoff \
              --path-as-is \
              --header 'Accept: */*' \
              --header 'User-Agent:' \
              --url 'https://x.example/a?b=it'\''s'

            """#),
        Row(
            .curl, "POST", post, Array("@a'".utf8),
            #"""
            curl \
              --globoff \
              --path-as-is \
              --request 'POST' \
              --header 'host: other.example' \
              --header 'Content-Type: text/plain' \
              --header 'X-Empty;' \
              --header 'X-Odd: ="$(id)`\' \
              --header 'User-Agent:' \
              --header 'Accept:' \
              --data-raw '@a'\''' \
              --url 'https://x.example/'

            """#),
        Row(
            .curl, "binary", ["PUT / HTTP/1.1", "X: \u{1B}[2J"], [0, 0xFF],
            #"""
            printf %s 'AP8=' | base64 -d | curl \
              --globoff \
              --path-as-is \
              --request 'PUT' \
              --header "$(printf -- 'X: \033[2J')" \
              --header 'User-Agent:' \
              --header 'Accept:' \
              --header 'Content-Type:' \
              --data-binary @- \
              --url 'https://x.example/'

            """#),
        Row(
            .httpie, "POST", post, Array("a".utf8),
            #"""
            http \
              --path-as-is \
              --ignore-stdin \
              --raw='a' \
              'POST' 'https://x.example/' \
              'host:other.example' \
              'Content-Type:text/plain' \
              'X-Empty;' \
              'X-Odd:\="$(id)`\' \
              'User-Agent:' \
              'Accept:' \
              'Accept-Encoding:'

            """#),
        Row(
            .httpie, "a field like an option",
            [
                "GET / HTTP/1.1", "-oowned.sh: 1", "User-Agent: a", "Accept: b",
                "Accept-Encoding: c",
            ],
            [],
            #"""
            http \
              --path-as-is \
              --ignore-stdin \
              -- 'GET' 'https://x.example/' \
              '-oowned.sh:1' \
              'User-Agent:a' \
              'Accept:b' \
              'Accept-Encoding:c'

            """#),
        Row(
            .httpie, "a method like an option",
            ["-oX / HTTP/1.1", "User-Agent: a", "Accept: b", "Accept-Encoding: c"], [],
            #"""
            http \
              --path-as-is \
              --ignore-stdin \
              -- '-oX' 'https://x.example/' \
              'User-Agent:a' \
              'Accept:b' \
              'Accept-Encoding:c'

            """#),
        Row(
            .fetch, "POST", post, Array("a\"\u{2028}".utf8),
            #"""
            const response = await fetch("https://x.example/", {
              method: "POST",
              headers: [
                ["host", "other.example"],
                ["Content-Type", "text/plain"],
                ["X-Empty", ""],
                ["X-Odd", "=\"$(id)`\\"],
              ],
              body: Uint8Array.from(atob("YSLigKg="), (c) => c.charCodeAt(0)),
              redirect: "manual",
            });

            """#),
        Row(
            .urlsession, "POST", post, Array(#"a"\(b)"#.utf8),
            #"""
            import Foundation

            var request = URLRequest(url: URL(string: "https://x.example/")!)
            request.httpMethod = "POST"
            request.addValue("other.example", forHTTPHeaderField: "host")
            request.addValue("text/plain", forHTTPHeaderField: "Content-Type")
            request.addValue("", forHTTPHeaderField: "X-Empty")
            request.addValue("=\"$(id)`\\", forHTTPHeaderField: "X-Odd")
            request.httpBody = Data("a\"\\(b)".utf8)
            let (data, response) = try await URLSession.shared.data(for: request)

            """#),
    ]

    @Test(arguments: rows) func quotesForItsLanguage(_ row: Row) throws {
        let snippet = try snippet(row.lines, row.body)
        #expect(snippet.text(as: row.form) == row.text)
    }

    @Test(arguments: RequestSnippet.Form.allCases)
    func masksSecrets(_ form: RequestSnippet.Form) throws {
        let lines = [
            "POST /?access_token=t0k3n HTTP/1.1", "Authorization: Bearer t0k3n",
            "Content-Type: application/json",
        ]
        let body = Array(#"{"password":"pa55"}"#.utf8)
        let masked = try snippet(lines, body).text(as: form)
        #expect(!masked.contains("t0k3n"))
        #expect(!masked.contains("pa55"))
        let whole = try snippet(lines, body, withSecrets: true).text(as: form)
        #expect(whole.contains("Bearer t0k3n"))
        #expect(whole.contains("pa55"))
    }

    @Test(arguments: RequestSnippet.Form.allCases)
    func readsALongContentFromTheCapture(_ form: RequestSnippet.Form) throws {
        let body = [UInt8](repeating: 0x61, count: 100_000)
        let text = try snippet(["POST / HTTP/1.1"], body).text(as: form)
        #expect(text.utf8.count < 1000)
        #expect(text.contains("sallyport flows show 'a b'\\''c' 1 --part request-body"))
    }

    /// A few hundred bytes that would be 80 MiB.
    private static let bomb: [UInt8] = {
        let encoder = ContentEncoder(.gzip)
        let piece = [UInt8](repeating: 0xFF, count: 1 << 20)
        let packed = (0..<80).flatMap { _ in encoder.encode(piece.span) } + encoder.finish()
        return ContentEncoder.encode(packed)
    }()

    /// It is sent as it was; where it may hold secrets, it is read from the capture.
    @Test(arguments: RequestSnippet.Form.allCases)
    func leavesPackedWhatWouldGrowTooMuch(_ form: RequestSnippet.Form) throws {
        #expect(Self.bomb.count < 1000)
        let lines = ["POST / HTTP/1.1", "Content-Encoding: gzip, gzip"]
        let text = try snippet(lines, Self.bomb).text(as: form)
        #expect(text.contains("gzip, gzip"))
        #expect(text.contains(Base64.encode(Self.bomb)))
        #expect(text.utf8.count < 3000)
        let claimed = try snippet(lines + ["Content-Type: application/json"], Self.bomb)
            .text(as: form)
        #expect(claimed.contains("gzip, gzip"))
        #expect(claimed.contains("sallyport flows show 'a b'\\''c' 1 --part request-body"))
        #expect(claimed.utf8.count < 1000)
    }

    /// Foundation takes one bracket for a reason to encode each percent sign again.
    @Test(arguments: [
        ("GET /a?b[]=%20 HTTP/1.1", "x.example", "https://x.example/a?b%5B%5D=%20"),
        ("GET /[1] HTTP/1.1", "[::1]:8443", "https://[::1]:8443/%5B1%5D"),
    ])
    func writesAStrictURLForFoundation(_ line: String, _ host: String, _ url: String) throws {
        let text = try snippet([line, "Host: \(host)"], authority: host).text(as: .urlsession)
        #expect(text.contains("URL(string: \"\(url)\")"))
    }

    /// Some servers want the length of what has none.
    @Test func tellsThatAContentIsEmpty() throws {
        let text = try snippet(["POST / HTTP/1.1", "Content-Length: 0"]).text(as: .curl)
        #expect(text.contains("--data-raw '' "))
    }

    @Test func refusesATunnel() {
        let failure = #expect(throws: Failure.self) {
            try snippet(["CONNECT x.example:443 HTTP/1.1"], [])
        }
        #expect(failure?.code == "no-snippet")
    }

    /// What a shell makes of a word is what was quoted, whatever the bytes; it has no zero byte.
    @Test func quotesAnyByteForAShell() throws {
        let words = [
            Array(1...255), Array("it's $(id) `id` \\ \"\n!".utf8), Array("caf\u{E9}".utf8), [],
            Array("\u{202E}".utf8), [0x27, 0xFF, 0x27, 0x31], Array("-n %d\u{1}\n\n".utf8),
        ]
        for (word, shell) in words.flatMap({ word in ["sh", "bash"].map { (word, $0) } }) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/\(shell)")
            process.arguments = ["-c", "printf %s " + ShellText.quoted(word)]
            #expect(try ProcessStart.output(of: process) == word)
        }
    }

    private func snippet(
        _ lines: [String], _ body: [UInt8] = [], authority: String = "x.example",
        withSecrets: Bool = false
    ) throws -> RequestSnippet {
        var exchange = ExchangeRecord(
            id: 1, connection: 1, startedAt: Timestamp(microseconds: 0), scheme: .https,
            authority: authority)
        exchange.requestHead = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        exchange.requestBody.bytes = body
        exchange.requestBody.size = Int64(body.count)
        let traffic = MemoryTraffic()
        traffic.submit([.exchange(exchange)])
        return try RequestSnippet(
            exchange, of: traffic, capture: "a b'c", withSecrets: withSecrets)
    }
}

struct BodyFileNameTests {
    @Test(arguments: [
        ("https://x.example/logo.png", "image/png", "7-response-logo.png"),
        ("https://x.example/v1/items?a=/b", "application/json", "7-response-items.json"),
        ("https://x.example/", "text/html; charset=utf-8", "7-response.html"),
        ("https://x.example", "", "7-response.bin"),
        ("https://x.example/..", "", "7-response.bin"),
        ("https://x.example/a/.ssh", "", "7-response-.ssh.bin"),
        ("https://x.example/%2e%2e%2fpasswd", "", "7-response-_2e_2e_2fpasswd.bin"),
        ("https://x.example/a\\b:c|d\u{0}\u{1B}\u{E9}", "", "7-response-a_b_c_d____.bin"),
        (
            "https://x.example/" + String(repeating: "a", count: 300), "",
            "7-response-"
                + String(repeating: "a", count: 60) + ".bin"
        ),
    ])
    func isOnlyAName(_ url: String, _ type: String, _ name: String) {
        let made = BodyFileName.make(
            7, "response", url: Array(url.utf8), type: Array(type.utf8))
        #expect(made == name)
    }

    @Test func writesEachContentDecoded() throws {
        var files: [String: Collector] = [:]
        var options = ExportOptions()
        options.withSecrets = true
        let lost = try BodyFolderExporter().export(SampleTraffic.make(), options) { name in
            let file = Collector()
            #expect(files.updateValue(file, forKey: name) == nil)
            return OutputFile(write: { file.append($0) }, finish: {}, discard: {})
        }
        #expect(MitmproxyRoundTripTests.counts(lost) == ["content-cut 1"])
        #expect(
            files.keys.sorted() == [
                "1-request-login.form", "2-request-2.png", "2-response-2.json", "6-response-6.bin",
                "7-response-7.txt", "9-request-rpc.grpc", "index.json",
            ])
        #expect(files["2-response-2.json"]?.bytes == SampleTraffic.page)
        #expect(files["6-response-6.bin"]?.bytes == SampleTraffic.longContent)
        #expect(files["index.json"]?.bytes.text.contains("\"codings\":[\"gzip\"]") == true)
    }

    @Test func masksAndWithholds() throws {
        var files: [String: Collector] = [:]
        let lost = try BodyFolderExporter().export(SampleTraffic.make(), ExportOptions()) { name in
            let file = Collector()
            files[name] = file
            return OutputFile(write: { file.append($0) }, finish: {}, discard: {})
        }
        #expect(lost.count(of: .secretsMasked) == 2)
        #expect(files["1-request-_login.form"] == nil)
        #expect(files["1-request-login.form"]?.bytes.text == "user=nora&password=***")
        #expect(files["index.json"]?.bytes.text.contains("t0k3n") == false)
    }
}
