import Catalogue
import Testing

@testable import Audit

@Suite struct FamilyRuleTests {
    static let rows: [FamilyRuleRow] = [
        .init("nothing", [], "trust-self-signed", nil),
        .init(
            "a stronger CA flag", ["trust-self-signed"], "trust-self-signed-ca", "trust-self-signed"
        ),
        // Traps: what must be shown all the same.
        .init("any one-certificate chain", ["trust-self-signed"], "trust-unknown-root", nil),
        .init(
            "a lookalike behind one-certificate chains", ["trust-self-signed"],
            "trust-mimic-full-chain", nil),
        .init(
            "no chain, but the name", ["trust-self-signed", "trust-unknown-root"],
            "trust-self-signed-wrong-name", nil),
        .init(
            "no path at all, but the name",
            ["trust-self-signed", "trust-unknown-root", "trust-mimic-leaf-real-issuers"],
            "trust-self-signed-wrong-name", nil),
        .init(
            "no path at all, but the name of a sound chain",
            ["trust-self-signed", "trust-unknown-root", "trust-mimic-leaf-real-issuers"],
            "name-wrong-host", nil),
        .init(
            "no path at all, but the dates",
            ["trust-self-signed", "trust-unknown-root", "trust-mimic-leaf-real-issuers"],
            "time-expired", nil),
        .init(
            "a pin anywhere in the chain", ["trust-mimic-leaf-real-issuers"],
            "trust-self-signed", nil),
        .init(
            "a name passed over for one-certificate chains only",
            ["trust-self-signed", "trust-self-signed-wrong-name"], "name-wrong-host", nil),
        .init("a strict parser", ["name-wrong-host"], "name-null-byte-san", nil),
        .init("an address instead of a name", ["name-wrong-host"], "name-ip-wrong", nil),
        .init("slow clocks", ["time-expired"], "time-expired-long-ago", nil),
        .init("the leaf's dates only", ["time-expired"], "time-expired-intermediate", nil),
        .init(
            "client or server, but a purpose", ["purpose-eku-client-only"],
            "purpose-eku-codesigning", nil),
        .init(
            "what was accepted itself", ["time-expired", "time-expired-long-ago"], "time-expired",
            nil),
        .init("goto fail in one version", ["handshake-goto-fail"], "handshake-ske-bitflip", nil),
        // What follows
        .init(
            "no path at all",
            ["trust-self-signed", "trust-unknown-root", "trust-mimic-leaf-real-issuers"],
            "trust-impostor-root-same-name", "trust-self-signed"),
        .init("any name", ["name-wrong-host"], "name-parent-domain", "name-wrong-host"),
        .init(
            "any name in any chain",
            ["trust-self-signed", "trust-unknown-root", "trust-self-signed-wrong-name"],
            "name-wrong-host", "trust-self-signed-wrong-name"),
        .init("ten years", ["time-expired-long-ago"], "time-expired", "time-expired-long-ago"),
        .init("a leaf as a CA", ["chain-leaf-as-ca"], "chain-int-bc-missing", "chain-leaf-as-ca"),
        .init(
            "smaller groups", ["handshake-logjam-512"], "handshake-logjam-1024",
            "handshake-logjam-512"),
        .init(
            "credentials in cleartext", ["plaintext-redirect-leaks-credentials"],
            "plaintext-redirect-to-http", "plaintext-redirect-leaks-credentials"),
    ]

    @Test(arguments: rows)
    func implies(row: FamilyRuleRow) throws {
        let family = try #require(ProbeFamily.allCases.first { row.probe.hasPrefix($0.rawValue) })
        let implied = FamilyRule.implying(probe(row.probe, family), accepted: row.accepted)
        #expect(implied == row.expected)
    }

    @Test func controlsAreAlwaysShown() {
        let control = probe("trust-self-signed-ca", .trust, .accept)
        #expect(FamilyRule.implying(control, accepted: ["trust-self-signed"]) == nil)
    }

    @Test func nothingImpliesItself() {
        for implication in FamilyRule.implications {
            #expect(implication.conclusions.isDisjoint(with: implication.premises))
            #expect(!implication.premises.isEmpty)
        }
    }
}

struct FamilyRuleRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let accepted: Set<String>
    let probe: String
    let expected: String?

    init(_ name: String, _ accepted: Set<String>, _ probe: String, _ expected: String?) {
        testDescription = name
        self.accepted = accepted
        self.probe = probe
        self.expected = expected
    }
}
