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
    /// Errors: `probe-not-possible`.
    package static func makeMachine(
        _ description: ProbeDescription, _ chain: PresentedChain?,
        second: PresentedChain? = nil, _ configuration: ProbeMachineConfiguration
    ) throws(Failure) -> any AuditMachine {
        let behaviour = description.behaviour
        let name = description.identifier
        switch behaviour {
        case .skippedServerKeyExchange, .emptyCertificate, .earlyFinished,
            .changeCipherSpecFinished, .exportKey:
            guard let chain else { throw impossible("it needs a certificate") }
            try requireRSA(behaviour == .exportKey, chain)
            let machine = ScriptedTLSMachine(name, behaviour, chain, configuration)
            return try upgraded(name, .sound, machine, configuration)
        case .httpOnTLSPort, .refuseTLS:
            guard configuration.upgrade == nil else {
                throw impossible("the protocol begins in cleartext")
            }
            return PlainProbeMachine(
                name, behaviour == .refuseTLS ? .refuseTLS : .http, configuration)
        case .stripStartTLS: return try upgraded(name, .stripped, nil, configuration)
        case .preauthenticated: return try upgraded(name, .preauthenticated, nil, configuration)
        default:
            let isSmall = [.smallGroup512, .smallGroup768, .smallGroup1024].contains(behaviour)
            try requireRSA(isSmall || behaviour == .staticRSA, chain)
            let plan = TLSProbePlan(
                behaviour: behaviour, chain: chain, second: second,
                ticketKey: configuration.ticketKey)
            guard !plan.renegotiates || second != nil else {
                throw impossible("there is no second chain")
            }
            let machine = TLSProbeMachine(
                name, plan, configuration, followUp: followUp(of: description, configuration))
            let mode = behaviour == .injectAfterStartTLS ? UpgradeMode.injected : .sound
            return try upgraded(name, mode, machine, configuration)
        }
    }

    /// Makes what takes the request in cleartext that a redirection brought.
    package static func makeMachine(
        _ description: ProbeDescription, following plan: FollowUpPlan,
        _ configuration: ProbeMachineConfiguration
    ) -> any AuditMachine {
        PlainProbeMachine(description.identifier, .followUp(plan), configuration)
    }

    /// Makes what says, in cleartext, that a certificate is revoked.
    static func makeMachine(
        _ description: ProbeDescription, answering plan: StatusPlan,
        _ configuration: ProbeMachineConfiguration
    ) -> any AuditMachine {
        PlainProbeMachine(description.identifier, .status(plan), configuration)
    }

    /// Makes what takes a request in cleartext that the probe has not led to.
    static func makeMachine(
        _ description: ProbeDescription, besides port: UInt16,
        _ configuration: ProbeMachineConfiguration
    ) -> any AuditMachine {
        var configuration = configuration
        // The probe's own server alone says the token.
        configuration.token = "in cleartext"
        return PlainProbeMachine(description.identifier, .unasked(besides: port), configuration)
    }

    /// Puts a beginning in cleartext before TLS, if there is one.
    private static func upgraded(
        _ name: String, _ mode: UpgradeMode, _ inner: (any AuditMachine)?,
        _ configuration: ProbeMachineConfiguration
    ) throws(Failure) -> any AuditMachine {
        guard let protocolName = configuration.upgrade else {
            guard mode == .sound, let inner else {
                throw impossible(
                    "it is for protocols that begin in cleartext, such as those of the ports 25, 143"
                        + " and 5432")
            }
            return inner
        }
        guard let script = protocolName.script(mode, host: configuration.host) else {
            throw impossible("it does not exist in \(protocolName.rawValue)")
        }
        return StartTLSMachine(name, script, mode, inner: inner, configuration)
    }

    private static func requireRSA(_ isNeeded: Bool, _ chain: PresentedChain?) throws(Failure) {
        if isNeeded, chain?.key.isRSA != true { throw impossible("it needs an RSA key") }
    }

    private static func impossible(_ reason: String) -> Failure {
        Failure("probe-not-possible", party: .tool, "the probe cannot be shown: \(reason)")
    }

    /// Where a probe's server sends its clients in cleartext; `nil` for most probes.
    package static func followUp(
        of description: ProbeDescription, _ configuration: ProbeMachineConfiguration
    ) -> FollowUpPlan? {
        let behaviour = description.behaviour
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
