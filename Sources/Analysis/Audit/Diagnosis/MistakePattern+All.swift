internal import Catalogue

extension MistakePattern {
    /// From the mistake that explains most to those that explain themselves.
    static let all: [MistakePattern] = control + trust + certificate + connection

    private static let control = [
        MistakePattern(
            mistake: .addressUnmatched, any: [ControlRule.identifier], outcomes: [.refused],
            when: refusesAddress),
        MistakePattern(
            mistake: .authorityUnknown, any: [ControlRule.identifier],
            outcomes: [.refused, .suspected, .notOffered]),
        MistakePattern(
            mistake: .fallbackToClear, any: [ControlRule.identifier], isSecondTry: true,
            outcomes: [.inClear], explains: shownFamilies),
        // Who does without TLS is not asked how it verifies.
        MistakePattern(
            mistake: .beginsInClear, any: [ControlRule.identifier], outcomes: [.inClear],
            explains: shownFamilies),
        MistakePattern(
            mistake: .fallbackToClear, any: serverFamilies + ["plaintext-*"], isSecondTry: nil,
            outcomes: [.inClear], explains: shownFamilies),
        // What is asked of a second handshake is asked of a second connection.
        MistakePattern(
            mistake: .retriesUnverified,
            any: serverFamilies.filter { $0 != "handshake-*" } + firstHandshakes, isSecondTry: true,
            outcomes: [.accepted, .implied]),
        MistakePattern(
            mistake: .sendsBeforeVerifying, any: serverFamilies, outcomes: [.sentThenRefused]),
    ]

    /// Whether the client asks for an address, and refuses the sound server in another way than one
    /// whose root it does not know.
    @Sendable private static func refusesAddress(_ results: [AuditResult]) -> Bool {
        let control = results.first { $0.probe.identifier == ControlRule.identifier }
        let unknown = results.first { $0.probe.identifier == "trust-unknown-root" }
        guard let control, let unknown, unknown.outcome == .refused else { return false }
        return control.namesHost == false && control.alert != unknown.alert
    }

    private static let serverFamilies = [
        "trust-*", "name-*", "time-*", "chain-*", "purpose-*", "crypto-*", "revocation-*",
        "handshake-*",
    ]

    private static let firstHandshakes = [
        "handshake-anon", "handshake-null-cipher", "handshake-goto-fail*", "handshake-ske-bitflip",
        "handshake-certverify-corrupt", "handshake-tls1*", "handshake-empty-cert",
    ]

    private static let shownFamilies = Set(ProbeFamily.allCases).subtracting([.passive])

    private static let certificateFamilies: Set<ProbeFamily> = [
        .trust, .chain, .time, .purpose, .crypto, .revocation,
    ]

    private static let trust = [
        MistakePattern(
            mistake: .verifiesNothing, all: ["trust-self-signed", "trust-unknown-root"],
            any: ["trust-self-signed-wrong-name", "name-wrong-host"],
            explains: certificateFamilies.union([.name])),
        MistakePattern(
            mistake: .anyChain, all: ["trust-self-signed", "trust-unknown-root"],
            refusing: ["trust-self-signed-wrong-name", "name-wrong-host"],
            explains: certificateFamilies),
        MistakePattern(mistake: .anyRoot, all: ["trust-unknown-root"], explains: [.trust]),
        // The second stands alone as well, but names another issuer than itself, which keeps out
        // those who take what is self-signed only.
        MistakePattern(
            mistake: .anySingleCertificate, all: ["trust-self-signed", "trust-pin-lookalike"],
            refusing: ["trust-unknown-root"], explains: [.trust]),
        MistakePattern(
            mistake: .selfSigned,
            any: ["trust-self-signed", "trust-self-signed-ca", "trust-self-signed-wrong-name"],
            explains: [.trust]),
        MistakePattern(
            mistake: .pinByName,
            any: [
                "trust-mimic-full-chain", "trust-impostor-root-same-name",
                "trust-impostor-public-root", "trust-pin-lookalike",
            ], explains: [.trust]),
        MistakePattern(
            mistake: .pinAnywhereInChain,
            any: [
                "trust-mimic-leaf-real-issuers", "trust-self-signed-plus-real-root",
                "trust-unknown-root-plus-real-chain", "trust-pin-appended",
            ], explains: [.trust]),
        MistakePattern(mistake: .curveParameters, any: ["trust-curveball"]),
        MistakePattern(mistake: .distrustedRoot, any: ["trust-known-bad-root-*"]),
        MistakePattern(mistake: .anyRoot, any: ["trust-*"]),
    ]

    private static let certificate = [
        // The limits of a CA speak of its names, and the common name is one to whoever looks at it.
        MistakePattern(
            mistake: .anyName, all: ["name-wrong-host"],
            any: ["name-wrong-host", "chain-int-nc-violated-by-cn-only"], explains: [.name]),
        MistakePattern(
            mistake: .commonName, any: ["name-cn-match-san-mismatch"]),
        MistakePattern(
            mistake: .nameParsing,
            any: [
                "name-cn-injected-in-o", "name-null-byte-*", "name-san-*", "name-uri-san",
                "name-email-san", "name-kelvin-sign-san",
            ]),
        MistakePattern(mistake: .wildcard, any: ["name-wildcard-*"]),
        MistakePattern(mistake: .address, any: ["name-ip-*"]),
        MistakePattern(mistake: .partialName, any: ["name-*"]),
        MistakePattern(
            mistake: .expiry, any: ["time-expired", "time-expired-long-ago"], explains: [.time]),
        MistakePattern(mistake: .dates, any: ["time-*"]),
        MistakePattern(
            mistake: .certificateSignature,
            any: [
                "chain-leaf-bad-signature", "chain-int-bad-signature", "chain-untrusted-loop",
                "chain-issuer-dn-mismatch", "chain-leaf-sigalg-mismatch", "crypto-forged-e3",
            ]),
        MistakePattern(
            mistake: .leafAsAuthority, any: ["chain-leaf-as-ca", "chain-int-bc-*", "chain-int-v1"]),
        MistakePattern(
            mistake: .criticalExtension,
            any: ["chain-leaf-unknown-critical-ext", "chain-int-unknown-critical-ext"]),
        MistakePattern(mistake: .purpose, any: ["purpose-eku-*", "chain-int-eku-client-only"]),
        MistakePattern(mistake: .authorityLimits, any: ["chain-*"]),
        MistakePattern(mistake: .keyUsage, any: ["purpose-ku-*"]),
        MistakePattern(mistake: .weakCertificate, any: ["crypto-*"]),
        MistakePattern(mistake: .revocation, any: ["revocation-*"]),
    ]

    private static let connection = [
        MistakePattern(
            mistake: .handshakeSignature,
            any: ["handshake-goto-fail*", "handshake-ske-bitflip", "handshake-certverify-corrupt"]),
        MistakePattern(
            mistake: .noAuthentication,
            any: [
                "handshake-anon", "handshake-null-cipher", "passive-anonymous-suites",
                "passive-null-suites",
            ]),
        MistakePattern(
            mistake: .oldVersion,
            any: ["handshake-tls10", "handshake-tls11", "passive-ssl", "passive-old-version"]),
        MistakePattern(
            mistake: .weakExchange,
            any: ["handshake-logjam-*", "handshake-freak"]),
        MistakePattern(
            mistake: .brokenCiphers,
            any: [
                "passive-export-suites", "passive-rc4-suites", "passive-des-suites",
                "passive-3des-suites",
            ]),
        MistakePattern(mistake: .compression, any: ["passive-compression"]),
        MistakePattern(mistake: .downgrade, any: ["handshake-downgrade-*"]),
        // Who takes another's certificate in the first handshake has not forgotten anything later.
        MistakePattern(
            mistake: .laterHandshake,
            any: ["handshake-reneg-other-name", "handshake-resume-after-refusal"],
            refusing: ["name-wrong-host"], isSecondTry: nil),
        MistakePattern(
            mistake: .laterHandshake, any: ["handshake-reneg-bad-chain"],
            refusing: ["trust-self-signed"], isSecondTry: nil),
        MistakePattern(
            mistake: .handshakeIntegrity,
            any: [
                "handshake-wrong-finished", "handshake-early-ccs", "handshake-heartbeat",
                "handshake-skip-ske", "handshake-empty-cert", "handshake-early-finished",
                "handshake-ccs-finished",
            ]),
        MistakePattern(
            mistake: .credentialsInClear, any: ["plaintext-redirect-leaks-credentials"]),
        MistakePattern(
            mistake: .startTLSInjection, any: ["plaintext-starttls-injection"]),
        MistakePattern(
            mistake: .startTLSStripped,
            any: ["plaintext-starttls-stripped*", "plaintext-preauth*"]),
        MistakePattern(mistake: .redirectToClear, any: ["plaintext-redirect-*"]),
        MistakePattern(mistake: .beginsInClear, any: ["plaintext-initial-http"]),
        MistakePattern(
            mistake: .fallbackToClear,
            any: ["plaintext-http-on-tls-port", "plaintext-tls-refused-fallback"],
            isSecondTry: nil),
    ]
}
