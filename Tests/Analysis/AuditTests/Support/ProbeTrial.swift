import Audit
import Base
import Catalogue
import Foundation
import TLS

/// Lets a client meet a probe, and tells what was seen of it.
struct ProbeTrial: Sendable {
    let client: ClientRun
    let seen: [ProbeObservation]
    let machines: [any AuditMachine]

    /// - Parameters:
    ///   - command: with `PORT`, `CA` and `LAB` in it for what they say.
    ///   - connections: how many to wait for.
    init(
        _ behaviour: ProbeBehaviour, _ chain: PresentedChain?, second: PresentedChain? = nil,
        greeting: ProbeGreeting? = nil, upgrade: UpgradeProtocol? = nil,
        patience: UInt64 = 1500, connections: Int = 1,
        input: String? = nil, _ command: String...
    ) async throws {
        // Clients are waited for on a thread of their own: tests share few, and others need them.
        self = try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(
                    with: Result {
                        try ProbeTrial(
                            behaviour, chain, second, greeting, upgrade, patience, connections,
                            input, command)
                    })
            }.start()
        }
    }

    private init(
        _ behaviour: ProbeBehaviour, _ chain: PresentedChain?, _ second: PresentedChain?,
        _ greeting: ProbeGreeting?, _ upgrade: UpgradeProtocol?, _ patience: UInt64,
        _ connections: Int, _ input: String?, _ command: [String]
    ) throws {
        var description = ProbeDescription(identifier: "test-\(behaviour)", family: .handshake)
        description.behaviour = behaviour
        let probe = description
        var plan = Self.configuration(patience: patience)
        plan.greeting = greeting
        plan.upgrade = upgrade
        let configuration = plan
        let server = try ProbeServer { _ in
            try ProbeMachines.makeMachine(probe, chain, second: second, configuration)
        }
        defer { server.stop() }
        let chains = ProbeChains.shared
        var runs: [ClientRun] = []
        for one in command {
            let words = one.split(separator: " ").map { word in
                word.replacingOccurrences(of: "PORT", with: "\(server.port)")
                    .replacingOccurrences(
                        of: "(^|=)CA$", with: "$1" + chains.authorityPath,
                        options: .regularExpression
                    )
                    .replacingOccurrences(of: "LAB", with: chains.folder.path)
            }
            runs.append(try ClientRun(words, input: input))
        }
        client = runs[runs.count - 1]
        seen = try server.observations(connections)
        machines = server.machines
    }

    func verdict(speaksFirst: Bool? = true) -> ConnectionVerdict {
        ConnectionRule.judge(seen[seen.count - 1], speaksFirst: speaksFirst)
    }

    static let token = "token-of-the-test"

    static func configuration(patience: UInt64 = 1500) -> ProbeMachineConfiguration {
        var made = ProbeMachineConfiguration(host: "localhost", token: token) {
            DispatchTime.now().uptimeNanoseconds / 1_000_000
        }
        made.patience = patience
        made.ticketKey = [UInt8](repeating: 7, count: 80)
        return made
    }
}
