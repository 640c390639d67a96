import Base
import TLS
import Testing

@testable import Catalogue

/// What OpenSSL makes of the built-in chains: the flawed ones must be refused for their flaw.
struct BuiltInChainTests {
    private static let hasProgram = shell("openssl version").status == 0

    /// All but one whose key takes a minute to make, and what this OpenSSL does not sign with.
    private static let probes = Catalogue.builtIn().entries.filter {
        !$0.chain.isEmpty && $0.identifier != "control-leaf-rsa8192"
            && (hasLegacy || $0.identifier != "crypto-leaf-md4")
    }

    private static let hasLegacy =
        shell("openssl list -providers -provider legacy").status == 0

    @Test(
        .enabled(if: hasProgram, "the program openssl is missing"),
        arguments: probes.map(\.identifier))
    func isJudgedAsExpected(_ identifier: String) throws {
        let laboratory = try ChainLaboratory.shared.get()
        let probe = try #require(Catalogue.builtIn().entry(identifier))
        let host = ChainLaboratory.host(for: probe)
        let chain = try laboratory.present(probe, host: host)
        let verdict = try laboratory.verify(chain, host: host)
        guard let expected = errors[identifier] else {
            #expect(verdict.status == 0, "\(identifier): \(verdict.output)")
            return
        }
        #expect(verdict.status != 0, "\(identifier) is taken for sound")
        #expect(
            verdict.output.contains("error \(expected.code) at \(expected.depth) "),
            "\(identifier): \(verdict.output)")
    }

    @Test func refusesWhatClientsMustRefuse() {
        let servesOnly: [ProbeBehaviour] = [.serve, .tls12]
        for probe in Self.probes where servesOnly.contains(probe.behaviour) {
            switch probe.expectation {
            case .refuse: #expect(errors[probe.identifier] != nil, "\(probe.identifier)")
            case .accept: #expect(errors[probe.identifier] == nil, "\(probe.identifier)")
            case .warn, .inform: break
            }
        }
        let known = Set(Catalogue.builtIn().entries.map(\.identifier))
        #expect(errors.keys.filter { !known.contains($0) }.isEmpty)
    }

    @Test(arguments: ["localhost", "127.0.0.1", "::1", "shop.test", "a.b.c.d.test"])
    func isPossibleOrTellsWhyNot(_ host: String) throws {
        let laboratory = try ChainLaboratory.shared.get()
        for probe in Self.probes {
            do {
                let chain = try laboratory.present(probe, host: host)
                #expect(!chain.certificates.isEmpty)
                #expect(chain.key.belongs(to: chain.certificates[0]), "\(probe.identifier)")
            } catch {
                #expect(error.code == "probe-not-possible", "\(probe.identifier): \(error)")
                #expect(error.detail.contains(host), "\(error)")
            }
        }
    }

    @Test func needsNoOriginUnlessItSaysSo() throws {
        let laboratory = try ChainLaboratory.shared.get()
        for probe in Self.probes {
            let host = ChainLaboratory.host(for: probe)
            guard probe.requirements.contains(.originChain) else {
                _ = try laboratory.issuer.present(probe.chain, host: host, origin: [])
                continue
            }
            let failure = #expect(throws: Failure.self) {
                _ = try laboratory.issuer.present(probe.chain, host: host, origin: [])
            }
            #expect(failure?.code == "probe-not-possible", "\(probe.identifier)")
        }
    }

    @Test func takesAnOriginWithoutIssuers() throws {
        let laboratory = try ChainLaboratory.shared.get()
        let probe = try #require(Catalogue.builtIn().entry("trust-mimic-leaf-real-issuers"))
        let chain = try laboratory.issuer.present(
            probe.chain, host: "www.shop.probe.test",
            origin: Array(laboratory.origin.certificates.prefix(1)))
        #expect(chain.certificates.count == 1)
        #expect(chain.certificates[0].subject == laboratory.origin.certificates[0].subject)
        #expect(chain.certificates[0].fingerprint != laboratory.origin.certificates[0].fingerprint)
    }

    /// Repeating what a client has seen before would let it repair a flawed chain from memory.
    @Test func makesOtherKeysAndNamesEachTime() throws {
        let laboratory = try ChainLaboratory.shared.get()
        let probe = try #require(Catalogue.builtIn().entry("control-good-ecdsa"))
        let chains = try (0..<2).map { _ in
            try laboratory.present(probe, host: "www.shop.probe.test")
        }
        #expect(chains[0].certificates[1].subject != chains[1].certificates[1].subject)
        #expect(chains[0].key.pem != chains[1].key.pem)
    }
}

/// The number of `openssl verify`'s first error, and the certificate that it is about.
private let errors: [String: (code: Int, depth: Int)] = {
    var errors: [String: (code: Int, depth: Int)] = [
        "trust-self-signed": (18, 0), "trust-self-signed-wrong-name": (18, 0),
        "trust-self-signed-ca": (18, 0), "trust-unknown-root": (19, 2),
        "trust-impostor-root-same-name": (7, 0), "trust-mimic-leaf-real-issuers": (7, 0),
        "trust-impostor-public-root": (19, 1), "trust-mimic-full-chain": (7, 1),
        "trust-curveball": (7, 0), "trust-pin-appended": (18, 0), "trust-pin-lookalike": (20, 0),
        "trust-self-signed-plus-real-root": (18, 0), "trust-unknown-root-omitted": (20, 1),
        "trust-unknown-root-plus-real-chain": (20, 1),
        "time-expired": (10, 0), "time-expired-anchor": (10, 1),
        "time-expired-intermediate": (10, 1),
        "time-expired-long-ago": (10, 0), "time-inverted": (9, 0),
        "time-malformed-notafter": (14, 0), "time-not-yet-valid": (9, 0),
        "time-not-yet-valid-intermediate": (9, 1), "time-utctime-1950-wrap": (10, 0),
        "purpose-eku-any": (26, 0), "purpose-eku-client-only": (26, 0),
        "purpose-eku-codesigning": (26, 0), "purpose-eku-codesigning-critical": (26, 0),
        "purpose-ku-certsign-only": (26, 0),
        "crypto-int-ec-explicit-params": (94, 1), "crypto-leaf-ec-explicit-params": (94, 0),
        "crypto-forged-e3": (7, 0),
        "crypto-leaf-md4": (68, 0), "crypto-int-md5": (68, 1), "crypto-leaf-md5": (68, 0),
        "crypto-int-sha1": (68, 1), "crypto-leaf-sha1": (68, 0), "crypto-leaf-rsa512": (66, 0),
        "chain-leaf-as-ca": (79, 1), "chain-aki-keyid-mismatch": (20, 0),
        "chain-int-bad-signature": (7, 1), "chain-int-bc-and-ku-missing": (79, 1),
        "chain-int-bc-false-ku-certsign": (79, 1), "chain-int-bc-missing": (79, 1),
        "chain-int-eku-client-only": (26, 1), "chain-int-ku-no-certsign": (79, 1),
        "chain-int-nc-excluded-host": (48, 0), "chain-int-nc-ip-violated": (47, 0),
        "chain-int-nc-noncritical-violated": (47, 0), "chain-int-nc-permitted-other": (47, 0),
        "chain-int-nc-violated-by-cn-only": (47, 0),
        "chain-int-nc-violated-by-second-san": (47, 0),
        "chain-int-unknown-critical-ext": (34, 1), "chain-int-v1": (79, 1),
        "chain-issuer-dn-mismatch": (20, 0), "chain-leaf-bad-signature": (7, 0),
        "chain-leaf-sigalg-mismatch": (7, 0), "chain-leaf-unknown-critical-ext": (34, 0),
        "chain-missing-intermediate": (20, 0), "chain-pathlen-exceeded": (25, 2),
        "chain-untrusted-loop": (20, 2), "handshake-resume-after-refusal": (62, 0),
        "handshake-reneg-bad-chain": (18, 0), "handshake-empty-cert": (18, 0),
        "handshake-reneg-other-name": (62, 0),
        "name-ip-in-cn": (64, 0), "name-ip-in-dns-san": (64, 0), "name-ip-wildcard": (64, 0),
        "name-ip-wrong": (64, 0),
    ]
    for name in [
        "wrong-host", "cn-match-san-mismatch", "child-domain", "cn-injected-in-o", "email-san",
        "host-as-prefix", "host-as-suffix", "kelvin-sign-san", "leading-dot-san",
        "many-sans-wrong", "no-names", "null-byte-cn", "null-byte-san", "parent-domain",
        "san-comma-smuggle", "san-uri-smuggle", "sibling", "trailing-dot-san",
        "trailing-space-san", "uri-san", "wildcard-apex", "wildcard-bare", "wildcard-double-star",
        "wildcard-in-alabel", "wildcard-multi", "wildcard-not-leftmost",
        "wildcard-partial-middle", "wildcard-public-suffix", "wildcard-tld", "wildcard-two-labels",
    ] {
        errors["name-" + name] = (62, 0)
    }
    return errors
}()
