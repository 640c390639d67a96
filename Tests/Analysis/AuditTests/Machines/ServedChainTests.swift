import Audit
import Catalogue
import TLS
import TestConditions
import Testing

/// Chains that are served without a fault in the handshake.
@Suite(.serialized, .ownThread)
struct ServedChainTests {
    private let chains = ProbeChains.shared

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let chain: @Sendable (ProbeChains) -> PresentedChain
        let command: String
        let verdict: ConnectionVerdict
        let status: Int32?
        var testDescription: String { name }
    }

    private static let curl = "curl -sS -m 10 --cacert CA https://localhost:PORT/"

    @Test(arguments: [
        Row(name: "sound RSA", chain: { $0.rsa }, command: curl, verdict: .accepted, status: 0),
        Row(name: "sound EC", chain: { $0.ec }, command: curl, verdict: .accepted, status: 0),
        Row(
            name: "TLS 1.2", chain: { $0.rsa }, command: curl + " --tls-max 1.2",
            verdict: .accepted, status: 0),
        Row(
            name: "who checks nothing", chain: { $0.selfSigned }, command: curl + " -k",
            verdict: .accepted, status: 0),
        Row(
            name: "self-signed", chain: { $0.selfSigned }, command: curl,
            verdict: .refused(alert: 48), status: 60),
        Row(
            name: "expired", chain: { $0.expired }, command: curl,
            verdict: .refused(alert: 45), status: 60),
        Row(
            name: "wrong name, refused late", chain: { $0.wrongName }, command: curl,
            verdict: .refusedLate, status: 60),
        Row(
            name: "wrong name, refused late in TLS 1.2", chain: { $0.wrongName },
            command: curl + " --tls-max 1.2", verdict: .refusedLate, status: 60),
    ])
    func curlJudges(_ row: Row) async throws {
        let run = try await ProbeTrial(.serve, row.chain(chains), row.command)
        #expect(run.verdict() == row.verdict, "\(run.seen) \(run.client)")
        #expect(run.client.status == row.status)
        if row.verdict == .accepted {
            #expect(run.client.output.contains(ProbeTrial.token))
            #expect(run.seen[0].firstBytes.starts(with: Array("GET / HTTP/1.1".utf8)))
        }
        #expect(run.seen[0].end != nil)
    }

    @Test
    func theAnswerComesInHTTP2() async throws {
        let run = try await ProbeTrial(
            .serve, chains.rsa,
            "curl -sS -m 10 --cacert CA --http2-prior-knowledge https://localhost:PORT/")
        #expect(run.verdict() == .accepted)
        #expect(run.client.output.contains(ProbeTrial.token), "\(run.client)")
    }

    @Test
    func aBodyIsReadBeforeTheAnswer() async throws {
        let run = try await ProbeTrial(
            .serve, chains.rsa,
            "curl -sS -m 10 --cacert CA --data-binary @LAB/rsa.pem https://localhost:PORT/")
        #expect(run.client.status == 0)
        #expect(run.seen[0].firstBytes.count > 1000)
    }

    @Test
    func aClientThatWaitsIsGreeted() async throws {
        let run = try await ProbeTrial(
            .serve, chains.ec, greeting: .imap,
            "curl -sS -m 10 -k imaps://localhost:PORT/INBOX -u someone:secret")
        #expect(run.verdict() == .accepted, "\(run.seen)")
        #expect(run.seen[0].hasGreeted)
    }

    @Test
    func aClientThatSaysNothingIsInconclusive() async throws {
        let run = try await ProbeTrial(
            .serve, chains.ec, patience: 300, input: "",
            "openssl s_client -quiet -connect 127.0.0.1:PORT")
        guard case .inconclusive = run.verdict() else {
            Issue.record("\(run.seen)")
            return
        }
        #expect(run.seen[0].wasIdle)
        #expect(run.seen[0].lateness ?? 0 >= 250)
    }
}
