package import Base
package import Catalogue
package import TLS

/// Makes the server of a probe, by its behaviour.
package enum ProbeMachines {
    /// - Parameters:
    ///   - chain: what is shown; `nil` for a probe that shows none.
    ///   - second: what is shown in a second handshake; for renegotiation only, where `chain` is
    ///     sound.
    ///
    /// Errors: `probe-impossible`.
    package static func makeMachine(
        _ description: ProbeDescription, _ chain: PresentedChain?,
        second: PresentedChain? = nil, _ configuration: ProbeMachineConfiguration
    ) throws(Failure) -> any AuditMachine {
        let behaviour = description.behaviour
        let plan = TLSProbePlan(
            behaviour: behaviour, chain: chain, second: second, ticketKey: configuration.ticketKey)
        return TLSProbeMachine(
            description.identifier, plan, configuration,
            followUp: followUp(behaviour, configuration))
    }

    private static func followUp(
        _ behaviour: ProbeBehaviour, _ configuration: ProbeMachineConfiguration
    ) -> FollowUpPlan? {
        switch behaviour {
        case .redirectToHTTP, .redirectWithCredentials:
            let asksForSecret = behaviour == .redirectWithCredentials
            return FollowUpPlan(
                host: configuration.host, port: 80, path: "/\(configuration.token)",
                secureCookie: asksForSecret ? configuration.token : nil,
                asksForSecret: asksForSecret)
        default: return nil
        }
    }
}
