import Base
import TLS
import Testing

@testable import Catalogue

struct ProbeReaderTests {
    private static let whole = """
        # A comment
        title: All there is
        expectation: warn
        severity: medium
        requirements: offer, real-certificate
        profile: quick
        order: 7
        reason: A reason that takes
          two lines.
        source: RFC 5280 §6.1
        history: CVE-2014-1266, CVE-2002-0862
        weaknesses: 295, 297
        controls: MASVS-NETWORK-1
        fix: repair it
        behaviour: tls-1.2

        [leaf]
        key: rsa-e3
        digest: sha384
        subject: CN={host}
        subject: O=A, B
        issuer-name: CN=Somebody
        san: dns:{host}\\0.evil.example
        san: ip:{address}
        san-series: 2 dns:n#.example
        not-before: -3d
        not-after: utc 991399999999Z
        serial: zero
        host-labels: 2
        basic-constraints: critical, CA:TRUE, pathlen:0
        key-usage: none
        extended-key-usage: serverAuth, 1.2.3.4
        name-constraints: critical, permitted;DNS:{parent}
        policy-constraints: requireExplicitPolicy:0
        tls-feature: status_request
        authority-key-identifier: other
        extension: 1.2.3.4 critical 0500
        damage: signature
        [middle]
        version: 1
        presented: no
        [root]
        take: unknown-root
        """

    @Test func readsAllThatThereIs() throws {
        let probe = try read(Self.whole)
        #expect(probe.identifier == "name-test" && probe.family == .name)
        #expect(probe.title == "All there is" && probe.expectation == .warn)
        #expect(probe.severity == .medium && probe.profile == .quick && probe.order == 7)
        #expect(probe.requirements == [.offer, .realCertificate, .authority])
        #expect(probe.reason == "A reason that takes two lines.")
        #expect(probe.source == "RFC 5280 §6.1" && probe.fix == "repair it")
        #expect(probe.history == ["CVE-2014-1266", "CVE-2002-0862"])
        #expect(probe.weaknesses == [295, 297] && probe.controls == ["MASVS-NETWORK-1"])
        #expect(probe.behaviour == .tls12)
        #expect(probe.chain.map(\.name) == ["leaf", "middle", "root"])
    }

    @Test func readsCertificates() throws {
        let chain = try read(Self.whole).chain
        let leaf = chain[0]
        #expect(leaf.role == .leaf && leaf.key == .rsaE3 && leaf.digest == .sha384)
        #expect(
            leaf.subject
                == .entries([
                    .init(attribute: "CN", value: .host),
                    .init(attribute: "O", value: RecipeText(literal: "A, B")),
                ]))
        #expect(
            leaf.alternativeNames
                == .names([
                    .init(.dns, try RecipeText("{host}\\0.evil.example")),
                    .init(.ip, try RecipeText("{address}")),
                    .init(.dns, RecipeText(literal: "n1.example")),
                    .init(.dns, RecipeText(literal: "n2.example")),
                ]))
        #expect(leaf.notBefore == .days(-3) && leaf.notAfter == .utcTime("991399999999Z"))
        #expect(leaf.serial == .zero && leaf.hostLabels == 2 && leaf.damage == .signature)
        #expect(
            leaf.basicConstraints
                == .text(RecipeText(literal: "critical,CA:TRUE,pathlen:0")))
        #expect(leaf.keyUsage == .absent && leaf.authorityKeyIdentifier == .other)
        #expect(
            leaf.extraExtensions
                == [.init(identifier: "1.2.3.4", isCritical: true, der: [5, 0])])
        #expect(leaf.issuer == .named("middle"))
        #expect(leaf.issuerName?.count == 1)
        #expect(chain[1].role == .authority && chain[1].version == 1 && !chain[1].isPresented)
        #expect(chain[1].issuer == .authority)
        #expect(chain[2].origin == .unknownRoot)
    }

    @Test func hasDefaults() throws {
        let probe = try read("title: T\nreason: R.\n[leaf]\n")
        #expect(probe.expectation == .refuse && probe.severity == .high)
        #expect(probe.profile == .standard && probe.behaviour == .serve)
        #expect(probe.weaknesses == [297] && !probe.fix.isEmpty && probe.chain.count == 1)
        let inform = try read("title: T\nreason: R.\nexpectation: inform\n[leaf]\n")
        #expect(inform.severity == .info && inform.profile == .full)
        #expect(try read("title: T\nreason: R.\n[leaf]", "control-x").expectation == .accept)
    }

    @Test func takesLinesOfOtherSystems() throws {
        let crlf = Self.whole.utf8.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
        #expect(
            try ProbeReader.read(crlf, path: "name-test.probe") == read(Self.whole))
    }

    // MARK: Refusing

    @Test(arguments: [
        Row("unknown field", "titel: x", 1, "unknown field 'titel', expected title, expectation"),
        Row("no field", "hello", 1, "'hello' is no field, expected 'key: value'"),
        Row("no value", "title:", 1, "'title' has no value, expected 'key: value'"),
        Row("twice", "title: a\ntitle: b", 2, "'title' is there twice"),
        Row("no title", "reason: R.", 1, "'title' is missing, expected 'title: …'"),
        Row("no reason", "title: T", 1, "'reason' is missing"),
        Row("expectation", "expectation: maybe", 1, "expected accept, refuse, warn, inform"),
        Row("profile", "profile: tiny", 1, "expected quick, standard, full"),
        Row("requirement", "requirements: offer, x", 1, "unknown requirements 'x', expected"),
        Row("behaviour", "behaviour: x", 1, "unknown behaviour 'x', expected serve, goto-fail"),
        Row("weakness", "weaknesses: CWE-295", 1, "'CWE-295' is no weaknesses, expected a number"),
        Row("host", "host: a/b", 1, "'a/b' is no host, expected a name or an address"),
        Row(
            "anchors", "trust-file: a", 1, "trust-file 'a': a probe of the tool's own has no files"),
        Row("no anchors", "trust-file: ,", 1, "'trust-file' names no file"),
        Row("indented first", "  x", 1, "an indented line after no field"),
        Row("no UTF-8", "title: \u{0}", 3, "no UTF-8", bytes: [0x0A, 0x0A, 0xFF]),
    ])
    func refusesHeaders(_ row: Row) { row.check() }

    @Test(arguments: [
        Row("no section", "[Leaf]", 1, "'[Leaf]' is no section, expected lower-case letters"),
        Row("section twice", "[leaf]\n[leaf]", 2, "the section '[leaf]' is there twice"),
        Row("indented first", "[leaf]\n  x", 2, "an indented line after no field"),
        Row("unknown field", "[leaf]\ncolour: red", 2, "unknown field 'colour', expected role, "),
        Row("twice", "[leaf]\nkey: p256\nkey: p384", 3, "'key' is there twice in [leaf]"),
        Row("key", "[leaf]\nkey: rsa", 2, "unknown key 'rsa', expected p256, p384"),
        Row("digest", "[leaf]\ndigest: x", 2, "expected md4, md5, sha1, sha256, sha384"),
        Row("issuer", "[leaf]\nissuer: x", 2, "expected authority, unknown-root, self, leaf"),
        Row("take", "[leaf]\n[x]\ntake: y", 3, "unknown take 'y', expected genuine-chain"),
        Row("copy", "[leaf]\ncopy: y", 2, "unknown copy 'y', expected origin-leaf, origin-chain"),
        Row("no key", "[leaf]\ntake: authority", 1, "the first certificate has no key of ours"),
        Row("presented", "[leaf]\npresented: maybe", 2, "expected yes, no"),
        Row("trusted", "[leaf]\ntrusted: maybe", 2, "unknown trusted 'maybe', expected yes, no"),
        Row("time", "[leaf]\nnot-after: tomorrow", 2, "'tomorrow' is no time, expected days"),
        Row("far time", "[leaf]\nnot-after: 9999999d", 2, "is no time"),
        Row("least time", "[leaf]\nnot-after: -9223372036854775808d", 2, "is no time"),
        Row("version", "[leaf]\nversion: 2", 2, "unknown version '2', expected 1, 3"),
        Row("attribute", "[leaf]\nsubject: X=y", 2, "'X=y' is no part of a name, expected 'CN=…'"),
        Row("san", "[leaf]\nsan: www.example.com", 2, "expected none, empty, host:…, dns:…"),
        Row("series", "[leaf]\nsan-series: 0 dns:x", 2, "is no series of names, expected"),
        Row("place", "[leaf]\nsan: dns:{hots}", 2, "unknown place '{hots}', expected {host}"),
        Row("brace", "[leaf]\nsan: dns:{host", 2, "a brace without its other half"),
        Row("escape", "[leaf]\nsan: dns:\\q", 2, "unknown escape '\\q', expected \\0"),
        Row("usage", "[leaf]\nkey-usage: x", 2, "unknown key-usage 'x', expected none, or words"),
        Row("purpose", "[leaf]\nextended-key-usage: x", 2, "serverAuth, clientAuth, codeSigning"),
        Row("CA", "[leaf]\nbasic-constraints: TRUE", 2, "critical, CA:TRUE, pathlen:0"),
        Row("constraint", "[leaf]\nname-constraints: DNS:x", 2, "permitted;DNS:example.com"),
        Row("extension", "[leaf]\nextension: 1.2.3 05x0", 2, "expected an identifier, perhaps"),
        Row("files", "[leaf]\nchain-file: x", 2, "a probe of the tool's own has no files"),
        Row("identifier", "[leaf]\nextension: 1.77.3 0500", 2, "is no extension"),
    ])
    func refusesSections(_ row: Row) {
        var row = row
        row.text = "title: T\nreason: R.\n" + row.text
        row.line += 2
        row.check()
    }

    @Test(arguments: [
        ("passive-x", "", 1, "a probe of passive has 'observes: …', one of plaintext may"),
        ("name-x", "observes: ssl", 3, "a probe of passive has 'observes: …'"),
        ("passive-x", "observes: tls", 3, "unknown observes 'tls', expected no-server-name"),
        ("passive-x", "observes: ssl\n[leaf]", 4, "a passive probe shows nothing"),
        ("passive-x", "behaviour: heartbeat\nobserves: ssl", 3, "a passive probe shows nothing"),
        ("passive-x", "observes: ssl\nrequirements: offer", 4, "a passive probe shows nothing"),
    ])
    func refusesPassiveProbes(_ name: String, _ text: String, _ line: Int, _ what: String) {
        let failure = #expect(throws: Failure.self) {
            _ = try read("title: T\nreason: R.\n" + text, name)
        }
        #expect(
            failure?.detail.contains("\(name).probe:\(line): \(what)") == true,
            "\(String(describing: failure))")
    }

    @Test(arguments: [
        ("name-x", "", 1), ("control-x", "", 1), ("handshake-x", "behaviour: tls-1.2", 3),
        ("handshake-x", "order: 1\nbehaviour: heartbeat", 4),
        ("plaintext-x", "behaviour: inject-after-starttls", 3),
        ("revocation-x", "behaviour: stapled-revoked", 3),
    ])
    func wantsACertificateToShow(_ name: String, _ text: String, _ line: Int) {
        let failure = #expect(throws: Failure.self) {
            _ = try read("title: T\nreason: R.\n" + text, name)
        }
        #expect(failure?.code == "catalogue-invalid")
        #expect(
            failure?.detail == "\(name).probe:\(line): a probe shows a certificate, expected a "
                + "section such as '[leaf]'")
    }

    @Test(arguments: [
        "behaviour: anonymous", "behaviour: goto-fail", "behaviour: refuse-tls",
        "behaviour: http-on-tls-port", "behaviour: strip-starttls", "behaviour: preauthenticated",
        "observes: clear-request",
    ])
    func needsNoCertificateWhereNoneIsShown(_ text: String) throws {
        #expect(try read("title: T\nreason: R.\n" + text, "plaintext-x").chain.isEmpty)
    }

    @Test func readsPassiveProbes() throws {
        let probe = try read("title: T\nreason: R.\nobserves: 3des-suites", "passive-x")
        #expect(probe.family == .passive && probe.trait == .tripleDESSuites)
        #expect(probe.chain.isEmpty && probe.requirements.isEmpty)
    }

    @Test(arguments: ["wrong-host", "names-x", "namex", ""])
    func wantsAFamily(_ name: String) {
        let failure = #expect(throws: Failure.self) { try read("title: T\nreason: R.", name) }
        #expect(failure?.detail.contains("expected one that begins with control-, trust-") == true)
    }

    @Test func isReadOrRefusedWhereverItEnds() {
        let bytes = Array(Self.whole.utf8)
        for end in bytes.indices {
            do {
                _ = try ProbeReader.read(Array(bytes[..<end]), path: "name-test.probe")
            } catch {
                #expect(error.code == "catalogue-invalid")
            }
        }
    }
}

/// A text that is refused, with the line and a part of what is said.
struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var text: String
    var line: Int
    let message: String
    var bytes: [UInt8]?

    init(_ name: String, _ text: String, _ line: Int, _ message: String, bytes: [UInt8]? = nil) {
        testDescription = name
        self.text = text
        self.line = line
        self.message = message
        self.bytes = bytes
    }

    func check() {
        let failure = #expect(throws: Failure.self) {
            _ = try ProbeReader.read(bytes ?? Array(text.utf8), path: "Certs/name/name-test.probe")
        }
        #expect(failure?.code == "catalogue-invalid")
        let detail = failure?.detail ?? ""
        #expect(detail.hasPrefix("Certs/name/name-test.probe:\(line): "), "\(detail)")
        #expect(detail.contains(message), "\(detail)")
    }
}

@discardableResult
private func read(_ text: String, _ name: String = "name-test") throws -> ProbeDescription {
    try ProbeReader.read(Array(text.utf8), path: "\(name).probe")
}
