import Audit
import Base
import Catalogue

func probe(
    _ identifier: String, _ family: ProbeFamily, _ expectation: Expectation = .refuse,
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
