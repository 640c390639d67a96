import Base
import Origins
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Certificates of clients: ours towards origins, and theirs towards us.
    @Suite struct ClientCertificates {
        private static func identity() throws -> ClientIdentity {
            let folder = try TemporaryFolder()
            let place = "\(folder.path)/ca"
            _ = try CertificateAuthority.open(folder: place, label: "Client")
            let pem = try Files.read("\(place)/ca.pem") + Files.read("\(place)/ca.key")
            return try ClientIdentity.read(pem, name: "identity", passwords: [])
        }

        struct Row: CustomTestStringConvertible, Sendable {
            let name: String
            var host = "localhost"
            /// What the client asks the proxy for; it names `localhost` in SNI.
            var asked = "localhost"
            var versions = TLSVersions(.tls13, .tls13)
            var isTrusted = true
            var servesUnverified = false
            var isShown = true

            var testDescription: String { name }
        }

        static let rows = [
            Row(name: "TLS 1.3"),
            Row(name: "TLS 1.2", versions: TLSVersions(.tls12, .tls12)),
            Row(name: "of all hosts", host: "*"),
            Row(name: "for another host", host: "*.localhost", isShown: false),
            Row(name: "an impostor", isTrusted: false, isShown: false),
            Row(name: "by address, with a name that it proves", asked: "127.0.0.1"),
            Row(
                name: "an impostor that is served", isTrusted: false, servesUnverified: true),
            Row(
                name: "an impostor that SNI alone names", asked: "127.0.0.1", isTrusted: false,
                servesUnverified: true, isShown: false),
        ]

        @Test(arguments: rows)
        func isShownToItsHostAlone(_ row: Row) throws {
            let identity = try Self.identity()
            let host = try #require(HostPattern(row.host))
            let change = PlanChange {
                $0.policy.originTrust.identities = [OriginIdentity(identity, for: host)]
                $0.policy.originTrust.servesUnverified = row.servesUnverified
                if !row.isTrusted { $0.policy.originTrust.extraAuthorities = [] }
            }
            try withProxy(change) { proxy in
                let origin = try proxy.origin { wire, number in
                    let context = TLSServerContext(
                        authority: TestAuthority.origin, versions: row.versions,
                        ticketKey: [UInt8](repeating: 1, count: 80))
                    let session = context.makeSession(
                        for: "localhost", protocols: ["http/1.1"], asksForCertificate: true)
                    try wire.secure(session)
                    let shown = session.clientChain.first == identity.certificates.first?.der
                    try check(shown == row.isShown, "shown: \(shown), connection \(number)")
                    try wire.greet()
                }
                for number in 1...2 {
                    // The second one resumes the session, if there is one.
                    let client = try proxy.tunnel(to: "\(row.asked):\(origin.port)")
                    try client.secure(ProxyUnderTest.clientSession(for: "localhost"))
                    let isServed = row.isTrusted || row.servesUnverified
                    #expect(try client.get("/").status == (isServed ? 200 : 502))
                    client.close()
                    let record = try proxy.traffic.connection(number - 1)
                    #expect(record.originTLS?.chain.isEmpty == false)
                    guard record.originTLS?.resumed == false else { continue }
                    let shown = row.isShown ? identity.certificates.map(\.der) : []
                    #expect(record.originTLS?.clientChain == shown)
                    let detail = record.notes.first {
                        $0.code == "origin-asked-for-certificate"
                    }?.detail
                    let saysNone = detail?.contains("was shown none")
                    #expect(saysNone == !row.isShown)
                }
            }
        }

        @Test(
            arguments: [TLSVersions(.tls12, .tls12), TLSVersions(.tls13, .tls13)], [true, false])
        func isAskedForAndRecorded(_ versions: TLSVersions, hasOne: Bool) throws {
            let identity = try Self.identity()
            let hosts = [try #require(HostPattern("localhost"))]
            try withProxy(PlanChange { $0.policy.asksForCertificates = hosts }) { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.tunnel(to: origin.authority)
                let session = ProxyUnderTest.clientSession(for: "localhost", versions: versions)
                if hasOne { session.identity = identity }
                try client.secure(session)
                #expect(session.wantsCertificate)
                #expect(try client.get("/").status == 200)
                client.close()
                let record = try proxy.traffic.connection()
                #expect(
                    record.clientTLS?.clientChain
                        == (hasOne ? identity.certificates.map(\.der) : []))
                let detail = record.notes.first { $0.code == "client-certificate" }?.detail
                let saysProved = detail?.contains("and proved to have its key")
                #expect(saysProved == (hasOne ? true : nil))
            }
        }

        @Test func isNotAskedForElsewhere() throws {
            let hosts = [try #require(HostPattern("*.localhost"))]
            try withProxy(PlanChange { $0.policy.asksForCertificates = hosts }) { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.tunnel(to: origin.authority)
                let session = ProxyUnderTest.clientSession(for: "localhost")
                try client.secure(session)
                #expect(!session.wantsCertificate)
                #expect(try client.get("/").status == 200)
            }
        }
    }
}
