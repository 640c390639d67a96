import Base
import COpenSSL
import Testing

@testable import TLS

/// Single certificates and their parts; whole chains are judged with the catalogue.
struct ChainIssuerTests {
    private let folder = TemporaryFolder()
    private let authority: AuditAuthority
    private let issuer: ChainIssuer

    init() throws {
        authority = try AuditAuthority.open(folder: folder.file("audit"))
        issuer = try ChainIssuer(
            authority: authority, keys: KeyCache(folder: folder.file("keys")))
    }

    private func text(of certificate: Certificate) throws -> String {
        let place = folder.file(certificate.fingerprint.hex)
        try Files.create(place, certificate.pem)
        return shell("openssl x509 -in \(place) -noout -text").output
    }

    private func leaf(_ change: (inout CertificateRecipe) throws -> Void) throws -> Certificate {
        var recipe = CertificateRecipe(name: "leaf")
        try change(&recipe)
        return try issuer.present([recipe], host: "www.a.test", origin: []).certificates[0]
    }

    // MARK: The authority

    @Test func mayHaveAuthoritiesBelowIt() throws {
        let shown = try text(of: authority.certificate)
        #expect(shown.contains("CA:TRUE\n") && !shown.contains("pathlen"))
        #expect(authority.certificate.subject.contains("CN=Sallyport Audit CA "))
        #expect(shell("stat -c %a \(folder.file("audit"))/ca.key").output == "600\n")
        let again = try AuditAuthority.open(folder: folder.file("audit"))
        #expect(again.certificate.fingerprint == authority.certificate.fingerprint)
    }

    /// What a probe says of time is about the leaf or an intermediate: on any day on which those
    /// were valid, so was the CA.
    @Test func isOlderThanAllItSigns() throws {
        let authority = authority.certificate.validity
        var recipe = CertificateRecipe(name: "leaf")
        for days in [-2, -60, -4_100] {
            recipe.notBefore = .days(days)
            let leaf = try issuer.present([recipe], host: "www.a.test", origin: []).certificates[0]
            #expect(leaf.validity.notBefore > authority.notBefore, "\(days)")
        }
        recipe.issuer = .unknownRoot
        recipe.notBefore = .days(-4_100)
        var root = CertificateRecipe(name: "root")
        root.origin = .unknownRoot
        let chain = try issuer.present([recipe, root], host: "www.a.test", origin: []).certificates
        #expect(chain[0].validity.notBefore > chain[1].validity.notBefore)
    }

    /// One that earlier versions made began two days before, and clients may trust it already.
    @Test func isMadeOlderWithTheSameKeyAndName() throws {
        let place = folder.file("young")
        let young = try CertificateAuthority.open(
            folder: place, label: "Sallyport Audit CA", pathLength: nil)
        let old = try AuditAuthority.open(folder: place)
        #expect(old.certificate.subject == young.certificate.subject)
        #expect(old.certificate.validity.notBefore < young.certificate.validity.notBefore)
        #expect(old.certificate.validity.notAfter == young.certificate.validity.notAfter)
        #expect(try AuditAuthority.open(folder: place).certificate.der == old.certificate.der)
        #expect(shell("stat -c %a \(place)/ca.pem").output == "644\n")
        // A client that still trusts the first one takes what the second vouches for.
        let issuer = try ChainIssuer(authority: old, keys: KeyCache(folder: folder.file("keys")))
        let leaf = try issuer.present(
            [CertificateRecipe(name: "leaf")], host: "www.a.test", origin: []
        ).certificates[0]
        try Files.create(folder.file("young.pem"), young.certificate.pem)
        try Files.create(folder.file("leaf.pem"), leaf.pem)
        for trusted in [folder.file("young.pem"), "\(place)/ca.pem"] {
            let run = shell("openssl verify -CAfile \(trusted) \(folder.file("leaf.pem"))")
            #expect(run.output.hasSuffix(": OK\n"), "\(run.output)")
        }
    }

    // MARK: What is in a certificate

    @Test func isSoundAsItIs() throws {
        let shown = try text(of: leaf { _ in })
        for part in [
            "CA:FALSE", "Digital Signature", "TLS Web Server Authentication", "DNS:www.a.test",
            "CN = www.a.test", "X509v3 Subject Key Identifier", "X509v3 Authority Key Identifier",
            "ecdsa-with-SHA256", "Version: 3",
        ] {
            #expect(shown.contains(part), "\(part)")
        }
    }

    @Test(arguments: [
        Row("v1", has: "Version: 1", lacks: "X509v3") { $0.version = 1 },
        Row("serial", has: "Serial Number: 0 (0x0)") { $0.serial = .zero },
        Row("no subject", has: "Alternative Name: critical", lacks: "CN = www") {
            $0.subject = .entries([])
        },
        Row("sha1", has: "ecdsa-with-SHA1") { $0.digest = .sha1 },
        Row("explicit curve", has: "Field Type: prime-field") { $0.key = .p256Explicit },
        Row("ed25519", has: "Public Key Algorithm: ED25519") { $0.key = .ed25519 },
        Row("exponent 3", has: "Exponent: 3 ") { $0.key = .rsaE3 },
        Row("usage of RSA", has: "Key Encipherment") { $0.key = .rsa2048 },
        Row("issuer", has: "Issuer: CN = www.a.test") {
            $0.issuerName = [.init(attribute: "CN", value: .host)]
        },
        Row("no names", lacks: "Alternative Name") { $0.alternativeNames = .absent },
        Row("empty names", has: "Alternative Name", lacks: "DNS:") {
            $0.alternativeNames = .names([])
        },
        Row("raw time", has: "Jan  1 00:00:00 1950") { $0.notAfter = .utcTime("500101000000Z") },
        Row("long time", has: "9999 GMT") { $0.notAfter = .generalizedTime("99991231235959Z") },
        Row("extra", has: "1.2.3.4: critical") {
            $0.extraExtensions = [.init(identifier: "1.2.3.4", isCritical: true, der: [5, 0])]
        },
    ])
    func saysWhatItIsToldTo(_ row: Row) throws {
        let shown = try text(of: leaf(row.change))
        if let part = row.has { #expect(shown.contains(part), "\(shown)") }
        if let part = row.lacks { #expect(!shown.contains(part), "\(shown)") }
    }

    @Test(arguments: [
        ("www.a.test\\0.b.test", Array("www.a.test\0.b.test".utf8)),
        ("{host}\\x20", Array("www.a.test ".utf8)), ("ban\\u{212A}", Array("ban\u{212A}".utf8)),
        ("\\xff\\x00", [0xFF, 0]), ("", []),
    ])
    func keepsNamesByteForByte(_ name: String, _ bytes: [UInt8]) throws {
        let certificate = try leaf {
            $0.alternativeNames = .names([.init(.dns, try RecipeText(name))])
        }
        let expected = [0x82, UInt8(bytes.count)] + bytes
        #expect(certificate.der.text.contains(expected.text))
        #expect(certificate.der.firstRange(of: expected) != nil)
    }

    @Test func flipsOneBitOfTheSignature() throws {
        let whole = try leaf { _ in }
        let damaged = try leaf { $0.damage = .signature }
        let place = folder.file("leaf.pem")
        for (certificate, isGood) in [(whole, true), (damaged, false)] {
            Files.remove(place)
            try Files.create(place, certificate.pem)
            let verdict = shell("openssl verify -CAfile \(authority.certificatePath) \(place)")
            #expect((verdict.status == 0) == isGood, "\(verdict.output)")
        }
    }

    /// CVE-2020-0601: whoever compares points alone takes the one key for the other.
    @Test func fitsACurveToATrustedPoint() throws {
        var leaf = CertificateRecipe(name: "leaf")
        leaf.issuer = .named("impostor")
        var impostor = CertificateRecipe(name: "impostor", role: .authority)
        impostor.issuer = .itself
        impostor.subject = .ofAuthority
        impostor.serial = .authority
        impostor.key = .authorityPoint
        let chain = try issuer.present([leaf, impostor], host: "a.test", origin: []).certificates
        let root = authority.certificate
        #expect(chain[1].subject == root.subject)
        let point = { (text: String) in
            text.components(between: "pub:", and: "Field Type")
                ?? text.components(between: "pub:", and: "ASN1 OID")
        }
        let (shown, real) = (try text(of: chain[1]), try text(of: root))
        #expect(shown.contains("Field Type: prime-field"), "\(shown)")
        #expect(point(shown) != nil && point(shown) == point(real))
        let number = { (text: String) in
            text.components(between: "Serial Number:", and: "Signature Algorithm")
        }
        #expect(number(shown) != nil && number(shown) == number(real))
        #expect(Self.verify(chain[0], with: chain[1]) && Self.verify(chain[1], with: chain[1]))
        #expect(!Self.verify(chain[0], with: root))
    }

    @Test func fitsNoCurveToAKeyWithoutOne() throws {
        let place = folder.file("rsa")
        try Files.makeFolder(place)
        let made = shell(
            """
            cd \(place) && openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem \
            -subj /CN=RSA && chmod 600 ca.key
            """)
        #expect(made.status == 0, "\(made.output)")
        let issuer = try ChainIssuer(
            authority: AuditAuthority.open(folder: place), keys: KeyCache(folder: place))
        var leaf = CertificateRecipe(name: "leaf")
        leaf.key = .authorityPoint
        let failure = #expect(throws: Failure.self) {
            _ = try issuer.present([leaf], host: "a.test", origin: [])
        }
        #expect(failure?.code == "probe-not-possible")
    }

    private static func verify(_ certificate: Certificate, with issuer: Certificate) -> Bool {
        unsafe X509_verify(certificate.pointer, X509_get0_pubkey(issuer.pointer)) == 1
    }

    /// CVE-2006-4339: whoever does not look behind the digest takes the cube root for a signature.
    @Test func forgesASignatureForTheExponent3() throws {
        var leaf = CertificateRecipe(name: "leaf")
        leaf.issuer = .named("intermediate")
        leaf.damage = .forged
        var intermediate = CertificateRecipe(name: "intermediate", role: .authority)
        intermediate.key = .rsaE3
        let chain = try issuer.present([leaf, intermediate], host: "a.test", origin: [])
            .certificates
        #expect(!Self.verify(chain[0], with: chain[1]))
        #expect(try text(of: chain[0]).contains("Signature Algorithm: sha256WithRSAEncryption"))
        for (index, certificate) in chain.enumerated() {
            try Files.create(folder.file("\(index).pem"), certificate.pem)
        }
        let opened = shell(
            """
            cd \(folder.path) && openssl x509 -in 1.pem -noout -pubkey >key.pem && \
            openssl asn1parse -in 0.pem -strparse 4 -noout -out content && \
            openssl x509 -in 0.pem -outform DER | tail -c 256 >signature && \
            openssl pkeyutl -verifyrecover -in signature -pubin -inkey key.pem \
            -pkeyopt rsa_padding_mode:none | od -An -v -tx1 | tr -d ' \\n' && echo && openssl sha256 -r content
            """
        ).output.split(separator: "\n")
        #expect(opened.count == 2, "\(opened)")
        let digest = opened[1].prefix(64)
        let expected =
            "0001ffffffffffffffff003031300d060960864801650304020105000420" + digest
        #expect(opened[0].hasPrefix(expected), "\(opened)")
    }

    @Test(.enabled(if: hasLegacy, "OpenSSL's legacy provider is not installed"))
    func signsWithMD4() throws {
        let certificates = try signedWithMD4().certificates
        #expect(try text(of: certificates[0]).contains("Signature Algorithm: md4WithRSAEncryption"))
        // What was retired stays so for the rest of the process.
        #expect(unsafe EVP_MD_fetch(nil, "MD4", nil) == nil)
    }

    @Test(.enabled(if: !hasLegacy, "OpenSSL's legacy provider is installed"))
    func tellsWhereMD4IsNotKnown() {
        let failure = #expect(throws: Failure.self) { _ = try signedWithMD4() }
        #expect(failure?.code == "probe-not-possible")
    }

    private static let hasLegacy =
        shell("openssl list -providers -provider legacy").status == 0

    private func signedWithMD4() throws(Failure) -> PresentedChain {
        var leaf = CertificateRecipe(name: "leaf")
        leaf.issuer = .named("intermediate")
        leaf.digest = .md4
        var intermediate = CertificateRecipe(name: "intermediate", role: .authority)
        intermediate.key = .rsa1024
        return try issuer.present([leaf, intermediate], host: "a.test", origin: [])
    }

    // MARK: What cannot be made

    @Test(arguments: [
        Row("bad extension") { $0.keyUsage = .text(RecipeText(literal: "nonsense")) },
        Row("section") { $0.keyUsage = .text(RecipeText(literal: "@section")) },
        Row("MD5 with ECDSA") { $0.digest = .md5 },
        Row("MD4 with ECDSA") { $0.digest = .md4 },
        Row("forged for ECDSA") { $0.damage = .forged },
        Row("no such issuer") { $0.issuer = .named("nobody") },
        Row("bad attribute") { $0.subject = .entries([.init(attribute: "ZZ", value: .host)]) },
        Row("no key") { $0.origin = .authority },
        Row("not shown") { $0.isPresented = false },
        Row("bad address") {
            $0.alternativeNames = .names([.init(.ip, RecipeText(literal: "1.2.3"))])
        },
    ])
    func refusesRecipes(_ row: Row) {
        let failure = #expect(throws: Failure.self) { _ = try leaf(row.change) }
        #expect(failure?.code == "recipe-invalid", "\(String(describing: failure))")
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let has: String?
        let lacks: String?
        let change: @Sendable (inout CertificateRecipe) -> Void

        init(
            _ name: String, has: String? = nil, lacks: String? = nil,
            _ change: @escaping @Sendable (inout CertificateRecipe) -> Void
        ) {
            testDescription = name
            self.has = has
            self.lacks = lacks
            self.change = change
        }
    }

    @Test(arguments: [
        ("localhost", "{parent}"), ("a.test", "{grandparent}"), ("a.test", "{top}"),
        ("a.b.test", "{suffix}"), ("a.test", "{kelvin}"), ("a.test", "{address}"),
        ("127.0.0.1", "{parent}"), ("127.0.0.1", "{upper}"), ("::1", "{address-tail}"),
        ("a.test", "{ace}"), ("a..test", "{host}"), ("a test", "{host}"), ("", "{host}"),
        ("a,b", "{host}"), ("ä.test", "{host}"),
    ])
    func tellsWhatIsNotPossible(_ host: String, _ text: String) {
        let failure = #expect(throws: Failure.self) {
            _ = try RecipeText(text).resolved(for: ProbedHost(host))
        }
        #expect(failure?.code == "probe-not-possible")
    }

    @Test(arguments: [
        ("www.Shop.Test.", "{host}", "www.shop.test"),
        ("www.shop.test", "*.{parent}", "*.shop.test"),
        ("a.b.c.d", "{grandparent}", "c.d"), ("a.b.c", "{top}", "c"), ("a.b", "{suffix}", "b"),
        ("www.a.b", "{first}*{last}.{parent}", "w*w.a.b"), ("bank.a", "{kelvin}", "ban\u{212A}.a"),
        ("[::1]", "{address}", "::1"), ("127.0.0.1", "{other-address}", "127.0.0.2"),
        ("127.0.0.1", "*.{address-tail}", "*.0.0.1"), ("::1", "{other-address}", "::2"),
        ("a.b", "{upper}", "A.B"), ("xn--a.b", "{ace}*", "xn--*"),
        ("localhost", "{host}", "localhost"),
        ("a.b", "\\{\\}\\\\", "{}\\"),
    ])
    func fillsPlaces(_ host: String, _ text: String, _ expected: String) throws {
        let filled = try RecipeText(text).resolved(for: ProbedHost(host))
        #expect(filled.text == expected)
    }

    @Test func isReadOrRefusedWhereverItEnds() {
        let whole = "{host}\\0\\x20\\u{212A}\\\\\\{x\\}{address-tail}"
        for end in whole.indices {
            do {
                let text = try RecipeText(String(whole[..<end]))
                _ = try text.resolved(for: ProbedHost("127.0.0.1"))
            } catch is RecipeTextViolation {
                continue
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    // MARK: Keys and staples

    @Test func keepsSlowKeysForTheirOwnerOnly() throws {
        let place = folder.file("slow")
        let key = try KeyCache(folder: place).key(.rsa512)
        #expect(shell("stat -c %a \(place)/rsa512.pem").output == "600\n")
        #expect(try KeyCache(folder: place).key(.rsa512).pem == key.pem)
        _ = try KeyCache(folder: place).key(.p256)
        #expect(shell("ls \(place)").output == "rsa512.pem\n")
        _ = shell("chmod 644 \(place)/rsa512.pem")
        let failure = #expect(throws: Failure.self) { _ = try KeyCache(folder: place).key(.rsa512) }
        #expect(failure?.code == "key-exposed")
    }

    @Test(arguments: [
        (ChainIssuer.Staple.good, "Cert Status: good", true),
        (.revoked, "Cert Status: revoked", true), (.stale, "Cert Status: good", false),
    ])
    func staplesAnAnswer(_ kind: ChainIssuer.Staple, _ expected: String, isCurrent: Bool) throws {
        var leaf = CertificateRecipe(name: "leaf")
        leaf.issuer = .named("intermediate")
        let chain = try issuer.present(
            [leaf, CertificateRecipe(name: "intermediate", role: .authority)], host: "a.test",
            origin: [], staple: kind)
        try Files.create(folder.file("answer"), try #require(chain.staple))
        try Files.create(folder.file("leaf"), chain.certificates[0].pem)
        try Files.create(folder.file("issuer"), chain.certificates[1].pem)
        let shown = shell("openssl ocsp -respin \(folder.file("answer")) -noverify -text").output
        #expect(shown.contains(expected), "\(shown)")
        #expect(kind != .revoked || shown.contains("keyCompromise"))
        let verdict = shell(
            """
            cd \(folder.path) && openssl ocsp -respin answer -issuer issuer -cert leaf \
            -CAfile \(authority.certificatePath) -verify_other issuer -no_nonce
            """)
        #expect(verdict.output.contains("Response verify OK"), "\(verdict.output)")
        #expect(verdict.output.contains("Status times invalid") != isCurrent, "\(verdict.output)")
    }
}

extension String {
    /// What stands between two texts, the first of each; `nil` without them.
    fileprivate func components(between start: String, and end: String) -> String? {
        guard let first = firstRange(of: start),
            let last = self[first.upperBound...].firstRange(of: end)
        else { return nil }
        return String(self[first.upperBound..<last.lowerBound].filter { !$0.isWhitespace })
    }
}
