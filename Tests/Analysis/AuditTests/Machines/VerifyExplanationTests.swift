import Base
import Catalogue
import TLS
import Testing

/// What a chain says of its own flaw.
struct VerifyExplanationTests {
    private static let bench = Result { try ProbeBench() }

    @Test(arguments: [
        ("name-wrong-host", "hostname mismatch: it is for DNS:other.example"),
        (
            "name-cn-only",
            "hostname mismatch: it has no alternative names, and a common name does not count"
        ),
        ("name-null-byte-san", "hostname mismatch"),
        ("time-expired", "certificate has expired: it ended on 20"),
        ("time-not-yet-valid", "certificate is not yet valid: it begins on 20"),
        ("trust-unknown-root-omitted", ": it was issued by "),
        ("trust-self-signed", "self-signed certificate"),
    ])
    func namesTheCause(_ identifier: String, _ words: String) throws {
        let bench = try Self.bench.get()
        let host = "www.shop.probe.test"
        let context = TLSClientContext(
            versions: .modern, extraAuthorities: [bench.authority], trustsSystem: false)
        let hello = MemoryClient.hello(in: context, for: host)
        let visit = try bench.visit(443, hello, listener: 443, host: host)
        let machine = try #require(try bench.machine(bench.probe(identifier), for: visit))
        let client = MemoryClient(machine, in: context, for: host)
        #expect(client.handshake() == .done)
        let error = try #require(client.session.verifyError)
        let text = VerifyExplanation.text(error, chain: client.session.peerChain)
        #expect(text.contains(words), "\(text)")
        #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(text.utf8.count < 250)
        // Another CA mends nothing but that nobody vouches for it.
        #expect(VerifyExplanation.isOfTrust(error) == identifier.hasPrefix("trust-"))
    }

    @Test(arguments: [[], [[UInt8]()], [[0x30, 0x03, 1, 2, 3]]] as [[[UInt8]]])
    func leavesTheErrorAlone(_ chain: [[UInt8]]) {
        #expect(VerifyExplanation.text("hostname mismatch", chain: chain) == "hostname mismatch")
    }
}
