import Launching
import Sockets
import Testing

@testable import Runs

/// What makes a run without confinement inconclusive.
@Suite struct PastConnectionsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var host = "10.9.0.2"
        var program: String?
        var isLocal = false
        var expected: [String] = []
        var origins: Set<String> = []
        var countsLoopback = false
        /// What the reason ends with; `nil` for none.
        var reason: String?
    }

    @Test(arguments: [
        Row(
            testDescription: "the command's", program: "curl",
            reason: "1 connection went past, to 10.9.0.2:80 (curl)"),
        Row(
            testDescription: "one that may be the command's",
            reason: "1 connection ended too soon to tell whose it was, to 10.9.0.2:80"),
        Row(testDescription: "the same, as expected", expected: ["10.9.0.2:80"]),
        Row(testDescription: "the proxy's own", origins: ["10.9.0.2:80"]),
        Row(
            testDescription: "the command's, to an origin of the proxy's", program: "curl",
            origins: ["10.9.0.2:80"], reason: "to 10.9.0.2:80 (curl)"),
        Row(testDescription: "of this machine", host: "127.0.0.1", program: "psql", isLocal: true),
        Row(
            testDescription: "of this machine, which stands for others", host: "127.0.0.1",
            program: "psql", isLocal: true, countsLoopback: true,
            reason: "1 connection went past, to 127.0.0.1:80 (psql)"),
    ])
    func counts(_ row: Row) throws {
        let seen = PastWatch.Connections(
            remote: try #require(SocketAddress(literal: row.host, port: 80)),
            program: row.program, isLocal: row.isLocal, count: 1)
        let past = PastConnections(
            [seen], expected: row.expected.compactMap(PastPattern.init),
            countsLoopback: row.countsLoopback, origins: row.origins)
        #expect(past.wentPast?.hasSuffix(row.reason ?? "-") == (row.reason == nil ? nil : true))
    }
}
