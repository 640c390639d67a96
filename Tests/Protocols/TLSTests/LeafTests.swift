import Base
import Testing

@testable import TLS

/// What the certificates that clients are shown say, judged by the openssl program.
struct LeafTests {
    private let laboratory: TLSLaboratory
    private let context: TLSServerContext

    init() throws {
        laboratory = try TLSLaboratory()
        context = laboratory.serverContext()
    }

    private func text(of name: String) throws -> String {
        let path = laboratory.folder.file("leaf-\(Digests.randomBytes(4).hex).pem")
        try Files.create(path, context.leaf(for: name).pem)
        let verdict = shell("openssl verify -x509_strict -CAfile \(caPath) \(path)")
        #expect(verdict.status == 0, "\(verdict.output)")
        return shell("openssl x509 -in \(path) -noout -text -nameopt RFC2253").output
    }

    private var caPath: String { laboratory.authority.certificatePath }

    @Test func saysWhatBrowsersAskFor() throws {
        let text = try text(of: "www.example.com")
        #expect(text.contains("Version: 3"))
        #expect(text.contains("Subject: CN=www.example.com\n"))
        #expect(
            text.contains(
                "X509v3 Subject Alternative Name: \n                DNS:www.example.com\n"))
        #expect(text.contains("X509v3 Basic Constraints: critical\n                CA:FALSE"))
        #expect(text.contains("X509v3 Key Usage: critical\n                Digital Signature\n"))
        #expect(
            text.contains(
                "X509v3 Extended Key Usage: \n                TLS Web Server Authentication\n"))
        #expect(text.contains("X509v3 Authority Key Identifier"))
        #expect(text.contains("Signature Algorithm: ecdsa-with-SHA256"))
        #expect(text.contains("NIST CURVE: P-256"))
    }

    @Test func lastsFromTwoDaysBackForFortyFiveDays() {
        let (notBefore, notAfter) = context.leaf(for: "a.test").validity
        let now = Timestamp.now().microseconds / 1_000_000
        #expect(notAfter - notBefore == 45 * 86_400)
        #expect(abs(now - 2 * 86_400 - notBefore) < 60)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let name: String
        let alternative: String
        var hasSubject = true
    }

    static let rows = [
        Row(testDescription: "wildcard", name: "*.a.test", alternative: "DNS:*.a.test"),
        Row(testDescription: "underscore", name: "_a.b_c.test", alternative: "DNS:_a.b_c.test"),
        Row(testDescription: "one label", name: "localhost", alternative: "DNS:localhost"),
        Row(testDescription: "IPv4", name: "10.1.2.3", alternative: "IP Address:10.1.2.3"),
        Row(testDescription: "IPv6", name: "::1", alternative: "IP Address:0:0:0:0:0:0:0:1"),
        Row(testDescription: "nearly IPv4", name: "10.1.2.3.4", alternative: "DNS:10.1.2.3.4"),
        Row(
            testDescription: "64 bytes", name: String(repeating: "x", count: 59) + ".test",
            alternative: "DNS:" + String(repeating: "x", count: 59) + ".test"),
        Row(
            testDescription: "65 bytes", name: String(repeating: "x", count: 60) + ".test",
            alternative: "DNS:" + String(repeating: "x", count: 60) + ".test", hasSubject: false),
        Row(
            testDescription: "253 bytes", name: String(repeating: "abcdefg.", count: 31) + ".test",
            alternative: "DNS:" + String(repeating: "abcdefg.", count: 31) + ".test",
            hasSubject: false),
    ]

    @Test(arguments: rows)
    func namesItsHost(_ row: Row) throws {
        let text = try text(of: row.name)
        // RFC 5280 §4.2.1.6: critical where the subject is empty.
        let mark = row.hasSubject ? " " : " critical"
        #expect(
            text.contains(
                "X509v3 Subject Alternative Name:\(mark)\n                \(row.alternative)\n"))
        #expect(text.contains("Subject: CN=\(row.name)\n") == row.hasSubject)
        #expect(text.contains("Subject: \n") != row.hasSubject)
    }

    @Test func hasAKeyOfItsOwn() throws {
        let paths = ["a.test", "b.test"].map { laboratory.folder.file($0) }
        for (name, path) in zip(["a.test", "b.test"], paths) {
            try Files.create(path, context.leaf(for: name).pem)
        }
        let keys = (paths + [caPath]).map { shell("openssl x509 -in \($0) -noout -pubkey").output }
        #expect(keys[0] == keys[1])
        #expect(keys[0] != keys[2])
        #expect(!laboratory.authority.key.belongs(to: context.leaf(for: "a.test")))
        // Another loop has another key.
        let other = laboratory.serverContext().leaf(for: "a.test")
        try Files.create(laboratory.folder.file("other"), other.pem)
        #expect(
            shell("openssl x509 -in \(laboratory.folder.file("other")) -noout -pubkey").output
                != keys[0])
    }

    @Test func hasARandomSerialOfSixteenBytes() throws {
        var serials: Set<String> = []
        for number in 0..<50 {
            let path = laboratory.folder.file("\(number)")
            try Files.create(path, context.leaf(for: "\(number).test").pem)
            let line = shell("openssl x509 -in \(path) -noout -serial").output
            let digits = line.dropFirst("serial=".count).dropLast()
            #expect(digits.count == 32)
            // Positive, and its first byte not zero.
            #expect(("4"..."7").contains(digits.prefix(1)))
            serials.insert(String(digits))
        }
        #expect(serials.count == 50)
        #expect(Set(serials.map { $0.dropFirst().prefix(3) }).count > 40)
    }

    @Test func isMadeOnce() {
        let first = context.leaf(for: "a.test")
        #expect(context.leaf(for: "a.test") === first)
        #expect(context.leaf(for: "b.test") !== first)
    }

    @Test func isForgottenWhenTheCacheIsFull() {
        let small = TLSServerContext(
            authority: laboratory.authority, ticketKey: TLSLaboratory.ticketKey, leafLimit: 3)
        let first = small.leaf(for: "0")
        for number in 1..<3 { _ = small.leaf(for: "\(number)") }
        #expect(small.leaf(for: "0") === first)
        _ = small.leaf(for: "3")
        #expect(small.leaf(for: "0") !== first)
    }

    /// A name may hold whatever a client wrote into its hello.
    @Test(arguments: ["", "\u{0}", "a\u{0}b", "é.test", "\r\n", "CN=x/O=y", "1.2.3.4/24", ":::::"])
    func survivesAnyName(_ name: String) {
        let leaf = context.leaf(for: name)
        #expect(leaf.validity.notAfter > leaf.validity.notBefore)
        #expect(!leaf.der.isEmpty)
    }
}
