import Audit
import Base
import Catalogue
import Proxy
import TLS
import Testing

/// The client that we are ourselves towards origins, shown every chain and fault of the catalogue:
/// what the audit asks of others holds for us.
@Suite(.serialized)
struct OriginLegTests {
    private static let bench = Result { try ProbeBench() }

    /// What a client that verifies may accept: sound servers, and what the specifications leave to
    /// clients or to the CAs.
    private static let accepted: Set<String> = [
        "control-leaf-ed25519", "trust-user-ca-pinning",
        "time-generalizedtime-before-2050", "time-no-well-defined-expiry",
        "time-validity-over-398-days", "time-validity-over-825-days",
        "purpose-eku-absent", "crypto-leaf-rsa-e3",
        "chain-12-intermediates", "chain-int-require-explicit-policy", "chain-leaf-is-ca",
        "chain-serial-zero", "chain-wrong-order",
        // Old origins have nothing else, and clients take it: see threat-model.md.
        "handshake-static-rsa-only",
        // Revocation is not asked for: see threat-model.md.
        "revocation-crl", "revocation-must-staple-no-staple", "revocation-ocsp-url",
    ]

    /// Faults that show later than in a handshake, or in what is not TLS.
    private static let others: Set<ProbeBehaviour> = [
        .renegotiateBadChain, .renegotiateOtherName, .heartbeat, .redirectToHTTP,
        .redirectWithCredentials, .stripStartTLS, .preauthenticated, .injectAfterStartTLS,
    ]

    /// All but one whose key takes a minute to make.
    private static let probes = Catalogue.builtIn().entries.filter {
        $0.trait == nil && !others.contains($0.behaviour) && $0.identifier != "control-leaf-rsa8192"
    }

    private static func host(for probe: ProbeDescription) -> String {
        switch probe.identifier {
        case "control-ip-ok", "chain-int-nc-ip-violated": "127.0.0.1"
        case "name-kelvin-sign-san": "bank.probe.test"
        case "name-wildcard-in-alabel": "xn--bcher-kva.shop.probe.test"
        case "name-wildcard-public-suffix": "probe-victim.test"
        case let name where name.hasPrefix("name-ip-"): "127.0.0.1"
        default: "www.shop.probe.test"
        }
    }

    @Test(arguments: probes.map(\.identifier), [TLSVersion.tls12, .tls13])
    func isAsStrictAsItAsksOthersToBe(_ identifier: String, _ highest: TLSVersion) throws {
        let bench = try Self.bench.get()
        let probe = try bench.probe(identifier)
        let host = Self.host(for: probe)
        let context = TLSClientContext(
            versions: TLSVersions(.tls12, highest), extraAuthorities: [bench.authority],
            trustsSystem: false)
        // A second connection may resume what was refused in the first.
        for connection in 0..<2 {
            let hello = MemoryClient.hello(in: context, for: host)
            guard
                let machine = try bench.machine(
                    probe, for: bench.visit(443, hello, listener: 443, host: host))
            else { return }
            let client = MemoryClient(machine, in: context, for: host)
            let isTaken = client.handshake() == .done && client.session.verifyError == nil
            let mayTake = probe.expectation == .accept || Self.accepted.contains(identifier)
            #expect(
                isTaken == mayTake,
                "connection \(connection): \(client.session.verifyError ?? "verifies")")
            _ = client.session.read(into: ByteBuffer(capacity: 100))
        }
    }
}
