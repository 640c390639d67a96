import Audit
import Base
import Catalogue

/// Swift Testing has an `Expectation` as well; this file does without it.
typealias ProbeExpectation = Expectation

func probe(
    _ identifier: String, _ family: ProbeFamily, _ expectation: ProbeExpectation = .refuse,
    requires requirements: Set<ProbeRequirement> = [], severity: Severity = .high
) -> ProbeDescription {
    var probe = ProbeDescription(identifier: identifier, family: family)
    probe.expectation = expectation
    probe.requirements = requirements
    probe.severity = severity
    probe.title = "the title of \(identifier)"
    return probe
}

func result(
    _ probe: ProbeDescription, _ outcome: ProbeOutcome, client: String = "curl",
    destination: String = "www.example.com:443"
) -> AuditResult {
    AuditResult(
        client: client, destination: destination, probe: probe, outcome: outcome,
        verdict: VerdictRule.verdict(probe.expectation, outcome), evidence: "as the test says")
}

/// A report with every outcome, two clients, and text that no format may trip over.
func sampleReport() -> AuditReport {
    var good = probe("control-good", .control, .accept, requires: [.authority])
    good.title = "a sound server"
    var selfSigned = probe("trust-self-signed", .trust, severity: .critical)
    selfSigned.title = "self-signed certificate"
    selfSigned.reason = "no path leads to a trust anchor"
    selfSigned.source = "RFC 5280 §6.1"
    selfSigned.history = ["CVE-2023-31486"]
    selfSigned.weaknesses = [295]
    selfSigned.controls = ["MASVS-NETWORK-1"]
    selfSigned.fix = "verify chains"
    let name = probe("name-wrong-host", .name, requires: [.authority])
    var failed = result(selfSigned, .accepted, client: "app")
    failed.version = "TLSv1.3"
    failed.connections = [3, 4]
    failed.duration = 1_250_000
    failed.exitStatus = 0
    failed.sawToken = true
    failed.evidence = "the client sent data <b>&\"{0}\"\u{1B}[31m\u{0}\u{FFFE}]]> [a](1)\ttab\nline"
    var refused = result(name, .refused, client: "app")
    refused.alert = 42
    var implied = result(probe("trust-self-signed-ca", .trust), .implied, client: "app")
    implied.impliedBy = "trust-self-signed"
    let shown = [
        result(good, .accepted, client: "app"), failed, implied, refused,
        result(
            probe("crypto-leaf-sha1", .crypto, .warn, severity: .medium), .accepted, client: "app"),
        result(probe("name-cn-only", .name, .inform, severity: .low), .accepted, client: "app"),
    ]
    let other = [
        result(good, .accepted, client: "b äß"),
        result(selfSigned, .sentThenRefused, client: "b äß"),
        result(name, .inconclusive, client: "b äß"),
        result(probe("handshake-anon", .handshake), .notOffered, client: "b äß"),
        result(probe("trust-mimic-full-chain", .trust), .notPossible, client: "b äß"),
        result(probe("time-expired", .time), .uncontrolled, client: "b äß"),
        result(probe("handshake-freak", .handshake), .suspected, client: "b äß"),
    ]
    return AuditReport(
        results: shown + other, startedAt: Timestamp(microseconds: 1_772_000_000_250_000),
        duration: 12_500_000, capturePath: "audit.sallyport", command: ["app", "--x"],
        toolVersion: "1.2.3", sources: ["app": "./Sources/My App/API: v2.swift:42"])
}
