import Base
import TLS

@testable import Catalogue

/// An audit's CA, another one that stands for a public one, and an origin with a chain of that.
final class ChainLaboratory: Sendable {
    let folder = TemporaryFolder()
    let authority: AuditAuthority
    let issuer: ChainIssuer
    /// What the true origin presents.
    let origin: PresentedChain
    /// Both CAs, which the client trusts.
    let trustPath: String

    /// One for all tests, for its keys' sake.
    static let shared = Result { try ChainLaboratory() }

    init() throws {
        authority = try AuditAuthority.open(folder: folder.file("audit"))
        let keys = KeyCache(folder: folder.file("keys"))
        issuer = try ChainIssuer(authority: authority, keys: keys)
        let publicOne = try AuditAuthority.open(folder: folder.file("public"))
        let good = [CertificateRecipe(name: "leaf"), Self.intermediate].map { recipe in
            var recipe = recipe
            if recipe.name == "leaf" { recipe.issuer = .named("intermediate") }
            return recipe
        }
        origin = try ChainIssuer(authority: publicOne, keys: keys)
            .present(good, host: "www.shop.probe.test", origin: [])
        trustPath = folder.file("trust.pem")
        try Files.create(trustPath, authority.certificate.pem + publicOne.certificate.pem)
    }

    private static let intermediate = CertificateRecipe(name: "intermediate", role: .authority)

    func present(_ probe: ProbeDescription, host: String) throws(Failure) -> PresentedChain {
        try issuer.present(probe.chain, host: host, origin: origin.certificates)
    }

    /// A host for which a probe is possible.
    static func host(for probe: ProbeDescription) -> String {
        switch probe.identifier {
        case "control-ip-ok", "chain-int-nc-ip-violated": "127.0.0.1"
        case "name-kelvin-sign-san": "bank.probe.test"
        case "name-wildcard-in-alabel": "xn--bcher-kva.shop.probe.test"
        case "name-wildcard-public-suffix": "probe-victim.test"
        case let name where name.hasPrefix("name-ip-"): "127.0.0.1"
        default: "www.shop.probe.test"
        }
    }

    /// What the program `openssl` says of a chain.
    func verify(_ chain: PresentedChain, host: String) throws -> (status: Int32, output: String) {
        let place = folder.file(chain.certificates[0].fingerprint.hex)
        try Files.create(place + ".leaf", chain.certificates[0].pem)
        try Files.create(place + ".rest", chain.certificates.dropFirst().flatMap(\.pem))
        let trusted = try Files.read(trustPath) + chain.anchors.flatMap(\.pem)
        try Files.create(place + ".trust", trusted)
        let rest = chain.certificates.count > 1 ? "-untrusted \(place).rest" : ""
        let name = host.allSatisfy { $0.isNumber || $0 == "." } ? "-verify_ip" : "-verify_hostname"
        return shell(
            """
            openssl verify -auth_level 1 -purpose sslserver -CAfile \(place).trust -no-CApath \
            -no-CAstore \(rest) \(name) \(host) \(place).leaf
            """)
    }
}
