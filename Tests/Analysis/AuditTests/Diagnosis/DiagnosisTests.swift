import Base
import Catalogue
import Testing

@testable import Audit

@Suite struct DiagnosisTests {
    /// What was accepted, what was refused, and the mistakes that it means.
    static let rows: [DiagnosisRow] = [
        .init("a sound client", ["control-good"], [], refused: trust + names),
        .init(
            "nothing known of the chain", ["control-good", "name-wrong-host"], [.anyName]),
        .init("verifies nothing", trust + names + ["time-expired"], [.verifiesNothing]),
        .init(
            "verifies nothing, shown in the quick profile",
            ["trust-self-signed", "trust-unknown-root", "name-wrong-host"], [.verifiesNothing]),
        .init(
            "curl_easy_setopt(VERIFYPEER, 0), PHP verify_peer=false, a plain X509TrustManager",
            [
                "trust-self-signed", "trust-unknown-root", "trust-mimic-leaf-real-issuers",
                "time-expired", "chain-leaf-as-ca",
            ],
            [.anyChain], refused: ["trust-self-signed-wrong-name", "name-wrong-host"]),
        .init(
            "any chain, the name unknown", ["trust-self-signed", "trust-unknown-root"], [.anyRoot]),
        .init(
            "TrustSelfSignedStrategy",
            ["trust-self-signed", "trust-self-signed-ca", "trust-pin-lookalike"],
            [.anySingleCertificate],
            refused: ["trust-unknown-root", "trust-self-signed-wrong-name", "name-wrong-host"]),
        .init(
            "one certificate, whatever it says",
            ["trust-self-signed", "trust-self-signed-wrong-name", "trust-pin-lookalike"],
            [.anySingleCertificate], refused: ["trust-unknown-root", "name-wrong-host"]),
        .init(
            "PHP's allow_self_signed", ["trust-self-signed", "trust-self-signed-ca"],
            [.selfSigned],
            refused: [
                "trust-unknown-root", "trust-pin-lookalike", "trust-self-signed-wrong-name",
            ]),
        .init(
            "self-signed, in the quick profile", ["trust-self-signed"], [.selfSigned],
            refused: ["trust-unknown-root"]),
        .init("self-signed, no more known", ["trust-self-signed"], [.selfSigned]),
        .init(
            "pin_append", ["trust-mimic-leaf-real-issuers", "trust-self-signed-plus-real-root"],
            [.pinAnywhereInChain], refused: ["trust-self-signed", "trust-unknown-root"]),
        .init(
            "pin_lookalike", ["trust-mimic-full-chain"], [.pinByName],
            refused: ["trust-self-signed", "trust-unknown-root"]),
        .init(
            "redis-cli, SSLSocket", ["name-wrong-host", "name-parent-domain"], [.anyName],
            refused: trust),
        .init("CN over SAN", ["name-cn-match-san-mismatch"], [.commonName]),
        .init("zero bytes", ["name-null-byte-san"], [.nameParsing]),
        .init("strncmp", ["name-host-as-prefix"], [.partialName]),
        .init("wildcards", ["name-wildcard-two-labels"], [.wildcard]),
        .init("addresses", ["name-ip-wrong"], [.address]),
        .init(
            "two mistakes in names", ["name-ip-wrong", "name-wildcard-tld"], [.wildcard, .address]),
        .init("expiry", ["time-expired", "time-expired-intermediate"], [.expiry]),
        .init("dates of intermediates", ["time-expired-intermediate"], [.dates]),
        .init("leaf as CA", ["chain-leaf-as-ca", "chain-int-bc-missing"], [.leafAsAuthority]),
        .init("a CA for clients", ["chain-int-eku-client-only"], [.purpose]),
        .init(
            "GnuTLS, in the full profile",
            ["purpose-eku-client-only", "chain-int-eku-client-only"], [.purpose]),
        .init("path length", ["chain-pathlen-exceeded"], [.authorityLimits]),
        .init("signatures", ["chain-leaf-bad-signature"], [.certificateSignature]),
        .init("BERserk", ["crypto-forged-e3"], [.certificateSignature]),
        .init("critical", ["chain-leaf-unknown-critical-ext"], [.criticalExtension]),
        .init("a key that may not sign", ["purpose-ku-no-digitalsignature"], [.keyUsage]),
        .init("GnuTLS", ["purpose-eku-client-only", "purpose-eku-codesigning"], [.purpose]),
        .init("weak keys", ["crypto-leaf-rsa512"], [.weakCertificate]),
        .init("goto fail", ["handshake-goto-fail"], [.handshakeSignature]),
        .init("anonymous", ["handshake-anon"], [.noAuthentication]),
        .init("Finished", ["handshake-wrong-finished"], [.handshakeIntegrity]),
        .init("old versions", ["handshake-tls10"], [.oldVersion]),
        .init("FREAK", ["handshake-freak"], [.weakExchange]),
        .init("sentinel", ["handshake-downgrade-sentinel"], [.downgrade]),
        .init(
            "renegotiation", ["handshake-reneg-other-name"], [.laterHandshake],
            refused: ["name-wrong-host"]),
        .init(
            "renegotiation, the chain", ["handshake-reneg-bad-chain"], [.laterHandshake],
            refused: ["trust-self-signed", "trust-unknown-root"]),
        .init("renegotiation, the first handshake unknown", ["handshake-reneg-other-name"], []),
        .init(
            "curl -k",
            trust + names + [
                "handshake-reneg-other-name", "handshake-reneg-bad-chain",
                "handshake-resume-after-refusal",
            ], [.verifiesNothing]),
        .init(
            "redis-cli, in the full profile",
            ["name-wrong-host", "handshake-reneg-other-name", "handshake-resume-after-refusal"],
            [.anyName], refused: trust + ["handshake-reneg-bad-chain"]),
        .init(
            "VERIFYPEER 0, in the full profile",
            ["trust-self-signed", "trust-unknown-root", "handshake-reneg-bad-chain"],
            [.anyChain], refused: ["trust-self-signed-wrong-name", "name-wrong-host"]),
        .init(
            "lftp, which takes other names for a while", ["handshake-reneg-other-name"],
            [.sendsBeforeVerifying], sent: ["name-wrong-host"]),
        .init("staples", ["revocation-ocsp-revoked-stapled"], [.revocation]),
        .init(
            "credentials after a redirect",
            ["plaintext-redirect-to-http", "plaintext-redirect-leaks-credentials"],
            [.credentialsInClear, .redirectToClear]),
        .init("redirect", ["plaintext-redirect-to-http"], [.redirectToClear]),
        .init("http first", [], [.beginsInClear], shown: ["plaintext-initial-http"]),
        .init("fallback", ["plaintext-tls-refused-fallback"], [.fallbackToClear]),
        .init(
            "psql sslmode=prefer",
            ["control-good"] + trust + names + ["plaintext-starttls-stripped"],
            [.fallbackToClear],
            clear: [
                "handshake-goto-fail", "handshake-anon", "handshake-downgrade-sentinel",
                "handshake-reneg-other-name", "handshake-skip-ske", "handshake-tls10",
            ]),
        .init(
            "ldapsearch -Z, which verifies", ["control-good"], [.fallbackToClear],
            refused: ["trust-self-signed-ca"], clear: trust + names + ["time-expired"]),
        .init(
            "psql sslmode=disable", [], [.beginsInClear],
            clear: ["control-good", "trust-self-signed", "handshake-goto-fail"]),
        .init("STARTTLS", ["plaintext-starttls-stripped"], [.startTLSStripped]),
        .init("STARTTLS injection", ["plaintext-starttls-injection"], [.startTLSInjection]),
        .init(
            "curveball", ["trust-curveball"], [.curveParameters], refused: ["trust-unknown-root"]),
        .init(
            "a root of a user's probe", ["trust-known-bad-root-superfish"], [.distrustedRoot],
            refused: ["trust-unknown-root"]),
        .init("control refused", [], [.authorityUnknown], refused: ["control-good"] + trust),
        .init("lftp", [], [.sendsBeforeVerifying], refused: [], sent: ["trust-self-signed"]),
        .init(
            "offers of a library of 2005", [],
            [.noAuthentication, .oldVersion, .brokenCiphers, .compression],
            shown: [
                "passive-anonymous-suites", "passive-null-suites", "passive-export-suites",
                "passive-rc4-suites", "passive-ssl", "passive-old-version", "passive-compression",
            ]),
        .init(
            "offers and takes anonymous suites", ["handshake-anon"], [.noAuthentication],
            shown: ["passive-anonymous-suites"]),
        .init(
            "mistakes beside one another",
            ["name-wrong-host", "time-expired", "handshake-goto-fail"],
            [.anyName, .expiry, .handshakeSignature]),
    ]

    private static let trust = [
        "trust-self-signed", "trust-unknown-root", "trust-self-signed-wrong-name",
    ]
    private static let names = ["name-wrong-host", "name-cn-match-san-mismatch"]

    @Test(arguments: rows)
    func names(row: DiagnosisRow) throws {
        let results =
            try row.accepted.map { try outcome($0, .accepted) }
            + row.refused.map { try outcome($0, .refused) }
            + row.sent.map { try outcome($0, .sentThenRefused) }
            + row.clear.map { try outcome($0, .inClear) }
            + row.shown.map { try outcome($0, .shown, .warn) }
        #expect(Diagnosis.all(in: results).map(\.mistake) == row.mistakes)
    }

    /// A client that verifies and goes on without is not told that it verifies nothing.
    @Test func tellsARetryFromNoVerification() throws {
        var results = try (Self.trust + Self.names).map { try outcome($0, .accepted) }
        #expect(Diagnosis.all(in: results).map(\.mistake) == [.verifiesNothing])
        for index in results.indices { results[index].isSecondTry = true }
        let found = Diagnosis.all(in: results)
        #expect(found.map(\.mistake) == [.retriesUnverified])
        #expect(found.first?.probes == Self.trust + Self.names)
        // It does not look at the name at all, and verifies chains at first.
        for index in results.indices where results[index].probe.family == .name {
            results[index].isSecondTry = false
        }
        #expect(Diagnosis.all(in: results).map(\.mistake) == [.retriesUnverified, .anyName])
    }

    /// What is said to do is of the client's protocol.
    @Test(arguments: [(443, false), (465, false), (5432, true)])
    func namesWhatTheProtocolHas(_ port: Int, _ isPostgreSQL: Bool) throws {
        var clear = try outcome("trust-self-signed", .inClear)
        clear.destination = "www.example.com:\(port)"
        let fix = try #require(Diagnosis.all(in: [clear]).first).fix
        #expect(fix.contains("psql") == isPostgreSQL)
        #expect(fix.hasPrefix(Mistake.fallbackToClear.fix))
    }

    /// How the sound server was refused, how an unknown root was, and whether the client named the
    /// host.
    static let controls: [(UInt8?, ProbeOutcome, UInt8?, Bool?, Mistake)] = [
        (48, .refused, 48, true, .authorityUnknown),
        (48, .refused, 48, false, .authorityUnknown),
        // A pin, of a client that names its host.
        (nil, .refused, 48, true, .authorityUnknown),
        (nil, .refused, 48, false, .addressUnmatched),
        (42, .refused, 48, false, .addressUnmatched),
        // Node and GnuTLS say the same of all.
        (nil, .refused, nil, false, .authorityUnknown),
        (nil, .accepted, nil, false, .authorityUnknown),
        (nil, .refused, 48, nil, .authorityUnknown),
    ]

    @Test(arguments: controls)
    func tellsAnAddressFromAnUnknownCA(
        row: (UInt8?, ProbeOutcome, UInt8?, Bool?, Mistake)
    ) {
        var control = result(probe("control-good", .control, .accept), .refused)
        control.alert = row.0
        control.namesHost = row.3
        var unknown = result(probe("trust-unknown-root", .trust), row.1)
        unknown.alert = row.2
        #expect(Diagnosis.all(in: [control, unknown]).first?.mistake == row.4)
    }

    @Test func whatIsOnlyNotedIsNoMistake() {
        let noted = probe("name-wildcard-cn-only", .name, .inform)
        #expect(Diagnosis.all(in: [result(noted, .accepted)]).isEmpty)
    }

    @Test func eachClientHasItsOwn() {
        let results = [
            result(probe("name-wrong-host", .name), .accepted, client: "a"),
            result(probe("time-expired", .time), .accepted, client: "b"),
            result(probe("name-wrong-host", .name), .accepted, client: "b", destination: "x:1"),
        ]
        let found = Diagnosis.all(in: results).map {
            "\($0.client)@\($0.destination) \($0.mistake)"
        }
        #expect(
            found == [
                "a@www.example.com:443 anyName", "b@www.example.com:443 expiry", "b@x:1 anyName",
            ])
    }

    @Test(arguments: Mistake.allCases)
    func everyMistakeHasWords(mistake: Mistake) {
        #expect(mistake.title != mistake.rawValue || mistake.sentence != mistake.rawValue)
        for text in [mistake.title, mistake.sentence, mistake.fix] {
            #expect(!text.isEmpty && !text.hasSuffix("."))
        }
        #expect(MistakePattern.all.contains { $0.mistake == mistake })
    }

    /// A name that no probe has is a pattern that says nothing.
    @Test func knowsNoProbeThatIsNotThere() {
        let known = Catalogue.builtIn().entries.map(\.identifier)
        for pattern in MistakePattern.all {
            // Certs/README.md leaves those to users, whose keys they are not either.
            for name in pattern.all + pattern.any + pattern.refusing
            where name != "trust-known-bad-root-*" {
                let isThere = known.contains {
                    name.hasSuffix("*") ? $0.hasPrefix(name.dropLast()) : $0 == name
                }
                #expect(isThere, "\(name) of \(pattern.mistake)")
            }
        }
        for implication in FamilyRule.implications {
            let names = implication.premises + implication.conclusions
            #expect(names.filter { !known.contains($0) } == [])
        }
    }

    private func outcome(
        _ identifier: String, _ outcome: ProbeOutcome, _ expectation: ProbeExpectation = .refuse
    ) throws -> AuditResult {
        let family = try #require(
            ProbeFamily.allCases.first { identifier.hasPrefix($0.rawValue + "-") })
        return result(
            probe(identifier, family, family == .control ? .accept : expectation), outcome)
    }
}

struct DiagnosisRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let accepted: [String]
    let mistakes: [Mistake]
    let refused: [String]
    let sent: [String]
    let shown: [String]
    let clear: [String]

    init(
        _ name: String, _ accepted: [String], _ mistakes: [Mistake], refused: [String] = [],
        sent: [String] = [], shown: [String] = [], clear: [String] = []
    ) {
        testDescription = name
        self.accepted = accepted
        self.mistakes = mistakes
        self.refused = refused
        self.sent = sent
        self.shown = shown
        self.clear = clear
    }
}
