import Audit
import Base
import Catalogue
import Proxy
import Sockets
import Synchronization
import TLS
import Testing
import Traffic

@Suite struct ListenScheduleTests {
    /// Who speaks: the program if it is known, and the address.
    struct Client: Sendable {
        var program: String?
        var address = "127.0.0.1"
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let first: Client
        let second: Client
        /// What a connection in cleartext of the second client is shown, after the first has been shown
        /// two probes and the second one.
        let followed: String?
    }

    static let rows = [
        Row(
            testDescription: "two programs", first: Client(program: "/usr/bin/curl"),
            second: Client(program: "/usr/bin/wget"), followed: "control-good"),
        Row(
            testDescription: "two addresses", first: Client(address: "192.0.2.1"),
            second: Client(address: "192.0.2.2"), followed: "control-good"),
        Row(
            testDescription: "one program from two addresses",
            first: Client(program: "/usr/bin/curl", address: "192.0.2.1"),
            second: Client(program: "/usr/bin/curl", address: "192.0.2.2"),
            followed: "name-wrong-host"),
    ]

    /// Connections in cleartext belong to the probe that the same client was shown last, not to that of
    /// another who asks for the same host.
    @Test(arguments: rows) func followsEachClient(row: Row) throws {
        let clients = Clients()
        let schedule = clients.makeSchedule()
        // One probe, a connection that passes, the next probe.
        try clients.show(row.first, schedule)
        #expect(try schedule.probe(for: clients.visit(row.first, isClear: false)) == nil)
        try clients.show(row.second, schedule)
        if row.followed == "control-good" { try clients.show(row.first, schedule) }
        let followUp = schedule.probe(for: try clients.visit(row.second, isClear: true))
        #expect(followUp?.identifier == row.followed)
    }

    /// A client that comes no more has passed nothing of what it was not shown.
    @Test func leavesNothingOut() throws {
        let clients = Clients()
        let schedule = clients.makeSchedule()
        let client = Client(program: "/usr/bin/curl")
        _ = schedule.probe(for: try clients.visit(client, isClear: false))
        #expect(schedule.results.map(\.outcome) == [.inconclusive, .inconclusive])
        clients.shown.takeReport()(ShownProbe.acceptance)
        #expect(schedule.results.map(\.outcome) == [.accepted, .inconclusive])
        #expect(schedule.results.map(\.probe.identifier) == ["control-good", "name-wrong-host"])
    }

    @Test func followsNobodyElse() throws {
        let clients = Clients()
        let schedule = clients.makeSchedule()
        try clients.show(Client(program: "/usr/bin/curl"), schedule)
        let stranger = try clients.visit(Client(program: "/usr/bin/wget"), isClear: true)
        #expect(schedule.probe(for: stranger) == nil)
    }
}

/// Clients that come for probes, on no sockets.
private struct Clients {
    let shown = ShownProbes()

    func makeSchedule() -> ListenSchedule {
        ListenSchedule(ShownProbes.pair, shown, now: { 0 }, concerns: { _ in true })
    }

    func visit(_ client: ListenScheduleTests.Client, isClear: Bool) throws -> ProbeVisit {
        let hello = try ClientHelloReader.read(MemoryClient.hello().span)
        let peer = try #require(SocketAddress(literal: client.address, port: 50_000))
        let listener = try #require(SocketAddress(literal: "127.0.0.1", port: 8080))
        return ProbeVisit(
            connection: 1, peer: peer, listener: listener,
            process: client.program.map { ProcessRecord(id: 7, executable: $0, commandLine: []) },
            host: "localhost", port: isClear ? 80 : 443, hello: isClear ? nil : hello)
    }

    /// A connection that takes what it is shown.
    func show(_ client: ListenScheduleTests.Client, _ schedule: ListenSchedule) throws {
        _ = try #require(schedule.probe(for: visit(client, isClear: false)))
        shown.takeReport()(ShownProbe.acceptance)
    }
}
