package import Base
package import Catalogue
package import Proxy
internal import Synchronization
package import TLS

/// Presents the probes of a catalogue with chains that an issuer makes, each once for each host.
package final class CataloguePresenter: ProbePresenter {
    private let issuer: ChainIssuer
    private let token: String
    /// The recipes of the sound chain, which stands in for an origin's where that is not known.
    private let sound: [CertificateRecipe]
    private let patience: UInt64
    private let now: @Sendable () -> UInt64
    private let state = Mutex(State())

    private struct State {
        var chains: [Key: PresentedChain] = [:]
        var origin: [Certificate] = []
        var ticketKeys: [String: [UInt8]] = [:]
        /// Whether a redirection into cleartext leads clients to us.
        var leadsAstray = true
        /// Whether whom the client trusts can be changed from one probe to the next.
        var changesTrust = true
    }

    private struct Key: Hashable {
        let probe: String
        let host: String
        var isSecond = false
    }

    /// Of chains that are kept; a client that asks for more names has them made anew.
    private static let chainLimit = 4_096

    /// - Parameters:
    ///   - token: a secret that what the servers' answers hold is made of.
    ///   - patience: how long a client may be silent, in milliseconds.
    ///   - now: in milliseconds of a clock that rises.
    package init(
        issuer: ChainIssuer, catalogue: Catalogue, token: String, patience: UInt64 = 3_000,
        now: @escaping @Sendable () -> UInt64
    ) {
        self.issuer = issuer
        self.token = token
        self.patience = patience
        self.now = now
        sound = catalogue.entries.first { $0.identifier == AuditLedger.control }?.chain ?? []
    }

    /// Tells what the true origin presents, leaf first.
    package func note(chain: [Certificate]) {
        state.withLock { $0.origin = chain }
    }

    /// Tells that clients would go elsewhere than to us where a redirection sends them.
    package func noteUnseenRedirections() {
        state.withLock { $0.leadsAstray = false }
    }

    /// Tells that clients come by themselves, with whom they trust.
    package func noteFixedTrust() {
        state.withLock { $0.changesTrust = false }
    }

    package func anchors(
        of probe: ProbeDescription, host: String
    ) throws(Failure) -> [Certificate] {
        guard probe.hasOwnAnchors else { return [] }
        return try Certificate.all(inPEM: probe.trustAnchors, name: probe.identifier)
            + (try chain(of: probe, host)?.anchors ?? [])
    }

    /// Checks that a client can be shown a probe as it is meant.
    private func check(_ probe: ProbeDescription, _ host: String) throws(Failure) {
        if let meant = probe.host, meant != host.lowercased() {
            throw Self.impossible("it is for the host \(meant) alone")
        }
        if probe.hasOwnAnchors, !state.withLock(\.changesTrust) {
            throw Self.impossible("it takes a client that is told to trust other roots for it")
        }
    }

    private static func impossible(_ reason: String) -> Failure {
        Failure("probe-not-possible", party: .tool, reason)
    }

    package func machine(
        _ probe: ProbeDescription, for visit: ProbeVisit,
        report: @escaping @Sendable (ProbeObservation) -> Void
    ) throws(Failure) -> (any ProbeMachine)? {
        // Where the client is led to at another port of the host, the same is said.
        let destination = AuditDestination(visit)
        let token =
            probe.behaviour.isProvedByAnswer ? proof(of: destination) : word(destination.host)
        return try machine(probe, for: visit, saying: token, report: report)
    }

    package func soundMachine(
        _ control: ProbeDescription, for visit: ProbeVisit
    ) -> (any ProbeMachine)? {
        do throws(Failure) {
            return try machine(control, for: visit, saying: "sound") { _ in }
        } catch {
            return nil
        }
    }

    package func proof(of destination: AuditDestination) -> String { word(destination.text) }

    /// What is said at one place and at no other.
    private func word(_ place: String) -> String {
        "\(token)-" + Array(Digests.sha256(Array((token + place).utf8)).prefix(6)).hex
    }

    private func machine(
        _ probe: ProbeDescription, for visit: ProbeVisit, saying token: String,
        report: @escaping @Sendable (ProbeObservation) -> Void
    ) throws(Failure) -> (any ProbeMachine)? {
        let host = visit.hello?.serverName ?? visit.host
        try check(probe, host)
        var configuration = ProbeMachineConfiguration(host: host, token: token, now: now)
        configuration.connection = visit.connection
        configuration.port = visit.port
        configuration.patience = patience
        configuration.keepsOffer = probe.identifier == AuditLedger.control
        configuration.greeting = ProbeGreeting(port: visit.port)
        configuration.ticketKey = ticketKey(probe)
        let followUp = ProbeMachines.followUp(of: probe, configuration)
        let status = try statusPlan(of: probe, host)
        // Who begins TLS at once does not ask for it.
        if visit.hello == nil {
            configuration.upgrade = UpgradeProtocol(port: visit.port)
            if let followUp, followUp.port == visit.port {
                return ReportingMachine(
                    ProbeMachines.makeMachine(probe, following: followUp, configuration),
                    report: report)
            }
            if let status, visit.port == StatusPlan.port {
                return ReportingMachine(
                    ProbeMachines.makeMachine(probe, answering: status, configuration),
                    report: report)
            }
            guard configuration.upgrade != nil || probe.behaviour.leadsToClear else { return nil }
        }
        if followUp != nil || status != nil, !state.withLock(\.leadsAstray) {
            throw Failure(
                "probe-not-possible", party: .tool,
                "where the client would be sent in cleartext is no port of ours")
        }
        let made = try ProbeMachines.makeMachine(
            probe, try chain(of: probe, host), second: try second(of: probe, host),
            configuration)
        return ReportingMachine(made, report: report)
    }

    package func unaskedMachine(
        _ probe: ProbeDescription, for visit: ProbeVisit, besides destination: AuditDestination,
        report: @escaping @Sendable (ProbeObservation) -> Void
    ) -> any ProbeMachine {
        var configuration = ProbeMachineConfiguration(
            host: destination.host, token: token, now: now)
        configuration.connection = visit.connection
        configuration.port = visit.port
        configuration.patience = patience
        return ReportingMachine(
            ProbeMachines.makeMachine(probe, besides: destination.port, configuration),
            report: report)
    }

    /// What the leaf's issuer says of it at an address that the leaf names; `nil` for most probes.
    private func statusPlan(
        of probe: ProbeDescription, _ host: String
    ) throws(Failure) -> StatusPlan? {
        guard probe.behaviour.publishesStatus else { return nil }
        let chain = try chain(of: probe, host)
        return StatusPlan(probe.behaviour, answer: chain?.publication ?? [])
    }

    /// The chain that is shown first.
    func chain(
        of probe: ProbeDescription, _ host: String
    ) throws(Failure) -> PresentedChain? {
        switch probe.behaviour {
        case .renegotiateBadChain, .renegotiateOtherName:
            return try chain(Key(probe: AuditLedger.control, host: host), sound)
        case .gotoFail where probe.chain.isEmpty:
            // Genuine certificates, and a key that has nothing to do with them.
            return PresentedChain(
                certificates: try originChain(for: host),
                key: try chain(Key(probe: AuditLedger.control, host: host), sound).key)
        default:
            guard !probe.chain.isEmpty else { return nil }
            return try chain(
                Key(probe: probe.identifier, host: host), probe.chain, probe.behaviour)
        }
    }

    private func second(
        of probe: ProbeDescription, _ host: String
    ) throws(Failure) -> PresentedChain? {
        switch probe.behaviour {
        case .renegotiateBadChain, .renegotiateOtherName:
            return try chain(
                Key(probe: probe.identifier, host: host, isSecond: true), probe.chain)
        default: return nil
        }
    }

    private func chain(
        _ key: Key, _ recipes: [CertificateRecipe], _ behaviour: ProbeBehaviour = .serve
    ) throws(Failure) -> PresentedChain {
        if let known = state.withLock({ $0.chains[key] }) { return known }
        let needsOrigin = recipes.contains { $0.origin.isTheOrigins }
        let origin = needsOrigin ? try originChain(for: key.host) : []
        let made = try issuer.present(
            recipes, host: key.host, origin: origin, staple: behaviour.staple,
            publication: behaviour.publication)
        state.withLock { state in
            if state.chains.count >= Self.chainLimit { state.chains = [:] }
            state.chains[key] = made
        }
        return made
    }

    /// What the true origin presents, or a sound chain of ours where there is none.
    private func originChain(for host: String) throws(Failure) -> [Certificate] {
        let known = state.withLock(\.origin)
        guard known.isEmpty else { return known }
        return try chain(Key(probe: AuditLedger.control, host: host), sound).certificates
    }

    private func ticketKey(_ probe: ProbeDescription) -> [UInt8] {
        guard probe.behaviour == .resumeAfterRefusal else { return [] }
        return state.withLock { state in
            let key = state.ticketKeys[probe.identifier] ?? Digests.randomBytes(80)
            state.ticketKeys[probe.identifier] = key
            return key
        }
    }
}

extension ProbeBehaviour {
    /// Whether a client that comes in cleartext is what the probe waits for.
    fileprivate var leadsToClear: Bool { self == .refuseTLS || self == .httpOnTLSPort }

    /// Whether a client that shows the server's answer has done what it must not.
    package var isProvedByAnswer: Bool {
        switch self {
        case .redirectToHTTP, .redirectWithCredentials, .renegotiateBadChain, .renegotiateOtherName,
            .heartbeat, .resumeAfterRefusal:
            false
        default: true
        }
    }

    fileprivate var staple: ChainIssuer.Staple? {
        switch self {
        case .stapledGood: .good
        case .stapledRevoked: .revoked
        case .stapledStale: .stale
        default: nil
        }
    }

    fileprivate var publication: ChainIssuer.Publication? {
        switch self {
        case .publishedList: .list
        case .publishedAnswer: .answer
        default: nil
        }
    }
}

extension CertificateRecipe.Origin {
    /// Whether the true origin's chain is needed for it.
    fileprivate var isTheOrigins: Bool {
        switch self {
        case .copyOfLeaf, .copyOfChain, .genuineChain, .genuineIssuers: true
        case .made, .authority, .unknownRoot, .file: false
        }
    }
}
