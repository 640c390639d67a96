package import Catalogue

/// Says what an outcome means, given what was expected.
package enum VerdictRule {
    package static func verdict(
        _ expectation: Expectation, _ outcome: ProbeOutcome
    ) -> ProbeVerdict {
        switch outcome {
        case .inconclusive, .notSeen: return .inconclusive
        case .notPossible, .uncontrolled: return .skipped
        case .shown, .notShown: return shown(expectation, outcome)
        case .accepted, .refused, .sentThenRefused, .inClear, .suspected, .notOffered, .implied:
            break
        }
        return switch expectation {
        // A client that refuses a sound server is a matter of interoperability, not of security.
        case .accept: outcome == .accepted || outcome == .implied ? .pass : .note
        case .refuse: outcome.isAcceptance ? .fail : outcome == .suspected ? .warn : .pass
        case .warn: outcome.isAcceptance ? .warn : outcome == .suspected ? .note : .pass
        case .inform: .note
        }
    }

    private static func shown(
        _ expectation: Expectation, _ outcome: ProbeOutcome
    ) -> ProbeVerdict {
        guard outcome == .shown else { return .pass }
        return switch expectation {
        case .accept, .inform: .note
        case .refuse: .fail
        case .warn: .warn
        }
    }
}

/// Asks of a client that it takes a sound server with our CA, before its refusals count.
package enum ControlRule {
    /// The probe that decides.
    package static let identifier = "control-good"

    /// Returns what is left of `outcome` given what the client made of `control-good`; `nil` if it
    /// has not been shown it.
    ///
    /// An acceptance stands by itself, and so does a client that offers nothing the probe needs:
    /// it was not asked about our CA. Only refusals lose what they said.
    package static func outcome(
        _ outcome: ProbeOutcome, of probe: ProbeDescription, control: ProbeOutcome?
    ) -> ProbeOutcome {
        guard probe.identifier != identifier, probe.requirements.contains(.authority),
            control != .accepted
        else { return outcome }
        return switch outcome {
        case .refused, .suspected, .inconclusive: .uncontrolled
        case .accepted, .sentThenRefused, .inClear, .notOffered, .shown, .notShown, .notSeen,
            .implied,
            .notPossible, .uncontrolled:
            outcome
        }
    }

    /// Applies the rule to all results, each by its own client's and destination's control.
    package static func applied(to results: [AuditResult]) -> [AuditResult] {
        var controls: [AuditResult.Place: ProbeOutcome] = [:]
        for result in results where result.probe.identifier == identifier {
            controls[result.place] = result.outcome
        }
        return results.map { result in
            var result = result
            let control = controls[result.place]
            let outcome = outcome(result.outcome, of: result.probe, control: control)
            guard outcome != result.outcome else { return result }
            result.outcome = outcome
            result.verdict = VerdictRule.verdict(result.probe.expectation, outcome)
            result.evidence =
                "\(reason(control)), so this says nothing: \(result.evidence)"
            return result
        }
    }

    private static func reason(_ control: ProbeOutcome?) -> String {
        control == nil
            ? "the client was not shown a sound server with the audit's CA"
            : "the client did not take a sound server with the audit's CA"
    }
}

extension AuditResult {
    /// A client at a destination: what has a column of its own, and a control of its own.
    package struct Place: Hashable, Sendable {
        package let client: String
        package let destination: String

        package var text: String { "\(client)@\(destination)" }
    }

    package var place: Place { Place(client: client, destination: destination) }
}
