import Testing

@testable import Processes

struct CommandLineRedactionTests {
    @Test(
        arguments: [
            ("nothing secret", ["curl", "-v", "https://example.com/a?b=c"], nil),
            (
                "a long option's value", ["x", "--password", "hunter2", "-v"],
                ["x", "--password", "***", "-v"]
            ),
            ("with an equals sign", ["x", "--api-key=abc"], ["x", "--api-key=***"]),
            (
                "no value follows", ["x", "--password", "--verbose"],
                ["x", "--password", "--verbose"]
            ),
            ("a short option's value", ["mysql", "-p", "x"], ["mysql", "-p", "***"]),
            ("without a space", ["mysql", "-phunter"], ["mysql", "-p***"]),
            ("a port", ["psql", "-p5432"], nil),
            ("user and password", ["curl", "-u", "me:pw"], ["curl", "-u", "***"]),
            ("what curl prints", ["/usr/bin/curl", "-w", "%{http_code}"], nil),
            ("both in one word", ["curl", "-ume:pw"], ["curl", "-u***"]),
            (
                "userinfo", ["git", "clone", "https://me:pw@example.com/a"],
                ["git", "clone", "https://***@example.com/a"]
            ),
            (
                "userinfo with a slash before the at sign", ["x", "postgres://me:p@w@db/x"],
                ["x", "postgres://***@db/x"]
            ),
            (
                "a parameter", ["curl", "https://a.test/?q=1&access_token=x#f"],
                ["curl", "https://a.test/?q=1&access_token=***#f"]
            ),
            (
                "a field", ["curl", "-H", "Authorization: Bearer abc"],
                ["curl", "-H", "Authorization: ***"]
            ),
            ("a scheme alone", ["x", "Bearer abc"], ["x", "Bearer ***"]),
            (
                "a variable", ["env", "AWS_SECRET_ACCESS_KEY=x", "A=b"],
                ["env", "AWS_SECRET_ACCESS_KEY=***", "A=b"]
            ),
            (
                "a script", ["sh", "-c", "curl -u me:pw https://a.test/?token=x; exit 7"],
                ["sh", "-c", "curl -u *** https://a.test/?token=***; exit 7"]
            ),
            (
                "a variable with spaces", ["env", "PASSWORD=correct horse battery"],
                ["env", "PASSWORD=***"]
            ),
            (
                "a content with spaces and a URL",
                ["curl", "-d", "{\"next\": \"https://a.test/\", \"password\": \"hunter2\"}"],
                ["curl", "-d", "{\"next\": \"https://a.test/\", \"password\": \"***\"}"]
            ),
            ("a JSON Web Token", ["x", "eyJhbGciOiJub25lIn0.e30."], ["x", "***"]),
            ("a published form", ["x", "ghp_0123456789abcdef"], ["x", "***"]),
            (
                "others", ["x", "shpat_0123456789abcdef", "ASIA0123456789ABCDEF"],
                ["x", "***", "***"]
            ),
            (
                "a URL in an option", ["x", "--proxy=http://u:p@h:1"],
                ["x", "--proxy=http://***@h:1"]
            ),
            (
                "a content", ["curl", "-d", "{\"user\":\"a\",\"password\":\"hunter2\"}"],
                ["curl", "-d", "{\"user\":\"a\",\"password\":\"***\"}"]
            ),
            (
                "a content behind its option", ["curl", "-d{\"n\":1,\"token\":\"x\"}"],
                ["curl", "-d{\"n\":1,\"token\":\"***\"}"]
            ),
            (
                "a token in a URL's path", ["curl", "https://a.test/s/eyJhbGci.e30.c2ln/x"],
                ["curl", "https://a.test/s/***/x"]
            ),
            ("places", ["ssh", "git@example.com:a/b", "[", "-f", "/a:b", "]"], nil),
            ("empty words", ["x", "", "-"], nil),
            ("nothing", [], nil),
        ] as [(String, [String], [String]?)])
    func takesSecretsOut(name: String, words: [String], expected: [String]?) {
        #expect(CommandLineRedaction.redact(words) == expected ?? words, "\(name)")
    }
}
