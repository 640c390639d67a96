import Testing

@testable import Launching

@Suite struct CommandTemplateTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let words: [String]
        var host = "shop.test"
        var port: UInt16 = 443
        let filled: [String]
        /// Whether it is told of a port that the URL does not name.
        var tellsUnnamedPort = false

        var testDescription: String { words.joined(separator: " ") + " \(port)" }
    }

    static let rows = [
        Row(words: ["a", "{url}x"], filled: ["a", "https://shop.test/x"]),
        Row(words: ["a", "{url}"], port: 8443, filled: ["a", "https://shop.test:8443/"]),
        Row(words: ["a", "{url}"], host: "::1", filled: ["a", "https://[::1]/"]),
        Row(words: ["a", "{host}:{port}"], filled: ["a", "shop.test:443"]),
        Row(
            words: ["uv", "--allow-insecure-host", "{host}:{port}", "{url}"],
            filled: ["uv", "--allow-insecure-host", "shop.test:443", "https://shop.test/"],
            tellsUnnamedPort: true),
        Row(
            words: ["uv", "--allow-insecure-host=shop.test:443", "{url}"],
            filled: ["uv", "--allow-insecure-host=shop.test:443", "https://shop.test/"],
            tellsUnnamedPort: true),
        Row(
            words: ["uv", "--allow-insecure-host", "{host}:{port}", "{url}"], port: 8443,
            filled: [
                "uv", "--allow-insecure-host", "shop.test:8443", "https://shop.test:8443/",
            ]),
    ]

    @Test(arguments: rows) func isFilled(row: Row) {
        let line = CommandTemplate(words: row.words)
        let place = CommandTemplate.Place(
            host: row.host, port: row.port, proxy: nil, authority: "ca.pem")
        #expect(line.filled(place) == row.filled)
        #expect(line.tellsUnnamedPort(at: place) == row.tellsUnnamedPort)
    }
}
