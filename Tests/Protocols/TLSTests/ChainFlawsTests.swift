import Base
import Testing

@testable import TLS

/// What packets show of certificates is judged without asking whom anybody trusts.
struct ChainFlawsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let flaws: [String]
        var host: String? = "www.a.test"
        /// In days from now.
        var day: Int64 = 0
        var change: @Sendable (inout CertificateRecipe) -> Void = { _ in }

        init(
            _ name: String, _ flaws: [String], host: String? = "www.a.test", day: Int64 = 0,
            _ change: @escaping @Sendable (inout CertificateRecipe) -> Void = { _ in }
        ) {
            testDescription = name
            self.flaws = flaws
            self.host = host
            self.day = day
            self.change = change
        }
    }

    static let rows = [
        Row("sound", []), Row("sound, and no name was asked for", [], host: nil),
        Row("another name", ["hostname mismatch"], host: "www.b.test"),
        Row("an address", ["hostname mismatch"], host: "192.0.2.7"),
        Row("too late", ["certificate has expired"], day: 5000),
        Row("too early", ["certificate is not yet valid"], day: -3000),
        Row("its own issuer", ["self-signed leaf"]) { $0.issuer = .itself },
        Row("a short key", ["EE certificate key too weak"]) { $0.key = .rsa1024 },
        Row("a small curve", ["EE certificate key too weak"]) { $0.key = .p192 },
        Row("a key of the right size", []) { $0.key = .rsa2048 },
        Row("SHA-1", ["CA signature digest algorithm too weak"]) { $0.digest = .sha1 },
    ]

    @Test(arguments: rows)
    func judges(_ row: Row) throws {
        let folder = TemporaryFolder()
        let issuer = try ChainIssuer(
            authority: AuditAuthority.open(folder: folder.file("audit")),
            keys: KeyCache(folder: folder.file("keys")))
        var recipe = CertificateRecipe(name: "leaf")
        row.change(&recipe)
        let leaf = try issuer.present([recipe], host: "www.a.test", origin: []).certificates[0]
        let now = (leaf.validity.notBefore + leaf.validity.notAfter) / 2
        let flaws = ChainFlaws.of([leaf.der], at: now + row.day * 86_400, host: row.host)
        #expect(flaws == row.flaws)
        for end in stride(from: 0, to: leaf.der.count, by: 7) {
            #expect(ChainFlaws.of([[UInt8](leaf.der[..<end])], at: now, host: row.host).isEmpty)
        }
    }
}
