import Base
import Testing

@testable import DNS

@Suite struct DNSNameTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let hostName: String?
        let description: String
        var testDescription: String { text }

        init(_ text: String, _ hostName: String?, _ description: String? = nil) {
            self.text = text
            self.hostName = hostName
            self.description = description ?? text
        }
    }

    @Test(arguments: [
        Row("a.test", "a.test"), Row("A.Test.", "a.test", "A.Test"), Row("db", "db"),
        Row("_dns.resolver.arpa", "_dns.resolver.arpa"),
        Row("xn--bcher-kva.test", "xn--bcher-kva.test"),
        Row("192.0.2.1", nil), Row("a.0x7F", nil), Row("a.0xg", "a.0xg"), Row("1.a", "1.a"),
        Row("a b.test", nil, "a\\032b.test"), Row("ü", nil, "\\195\\188"),
        Row("a\\b", nil, "a\\092b"), Row("a\0b.test", nil, "a\\000b.test"),
    ])
    func namesAreTold(_ row: Row) throws {
        let name = try #require(DNSName(row.text))
        #expect(name.hostName == row.hostName)
        #expect(name.description == row.description)
    }

    @Test(arguments: ["", ".", "a..b", ".a", String(repeating: "a", count: 64)])
    func othersAreNone(_ text: String) {
        #expect(DNSName(text) == nil)
    }

    @Test func limitsHoldExactly() {
        let label = String(repeating: "a", count: 63)
        let most = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(DNSName(most)?.hostName == most)
        #expect(most.utf8.count == 253)
        #expect(DNSName(most + "b") == nil)
        #expect(DNSName(labels: [[]]) == nil)
        #expect(DNSName.root.description == ".")
        #expect(DNSName.root.hostName == nil)
        #expect(DNSName(labels: [[UInt8]("a.b".utf8)])?.description == "a\\046b")
    }
}
