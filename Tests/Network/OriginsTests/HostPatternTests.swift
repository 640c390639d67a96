import Testing

@testable import Origins

/// Hosts as users name them.
struct HostPatternTests {
    static let hosts: [(pattern: String, host: String, matches: Bool)] = [
        ("example.com", "example.com", true),
        ("example.com", "EXAMPLE.com", true),
        ("Example.COM", "example.com", true),
        ("example.com", "example.com.", true),
        ("example.com.", "example.com", true),
        ("example.com", "www.example.com", false),
        ("example.com", "notexample.com", false),
        ("example.com", "example.com.evil.test", false),
        ("example.com", "", false),
        ("*.example.com", "www.example.com", true),
        ("*.example.com", "WWW.Example.Com.", true),
        ("*.example.com", "a.b.example.com", true),
        ("*.example.com", "example.com", false),
        ("*.example.com", ".example.com", false),
        ("*.example.com", "notexample.com", false),
        ("*.example.com", "www.example.com.evil.test", false),
        ("*.com", "example.com", true),
        ("*", "example.com", true),
        ("*", "192.0.2.7", true),
        ("*", "::1", true),
        ("*", "", true),
        ("192.0.2.7", "192.0.2.7", true),
        ("192.0.2.7", "192.0.2.70", false),
        ("*.2.7", "192.0.2.7", true),
        ("::1", "::1", true),
        ("[::1]", "::1", true),
        ("2001:DB8::1", "2001:db8::1", true),
        ("localhost", "localhost", true),
        ("bücher.example", "bücher.example", true),
        ("xn--bcher-kva.example", "xn--bcher-kva.example", true),
        ("_dmarc.example.com", "_dmarc.example.com", true),
    ]

    @Test(arguments: hosts)
    func matches(_ row: (pattern: String, host: String, matches: Bool)) throws {
        let pattern = try #require(HostPattern(row.pattern))
        #expect(pattern.matches(row.host) == row.matches)
    }

    static let refused = [
        "", " ", ".", "..", "*.", "*.*", "*.*.com", "**", "*example.com", "www.*.com", "example.*",
        ".example.com", "*..example.com", "a..b", "example.com..", "exa mple.com", "example.com ",
        "https://example.com", "example.com/", "example.com:443", "[::1]:443", "user@example.com",
        "example.com?", "[example.com", "*.[::1]", "a\tb", "a\nb",
    ]

    @Test(arguments: refused)
    func refuses(_ text: String) {
        #expect(HostPattern(text) == nil)
    }
}
