import Base
import ContentServer
import Contents
import HTTPModel
import HTTPServer
import TLS
import Testing

struct ManagedRoutesTests {
    private let server = ContentServer(ContentServerConfiguration())

    private func ask(
        _ method: String, _ path: String, _ content: String = "",
        _ fields: [(String, String)] = [], from peer: String = "127.0.0.1"
    ) async throws -> (status: Int, text: String, tag: String?) {
        let response = await server.answer(
            try request(method, path, fields, host: "localhost", from: peer),
            RequestBody([UInt8](content.utf8)))
        return (response.status, try await response.content().text, response.first("ETag"))
    }

    // MARK: Configuration and feedback

    @Test func keepsAConfiguration() async throws {
        let path = "/managed/com.example.app/configuration"
        #expect(try await ask("GET", path).status == 404)
        let given = #"{ "server": "https://a.test", "retries": 3, "on": true, "no": null }"#
        #expect(try await ask("PUT", path, given).status == 204)
        let first = try await ask("GET", path, from: "192.0.2.1")
        #expect(
            first.text == #"{"no":null,"on":true,"retries":3,"server":"https://a.test"}"# + "\n")
        let tag = try #require(first.tag)
        #expect(try await ask("GET", path, "", [("If-None-Match", tag)]).status == 304)
        let list = try await ask("GET", "\(path)?format=plist").text
        #expect(list.contains("<key>retries</key>\n<integer>3</integer>"))
        #expect(!list.contains("<key>no</key>"))
        #expect(try await ask("PUT", path, #"{"retries":4}"#).status == 204)
        #expect(try await ask("GET", path, "", [("If-None-Match", tag)]).status == 200)
        #expect(try await ask("DELETE", path).status == 204)
        #expect(try await ask("GET", path).status == 404)
    }

    @Test(
        arguments: [
            ("[]", 400), ("", 400), ("{", 400), ("1", 400),
            ("{\"a\":\"" + String(repeating: "x", count: 65_530) + "\"}", 413),
        ])
    func refusesConfigurations(_ content: String, _ status: Int) async throws {
        #expect(try await ask("PUT", "/managed/a/configuration", content).status == status)
    }

    @Test func addsFeedback() async throws {
        let path = "/managed/com.example.app/feedback"
        #expect(try await ask("GET", path).text == "{}\n")
        for text in [#"{"failures":2,"version":"1.0"}"#, #"{"failures":3,"version":"1.1"}"#] {
            #expect(try await ask("POST", path, text, from: "192.0.2.1").status == 204)
        }
        let told = #"{"failures":5,"version":"1.1"}"# + "\n"
        #expect(try await ask("GET", path).text == told)
        #expect(try await ask("DELETE", path).text == told)
        #expect(try await ask("DELETE", path).text == "{}\n")
    }

    /// All of a message, or nothing of it.
    @Test(arguments: [
        #"{"a":1,"b":[]}"#, #"{"a":1,"b":1.5}"#, #"{"a":1,"b":null}"#, "[]", "x",
        #"{"a":1,"b":99999999999999999999}"#,
        "{\"a\":1,\"b\":\"" + String(repeating: "x", count: 257) + "\"}",
    ])
    func refusesFeedback(_ text: String) async throws {
        #expect(try await ask("POST", "/managed/app/feedback", text).status == 400)
        #expect(try await ask("GET", "/managed/app/feedback").text == "{}\n")
    }

    @Test func boundsFeedback() async throws {
        let many = (0..<257).map { "\"k\($0)\":1" }.joined(separator: ",")
        #expect(try await ask("POST", "/managed/app/feedback", "{\(many)}").status == 400)
        for number in 0..<256 {
            _ = try await ask("POST", "/managed/app\(number)/feedback", "{}")
        }
        #expect(try await ask("POST", "/managed/another/feedback", "{}").status == 503)
    }

    /// What is told while somebody reads and erases is either in that or in the next; never in both.
    @Test func losesNothingAndCountsNothingTwice() async throws {
        let total = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<250 {
                        let answer = try await ask("POST", "/managed/app/feedback", #"{"n":1}"#)
                        #expect(answer.status == 204)
                    }
                    return 0
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    var sum: Int64 = 0
                    for _ in 0..<200 { sum += try await taken() }
                    return sum
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(try await total + taken() == 1000)
    }

    private func taken() async throws -> Int64 {
        let text = try await ask("DELETE", "/managed/app/feedback").text
        return Int64(text.filter { ("0"..."9").contains($0) }) ?? 0
    }

    /// An app whose licence is revoked runs on for thirty days.
    @Test(arguments: [
        (0, 200, "revoked"), (29, 200, "revoked"), (30, 403, "expired"), (31, 403, "expired"),
    ])
    func revokesALicence(_ days: Int, _ status: Int, _ state: String) async throws {
        let path = "/managed/com.example.app/licence"
        #expect(try await ask("GET", path).text.contains(#""state":"valid""#))
        let start = 1_780_000_000
        #expect(
            try await ask("DELETE", path, "", [("X-Sallyport-Now", "\(start)")]).status == 204)
        let now = [("X-Sallyport-Now", "\(start + days * 86_400)")]
        let found = try await ask("GET", path, "", now, from: "192.0.2.1")
        #expect(found.status == status)
        #expect(found.text.contains("\"state\":\"\(state)\""))
        #expect(found.text.contains("\"expiresAt\":\(start + 30 * 86_400)"))
        #expect(try await ask("PUT", path).status == 204)
        #expect(try await ask("GET", path, "", now).text.contains(#""state":"valid""#))
    }

    @Test(arguments: [
        ("PUT", "/managed/app/licence"), ("DELETE", "/managed/app/licence"),
        ("POST", "/profiles/lint"), ("PUT", "/managed/app/configuration"),
        ("DELETE", "/managed/app/configuration"),
        ("GET", "/managed/app/feedback"), ("DELETE", "/managed/app/feedback"),
    ])
    func servesTheServersSideToThisMachineAlone(_ method: String, _ path: String) async throws {
        #expect(try await ask(method, path, "{}", from: "192.0.2.1").status == 403)
    }

    // MARK: Profiles

    @Test(
        arguments: [
            ("proxy=proxy.test:8080", ["<string>Manual</string>", "<integer>8080</integer>"]),
            ("proxy=[::1]:8080", ["<string>::1</string>"]),
            ("pac=http://a.test/pac/good", ["<string>Auto</string>"]),
            (
                "relay=https://relay.test/&match=a.test,b.test",
                ["com.apple.relay.managed", "<string>b.test</string>"]
            ),
            ("sso=EXAMPLE.TEST&hosts=a.test", ["com.apple.extensiblesso"]),
            ("kerberos=EXAMPLE.TEST&prefixes=https://a.test/", ["com.apple.sso"]),
            ("managed=com.example.app", ["mcx_preference_settings", "<key>retries</key>"]),
            ("proxy=p.test:1&relay=https://r.test/&sso=E", ["com.apple.relay.managed"]),
        ])
    func makesProfiles(_ query: String, _ parts: [String]) async throws {
        _ = try await ask("PUT", "/managed/com.example.app/configuration", #"{"retries":3}"#)
        let made = try await ask("GET", "/profiles/test.mobileconfig?\(query)")
        #expect(made.status == 200)
        for part in parts { #expect(made.text.contains(part), "\(made.text)") }
        #expect(try await ask("GET", "/profiles/test.mobileconfig?\(query)").text == made.text)
        let lint = try await ask("POST", "/profiles/lint", made.text)
        #expect(lint.text.contains(#""valid":true,"findings":[]"#), "\(lint.text)")
    }

    @Test(arguments: [
        ("/profiles/test.mobileconfig", 400), ("/profiles/test.mobileconfig?proxy=none", 400),
        ("/profiles/test.mobileconfig?managed=none", 400), ("/profiles/test?ca=1", 404),
        ("/profiles/test.mobileconfig?ca=1", 400), ("/profiles/%2f.mobileconfig?sso=A", 404),
        ("/profiles/test.mobileconfig?sso=A&sign=1", 503),
    ])
    func refusesProfiles(_ path: String, _ status: Int) async throws {
        #expect(try await ask("GET", path).status == status)
    }

    @Test func lintsWhatIsBroken() async throws {
        let made = try await ask("GET", "/profiles/test.mobileconfig?proxy=proxy.test:8080").text
        let broken = made.split(separator: "<integer>8080</integer>")
            .joined(separator: "<string>8080</string>")
        let lint = try await ask("POST", "/profiles/lint", broken).text
        #expect(lint.contains(#""valid":false"#))
        #expect(lint.contains(#""path":"PayloadContent[0].ProxyServerPort""#))
        #expect(
            try await ask("POST", "/profiles/lint", String(repeating: "x", count: 2 << 20)).status
                == 413)
    }

    // MARK: Proxy scripts

    @Test(
        arguments: [
            ("good?proxy=p.test:3128", 200, "return \"PROXY p.test:3128\";"),
            ("list", 200, "PROXY 127.0.0.1:1; PROXY 127.0.0.1:8080; DIRECT"),
            ("dead", 200, "PROXY 127.0.0.1:1"), ("direct", 200, "DIRECT"),
            ("syntax", 200, "{{"), ("loop", 200, "while (true)"), ("exception", 200, "throw"),
            ("nonsense", 200, "TELEPORT"), ("nothing", 200, "{  }"), ("unnamed", 200, "find("),
            ("lookup", 200, "dnsResolve"), ("huge", 200, "*/\nfunction FindProxyForURL"),
            ("slow", 200, "PROXY"), ("page", 200, "PROXY"), ("other", 200, "PROXY"),
            ("unknown", 404, "good"), ("good?proxy=x", 400, "HOST:PORT"),
            ("good?proxy=x%22;alert(1)//:1", 400, "HOST:PORT"),
        ])
    func servesProxyScripts(_ path: String, _ status: Int, _ part: String) async throws {
        let response = await server.answer(
            try request("GET", "/pac/\(path)"), RequestBody([]))
        #expect(response.status == status)
        let text = try await response.content(limit: 2 << 20).text
        #expect(text.contains(part))
        guard status == 200 else { return }
        let type =
            ["page": "text/html; charset=utf-8", "other": "application/x-javascript-config"][path]
            ?? "application/x-ns-proxy-autoconfig"
        #expect(response.first("Content-Type") == type)
        #expect((response.delivery?.headDelay == 10_000) == (path == "slow"))
        #expect((text.utf8.count > 1 << 20) == (path == "huge"))
    }
}
