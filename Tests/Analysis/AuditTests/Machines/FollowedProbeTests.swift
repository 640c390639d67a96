import Audit
import Base
import Catalogue
import Foundation
import Proxy
import TLS
import TestConditions
import Testing
import Traffic

/// Probes that take more than one handshake, or one connection.
@Suite(.serialized, .ownThread)
struct FollowedProbeTests {
    private let chains = ProbeChains.shared

    /// Whether curl resumes is a race: it may refuse before the ticket has come.
    @Test(arguments: ["1.2", "1.3"])
    func aTicketOfARefusedServerIsNoWayIn(version: String) async throws {
        let one = "--cacert CA --tls-max \(version) https://localhost:PORT/"
        let run = try await ProbeTrial(
            .resumeAfterRefusal, chains.wrongName, connections: 2,
            "curl -sS -m 10 \(one) --next \(one)")
        #expect(run.client.status == 60)
        for seen in run.seen {
            #expect(ConnectionRule.judge(seen, speaksFirst: true) == .refusedLate, "\(seen)")
        }
    }

    @Test(arguments: [
        (ProbeBehaviour.resumeAfterRefusal, TLSVersion.tls12, true),
        (.resumeAfterRefusal, .tls13, true),
        (.serve, .tls12, false),
        (.serve, .tls13, false),
    ])
    func ticketsAreForOneProbeOnly(
        behaviour: ProbeBehaviour, version: TLSVersion, isResumed: Bool
    ) throws {
        var description = ProbeDescription(identifier: "tickets", family: .handshake)
        description.behaviour = behaviour
        let context = TLSClientContext(versions: TLSVersions(version, version), trustsSystem: false)
        for number in 0..<2 {
            let machine = try ProbeMachines.makeMachine(
                description, chains.wrongName, ProbeTrial.configuration())
            let client = MemoryClient(machine, in: context)
            #expect(client.handshake() == .done)
            // A ticket of TLS 1.3 comes like data.
            _ = client.session.read(into: ByteBuffer(capacity: 100))
            client.session.close()
            #expect(machine.tls?.resumed == (isResumed && number == 1))
            #expect(machine.observation.sentCertificate)
        }
    }

    @Test
    func aSecondHandshakeShowsABadChain() async throws {
        let run = try await ProbeTrial(
            .renegotiateBadChain, chains.rsa, second: chains.selfSigned,
            "curl -sS -m 10 --cacert CA --tls-max 1.2 https://localhost:PORT/")
        #expect(run.verdict() == .refused(alert: 48), "\(run.seen) \(run.client)")
    }

    @Test
    func curlTakesAnotherNameInASecondHandshake() async throws {
        let run = try await ProbeTrial(
            .renegotiateOtherName, chains.rsa, second: chains.wrongName,
            "curl -sS -m 10 --cacert CA --tls-max 1.2 https://localhost:PORT/")
        #expect(run.verdict() == .accepted, "\(run.seen) \(run.client)")
        #expect(run.client.output.contains(ProbeTrial.token))
    }

    @Test
    func aClientThatSpeaksNoTLS12HasNoSecondHandshake() async throws {
        let run = try await ProbeTrial(
            .renegotiateOtherName, chains.rsa, second: chains.wrongName,
            "curl -sS -m 10 --cacert CA --tlsv1.3 https://localhost:PORT/")
        #expect(run.verdict() == .notOffered, "\(run.seen) \(run.client)")
    }

    // MARK: Redirections

    @Test(arguments: [
        ("-L", ProbeBehaviour.redirectToHTTP, ConnectionVerdict?.some(.accepted)),
        ("", .redirectToHTTP, nil),
        ("-L -u someone:secret", .redirectWithCredentials, .refused(alert: nil)),
        ("-L -b LAB/cookies", .redirectWithCredentials, .refused(alert: nil)),
        // Told to bring a header along wherever it goes.
        (
            "-L -H x-a:b -H authorization:secret --location-trusted", .redirectWithCredentials,
            .accepted
        ),
    ])
    func aRedirectionLeadsToClear(
        options: String, behaviour: ProbeBehaviour, followed: ConnectionVerdict?
    ) throws {
        var description = ProbeDescription(identifier: "redirection", family: .plaintext)
        description.behaviour = behaviour
        let probe = description
        // Not localhost: there curl takes a connection in cleartext for secure.
        var made = ProbeTrial.configuration()
        made.host = "shop.test"
        let configuration = made
        let plan = try #require(ProbeMachines.followUp(of: probe, configuration))
        let clear = try ProbeServer { _ in
            ProbeMachines.makeMachine(probe, following: plan, configuration)
        }
        let chain = chains.rsa
        let secure = try ProbeServer { _ in
            try ProbeMachines.makeMachine(probe, chain, configuration)
        }
        defer {
            clear.stop()
            secure.stop()
        }
        let words =
            "curl -sS -m 10 -k \(options)"
            + " --connect-to shop.test:80:127.0.0.1:\(clear.port)"
            + " --connect-to shop.test:443:127.0.0.1:\(secure.port) https://shop.test/"
        let client = try ClientRun(
            words.replacingOccurrences(of: "LAB", with: chains.folder.path)
                .split(separator: " ").map(String.init))
        let seen = try secure.observations()[0]
        #expect(seen.acceptedBytes == 0 && seen.hasDeclined, "\(seen) \(client)")
        if let followed {
            let verdict = ConnectionRule.judge(try clear.observations()[0], speaksFirst: true)
            #expect(verdict == followed, "\(client)")
        }
    }
}
