import Base
import TLS
import Testing

@testable import Catalogue

struct BuiltInChainTests {
    @Test func survey() throws {
        let laboratory = try ChainLaboratory.shared.get()
        for probe in Catalogue.builtIn().entries where !probe.chain.isEmpty {
            if probe.identifier == "control-leaf-rsa8192" { continue }
            let host = ChainLaboratory.host(for: probe)
            do {
                let chain = try laboratory.present(probe, host: host)
                let v = try laboratory.verify(chain, host: host)
                let line = v.output.split(separator: "\n").first { $0.hasPrefix("error") } ?? "-"
                print("S", probe.identifier, probe.expectation, chain.certificates.count, v.status, line)
            } catch { print("S", probe.identifier, "THROWN", error) }
        }
    }
}
