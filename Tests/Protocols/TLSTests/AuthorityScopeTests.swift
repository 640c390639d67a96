import Base
import Foundation
import ProcessStart
import Testing

@testable import TLS

/// Scopes, as the `openssl` command judges them: what counts is what clients do with a CA.
struct AuthorityScopeTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let scope: [String]
        let leaf: String
        /// What the verifier says, `nil` if it accepts.
        let refusal: String?
        var testDescription: String { "\(leaf) in \(scope)" }
    }

    private static let notPermitted = "permitted subtree violation"
    private static let excluded = "excluded subtree violation"

    static let rows = [
        Row(scope: ["example.com"], leaf: "example.com", refusal: nil),
        Row(scope: ["example.com"], leaf: "a.b.example.com", refusal: nil),
        Row(scope: ["Example.COM"], leaf: "www.example.com", refusal: nil),
        Row(scope: ["example.com", "test"], leaf: "shop.test", refusal: nil),
        Row(scope: ["localhost"], leaf: "localhost", refusal: nil),
        Row(scope: ["example.com"], leaf: "example.org", refusal: notPermitted),
        Row(scope: ["example.com"], leaf: "badexample.com", refusal: notPermitted),
        Row(scope: ["example.com"], leaf: "example.com.test", refusal: notPermitted),
        Row(scope: ["example.com"], leaf: "com", refusal: notPermitted),
        Row(scope: ["example.com", "test"], leaf: "localhost", refusal: notPermitted),
        Row(scope: ["example.com"], leaf: "192.0.2.7", refusal: excluded),
        Row(scope: ["example.com"], leaf: "2001:db8::1", refusal: excluded),
        Row(scope: ["example.com"], leaf: "::ffff:192.0.2.7", refusal: excluded),
        Row(scope: [], leaf: "example.org", refusal: nil),
        Row(scope: [], leaf: "192.0.2.7", refusal: nil),
        Row(scope: [], leaf: "2001:db8::1", refusal: nil),
    ]

    @Test(.enabled(if: openssl != nil), arguments: rows)
    func isKeptByVerifiers(_ row: Row) throws {
        let folder = TemporaryFolder()
        let authority = try CertificateAuthority.open(folder: folder.path + "/ca", scope: row.scope)
        let issuer = LeafIssuer(authority: authority.certificate, authorityKey: authority.key)
        let leafPath = folder.path + "/leaf.pem"
        try Files.create(leafPath, issuer.issue(row.leaf).pem)
        let (status, text) = try Self.verify(leafPath, trusting: authority.certificatePath)
        #expect((status == 0) == (row.refusal == nil), "\(text)")
        #expect(text.contains(row.refusal ?? ": OK"), "\(text)")
    }

    @Test(arguments: [
        (["example.com"], "Sallyport CA for example.com "),
        (["b.test", "A.test", "b.test"], "Sallyport CA for a.test, b.test "),
        (
            ["a.example", "b.example", "c.example", "d.example"],
            "Sallyport CA for a.example and 3 more "
        ),
        ([String(repeating: "a", count: 50) + ".test"], "Sallyport CA with a scope "),
        ([], "Sallyport CA "),
    ])
    func isInTheName(_ scope: [String], _ start: String) throws {
        let made = try CertificateAuthority.make(label: "Sallyport CA", scope: scope)
        // RFC 4514 §2.4: a comma of a value is escaped.
        let subject = made.certificate.subject.replacing("\\,", with: ",")
        #expect(subject.hasPrefix("CN=\(start)"), "\(subject)")
        #expect(made.certificate.isAuthority)
    }

    @Test func isForServersOnly() throws {
        let folder = TemporaryFolder()
        let authority = try CertificateAuthority.open(
            folder: folder.path + "/ca", scope: ["example.com"])
        let issuer = LeafIssuer(authority: authority.certificate, authorityKey: authority.key)
        let leafPath = folder.path + "/leaf.pem"
        try Files.create(leafPath, issuer.issue("example.com").pem)
        guard Self.openssl != nil else { return }
        for purpose in ["smimesign", "sslclient"] {
            let (status, text) = try Self.verify(
                leafPath, trusting: authority.certificatePath, purpose: purpose)
            #expect(status != 0, "\(text)")
        }
    }

    @Test(arguments: [
        "", ".", ".example.com", "example.com.", "a..b", "*.example.com", "example.com,DNS:com",
        "example.com;com", "example.com:443", "DNS:com", "https://example.com", "a b", "a\nb",
        "a\0b", "bücher.example", "192.0.2.7", "1.2", "7", "0x7f", "::1", "[::1]", "-a.test",
        "a-.test", "@section", String(repeating: "a", count: 64) + ".test",
        String(repeating: "a.", count: 126) + "ab",
    ])
    func refusesWhatIsNoDomain(_ name: String) {
        #expect(AuthorityScope.domain(name) == nil)
        #expect(
            code { _ = try CertificateAuthority.make(label: "x", scope: ["a.test", name]) }
                == "scope-invalid")
    }

    @Test func refusesTooMany() {
        let names = (0..<65).map { "a\($0).test" }
        #expect(code { _ = try AuthorityScope(names) } == "scope-invalid")
        #expect(code { _ = try AuthorityScope(Array(names.dropLast())) } == nil)
    }

    /// The code of what `body` throws, `nil` if it does not.
    private func code(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? Failure)?.code ?? "\(error)"
        }
    }

    private static let openssl = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":").map { "\($0)/openssl" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Asks the `openssl` command; returns its status and what it wrote.
    private static func verify(
        _ leafPath: String, trusting authorityPath: String, purpose: String = "sslserver"
    ) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(openssl))
        process.arguments = [
            "verify", "-x509_strict", "-no-CAfile", "-no-CApath", "-no-CAstore", "-purpose",
            purpose,
            "-trusted", authorityPath, leafPath,
        ]
        let text = try ProcessStart.output(of: process, withErrors: true)
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
}
