import Audit
import Catalogue
import Proxy
import TLS
import Testing

/// Alerts in cleartext, whatever version their records say: NSS writes that of its ClientHello.
struct ClientAlertTests {
    private let chains = ProbeChains.shared

    private static let behaviours: [ProbeBehaviour] = [
        .downgradeSentinel, .serve, .tls12, .gotoFail, .flippedServerKeyExchange,
        .corruptCertificateVerify, .earlyChangeCipherSpec, .heartbeat, .renegotiateOtherName,
        .resumeAfterRefusal,
    ]

    @Test(arguments: behaviours, [UInt8(1), 3])
    func isHeardInClear(behaviour: ProbeBehaviour, minor: UInt8) throws {
        let alert: [UInt8] = [21, 3, minor, 0, 2, 2, 47]
        for cut in 0...alert.count {
            let seen = try observe(behaviour, [Array(alert[..<cut]), Array(alert[cut...])])
            #expect(seen.alert == 47 && seen.ownAlert == nil, "cut at \(cut): \(seen)")
            let verdict = ConnectionRule.judge(seen, speaksFirst: true)
            #expect(verdict == .refused(alert: 47), "cut at \(cut): \(seen)")
        }
    }

    /// What is encrypted, and what only takes leave, is no alert of this kind.
    @Test(arguments: [
        [UInt8]([21, 3, 1, 0, 2, 1, 0]), [21, 3, 1, 0, 2, 2, 0], [21, 3, 1, 0, 2, 2, 90],
        [21, 3, 1, 0, 3, 2, 47, 0], [21, 3, 1, 0, 1, 2], [21, 3, 1, 0, 0], [21, 3, 1, 0, 2, 2],
    ])
    func isNotHeardInWhatIsNone(bytes: [UInt8]) throws {
        #expect(try observe(.downgradeSentinel, [bytes]).alert != 47)
    }

    private func observe(
        _ behaviour: ProbeBehaviour, _ pieces: [[UInt8]]
    ) throws -> ProbeObservation {
        var description = ProbeDescription(identifier: "alert", family: .handshake)
        description.behaviour = behaviour
        let machine = try ProbeMachines.makeMachine(
            description, chains.rsa, second: chains.wrongName, ProbeTrial.configuration())
        // TLS 1.3 has what follows the ServerHello encrypted, alerts too.
        let newest: TLSVersion = behaviour == .downgradeSentinel ? .tls13 : .tls12
        machine.receive(MemoryClient.hello(TLSVersions(.tls12, newest)).span)
        for piece in pieces where !piece.isEmpty { machine.receive(piece.span) }
        machine.noteEnd(.closed)
        return machine.observation
    }
}
