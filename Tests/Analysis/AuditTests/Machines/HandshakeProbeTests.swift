import Audit
import Catalogue
import TLS
import TestConditions
import Testing

/// Faults in the handshake, with chains that are sound.
@Suite(.serialized, .ownThread)
struct HandshakeProbeTests {
    private let chains = ProbeChains.shared

    struct Row: Sendable, CustomTestStringConvertible {
        let behaviour: ProbeBehaviour
        var isRSA = true
        var options = ""
        let verdict: ConnectionVerdict
        var testDescription: String { "\(behaviour) \(isRSA ? "RSA" : "EC") \(options)" }
    }

    static let rows: [Row] = [
        Row(behaviour: .gotoFail, verdict: .refused(alert: 51)),
        Row(behaviour: .gotoFail, isRSA: false, verdict: .refused(alert: 51)),
        Row(behaviour: .gotoFail, options: "--tls-max 1.2", verdict: .refused(alert: 51)),
        Row(
            behaviour: .gotoFail, isRSA: false, options: "--tls-max 1.2",
            verdict: .refused(alert: 51)),
        Row(behaviour: .gotoFail, options: "-k", verdict: .refused(alert: 51)),
        Row(behaviour: .corruptCertificateVerify, verdict: .refused(alert: 51)),
        Row(behaviour: .corruptCertificateVerify, isRSA: false, verdict: .refused(alert: 51)),
        Row(
            behaviour: .corruptCertificateVerify, options: "--tls-max 1.2",
            verdict: .refused(alert: 51)),
        Row(
            behaviour: .corruptCertificateVerify, isRSA: false, options: "--tls-max 1.2",
            verdict: .refused(alert: 51)),
        Row(behaviour: .wrongFinished, verdict: .refused(alert: 51)),
        Row(behaviour: .wrongFinished, isRSA: false, verdict: .refused(alert: 51)),
        Row(behaviour: .wrongFinished, options: "--tls-max 1.2", verdict: .refused(alert: 51)),
        Row(
            behaviour: .wrongFinished, isRSA: false, options: "--tls-max 1.2",
            verdict: .refused(alert: 51)),
        Row(behaviour: .flippedServerKeyExchange, verdict: .refused(alert: 51)),
        Row(behaviour: .downgradeSentinel, verdict: .refused(alert: 47)),
        Row(behaviour: .downgradeSentinel, options: "--tls-max 1.2", verdict: .notOffered),
        Row(behaviour: .earlyChangeCipherSpec, verdict: .refused(alert: 10)),
        Row(behaviour: .heartbeat, verdict: .refused(alert: 10)),
        Row(behaviour: .tls10, verdict: .refused(alert: 80)),
        Row(behaviour: .tls10, options: "--tlsv1.2", verdict: .notOffered),
        Row(behaviour: .tls11, options: "--tlsv1.2", verdict: .notOffered),
        Row(behaviour: .tls12, verdict: .accepted),
        Row(behaviour: .staticRSA, verdict: .accepted),
        Row(behaviour: .staticRSA, options: "--tlsv1.3", verdict: .notOffered),
        Row(behaviour: .anonymous, verdict: .notOffered),
        Row(behaviour: .nullCipher, verdict: .notOffered),
        Row(behaviour: .smallGroup512, verdict: .refused(alert: 40)),
        Row(behaviour: .smallGroup768, verdict: .refused(alert: 40)),
        Row(behaviour: .smallGroup1024, verdict: .refused(alert: 40)),
        Row(behaviour: .skippedServerKeyExchange, verdict: .refused(alert: 10)),
        Row(behaviour: .skippedServerKeyExchange, isRSA: false, verdict: .refused(alert: 10)),
        Row(behaviour: .emptyCertificate, verdict: .refused(alert: 50)),
        Row(behaviour: .earlyFinished, verdict: .refused(alert: 10)),
        Row(behaviour: .changeCipherSpecFinished, verdict: .refused(alert: 10)),
        Row(behaviour: .exportKey, verdict: .refused(alert: 10)),
        Row(behaviour: .exportKey, options: "--tlsv1.3", verdict: .notOffered),
        Row(behaviour: .httpOnTLSPort, verdict: .refused(alert: nil)),
        Row(behaviour: .refuseTLS, verdict: .refused(alert: nil)),
        // Clients that take what no client should.
        Row(
            behaviour: .anonymous, options: "-k --ciphers ALL:aNULL:@SECLEVEL=0 --tls-max 1.2",
            verdict: .accepted),
        Row(
            behaviour: .nullCipher, options: "--ciphers ALL:eNULL:@SECLEVEL=0 --tls-max 1.2",
            verdict: .accepted),
        Row(
            behaviour: .tls10, options: "--ciphers ALL:@SECLEVEL=0 --tlsv1.0", verdict: .accepted),
        Row(
            behaviour: .tls11, options: "--ciphers ALL:@SECLEVEL=0 --tlsv1.0", verdict: .accepted),
        Row(
            behaviour: .smallGroup1024, options: "--ciphers ALL:@SECLEVEL=0 --tls-max 1.2",
            verdict: .accepted),
    ]

    @Test(arguments: rows)
    func curlJudges(_ row: Row) async throws {
        let run = try await ProbeTrial(
            row.behaviour, row.isRSA ? chains.rsa : chains.ec,
            "curl -sS -m 10 --cacert CA \(row.options) https://localhost:PORT/")
        #expect(run.verdict() == row.verdict, "\(run.seen) \(run.client)")
        #expect((run.client.status == 0) == (row.verdict == .accepted), "\(run.client)")
        #expect(run.machines[0].failure == nil)
    }
}
