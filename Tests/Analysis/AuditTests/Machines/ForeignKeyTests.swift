import Audit
import Base
import Catalogue
import Foundation
import Proxy
import TLS
import TestConditions
import Testing

/// Genuine chains with a key that is not theirs.
@Suite(.ownThread) struct ForeignKeyTests {
    /// Public certificates of some kinds of key, as far as this machine has them. The library serves
    /// those on curves in TLS 1.3 only, because they are for signing certificates.
    static let rows: [(path: String, version: TLSVersion)] = [
        ("ISRG_Root_X2", .tls13), ("GTS_Root_R4", .tls13),
        ("DigiCert_Global_Root_G2", .tls12), ("DigiCert_Global_Root_G2", .tls13),
        ("Amazon_Root_CA_1", .tls12), ("Amazon_Root_CA_1", .tls13),
    ].map { ("/etc/ssl/certs/\($0).pem", $1) }.filter { Files.exists($0.path) }

    @Test(arguments: rows)
    func aGenuineChainIsShownByteForByte(path: String, version: TLSVersion) throws {
        let genuine = try Certificate(pem: try Files.read(path), name: path)
        let issuer = ProbeChains.shared.ec.certificates[0]
        let chain = PresentedChain(certificates: [genuine, issuer], key: ProbeChains.shared.ec.key)
        var description = ProbeDescription(identifier: "goto-fail", family: .handshake)
        description.behaviour = .gotoFail
        let machine = try ProbeMachines.makeMachine(
            description, chain, ProbeTrial.configuration())
        let client = MemoryClient(machine, versions: TLSVersions(version, version))
        let progress = client.handshake()
        #expect(client.session.peerChain == [genuine.der, issuer.der])
        guard case .failed = progress else {
            Issue.record("the client took a signature of another key: \(progress)")
            return
        }
        machine.noteEnd(.closed)
        #expect(
            ConnectionRule.judge(machine.observation, speaksFirst: true) == .refused(alert: 51))
        #expect(machine.observation.sentCertificate)
    }
}
