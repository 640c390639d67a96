import Base
import Testing

@testable import TLS

struct TLSResumptionTests {
    private let laboratory: TLSLaboratory

    init() throws { laboratory = try TLSLaboratory() }

    private func connect(
        _ client: TLSClientContext, _ server: TLSServerContext, key: String = "a.test:443",
        readsTickets: Bool = true
    ) -> TLSPair {
        let pair = TLSPair(
            client: client.makeSession(
                verifying: "a.test", serverName: "a.test", protocols: [], resumptionKey: key),
            server: server.makeSession(for: "a.test", protocols: []))
        #expect(pair.handshake())
        if readsTickets {
            #expect(pair.transfer([1], from: pair.server, to: pair.client) == [1])
        }
        return pair
    }

    @Test(arguments: TLSSessionTests.rows)
    func resumesWithATicket(_ row: TLSSessionTests.Row) {
        let (client, server) = (
            laboratory.clientContext(row.versions), laboratory.serverContext(row.versions)
        )
        #expect(!connect(client, server).client.parameters.isResumed)
        for _ in 0..<3 {
            let pair = connect(client, server)
            #expect(pair.client.parameters.isResumed)
            #expect(pair.server.parameters.isResumed)
            #expect(pair.client.verifyError == nil)
            #expect(pair.client.peerChain.first == server.leaf(for: "a.test").der)
            #expect(pair.transfer([2, 3], from: pair.client, to: pair.server) == [2, 3])
        }
    }

    @Test(arguments: TLSSessionTests.rows)
    func keepsTicketsApartByKey(_ row: TLSSessionTests.Row) {
        let (client, server) = (
            laboratory.clientContext(row.versions), laboratory.serverContext(row.versions)
        )
        _ = connect(client, server, key: "a.test:443")
        #expect(!connect(client, server, key: "a.test:8443").client.parameters.isResumed)
        #expect(connect(client, server, key: "a.test:443").client.parameters.isResumed)
    }

    /// RFC 8446 §C.4: two connections with one ticket could be tied together.
    @Test(arguments: [(TLSVersions.only12, true), (.only13, false)])
    func usesATicketOnceInTLS13(_ versions: TLSVersions, secondResumes: Bool) {
        let (client, server) = (
            laboratory.clientContext(versions), laboratory.serverContext(versions)
        )
        _ = connect(client, server)
        let pairs = (0..<2).map { _ in
            TLSPair(
                client: client.makeSession(
                    verifying: "a.test", serverName: "a.test", protocols: [],
                    resumptionKey: "a.test:443"),
                server: server.makeSession(for: "a.test", protocols: []))
        }
        for pair in pairs { #expect(pair.handshake()) }
        #expect(pairs.map(\.client.parameters.isResumed) == [true, secondResumes])
    }

    @Test(arguments: TLSSessionTests.rows)
    func resumesOnAnotherLoopThatSharesTheKey(_ row: TLSSessionTests.Row) {
        let client = laboratory.clientContext(row.versions)
        _ = connect(client, laboratory.serverContext(row.versions))
        #expect(connect(client, laboratory.serverContext(row.versions)).client.parameters.isResumed)
        let stranger = laboratory.serverContext(
            row.versions, ticketKey: [UInt8](repeating: 1, count: 80))
        let pair = connect(client, stranger)
        #expect(!pair.client.parameters.isResumed)
        #expect(pair.client.verifyError == nil)
    }

    /// A resumed session has no certificate to look at: the first verdict stays.
    @Test(arguments: TLSSessionTests.rows)
    func keepsTheVerdictWhenItResumes(_ row: TLSSessionTests.Row) {
        let client = TLSClientContext(versions: row.versions, trustsSystem: false)
        let server = laboratory.serverContext(row.versions)
        let first = connect(client, server)
        #expect(first.client.verifyError != nil)
        let second = connect(client, server)
        #expect(second.client.parameters.isResumed)
        #expect(second.client.verifyError == first.client.verifyError)
    }

    @Test func startsAnewWhenTheCacheIsFull() {
        let (client, server) = (
            laboratory.clientContext(.only12), laboratory.serverContext(.only12)
        )
        _ = connect(client, server, key: "first")
        for number in 0..<2_048 {
            _ = connect(client, server, key: "\(number)", readsTickets: false)
        }
        #expect(!connect(client, server, key: "first").client.parameters.isResumed)
    }
}
