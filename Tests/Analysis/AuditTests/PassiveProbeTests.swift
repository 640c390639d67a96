import Base
import Catalogue
import Proxy
import TLS
import Testing

@testable import Audit

/// Passive probes take no connection: the sound server's is enough.
struct PassiveProbeTests {
    private let bench: ProbeBench
    private let probes: [ProbeDescription]

    init() throws {
        bench = try ProbeBench()
        probes = try AuditSelection.probes(
            of: bench.catalogue, profile: .full,
            named: ["passive-*", "plaintext-initial-http", "trust-self-signed"])
    }

    private func passive(_ results: [AuditResult]) -> [AuditResult] {
        results.filter { $0.probe.trait != nil }
    }

    /// A client that takes the sound server and sends a request.
    private func visit(_ prober: any Prober, port: UInt16 = 443, listener: UInt16 = 1) throws {
        let visit = try bench.visit(port, MemoryClient.hello(), listener: listener)
        let machine = try #require(prober.probe(for: visit))
        let client = MemoryClient(machine)
        client.handshake()
        client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        machine.noteEnd(.closed)
    }

    @Test func areJudgedOfTheSoundServersConnection() throws {
        let slot = try bench.slot(AuditLedger.control)
        try visit(slot)
        let ledger = AuditLedger(client: "test")
        let seen = try #require(slot.seen[ProbeBench.destination])
        let control = ledger.judge(slot.probe, at: ProbeBench.destination, seen, run: nil)
        ledger.note(control, seen, at: ProbeBench.destination)
        #expect(control.outcome == .accepted)
        for probe in probes where probe.family == .passive {
            let result = try #require(ledger.foregone(probe, at: ProbeBench.destination))
            #expect(result.outcome == .shown || result.outcome == .notShown, "\(result)")
            #expect(result.connections == [7])
        }
        let named = try bench.probe("passive-no-server-name")
        #expect(ledger.foregone(named, at: ProbeBench.destination)?.outcome == .notShown)
    }

    @Test(arguments: [
        (true, UInt16(80), ProbeOutcome.shown), (true, 8080, .notShown), (false, 80, .notPossible),
    ])
    func seeWhatIsSaidInClear(_ seesClear: Bool, _ port: UInt16, _ outcome: ProbeOutcome) throws {
        let slot = try bench.slot(AuditLedger.control)
        #expect(slot.probe(for: try bench.visit(port, nil)) == nil)
        try visit(slot)
        let ledger = AuditLedger(client: "test", seesClear: seesClear)
        let probe = try bench.probe("plaintext-initial-http")
        if seesClear {
            #expect(ledger.foregone(probe, at: ProbeBench.destination)?.outcome == .notSeen)
        }
        ledger.note(clearHosts: slot.clearHosts)
        let seen = try #require(slot.seen[ProbeBench.destination])
        #expect(slot.seen.count == 1)
        ledger.note(
            ledger.judge(slot.probe, at: ProbeBench.destination, seen, run: nil), seen,
            at: ProbeBench.destination)
        #expect(ledger.foregone(probe, at: ProbeBench.destination)?.outcome == outcome)
    }

    @Test func areNotSeenWithoutAHandshake() throws {
        let ledger = AuditLedger(client: "test")
        let control = try bench.probe(AuditLedger.control)
        let silent = ProbeObservation()
        ledger.note(
            ledger.judge(control, at: ProbeBench.destination, [silent], run: nil), [silent],
            at: ProbeBench.destination)
        let result = try ledger.foregone(
            bench.probe("passive-rc4-suites"), at: ProbeBench.destination)
        #expect(result?.outcome == .notSeen && result?.verdict == .inconclusive)
    }

    /// Who comes once has shown all that there is to see.
    @Test func areKnownAfterOneConnectionThroughTheProxy() throws {
        let schedule = ListenSchedule(probes, bench.presenter, now: { 0 }, concerns: { _ in true })
        try visit(schedule)
        #expect(schedule.results.map(\.probe.identifier).contains(AuditLedger.control))
        #expect(passive(schedule.results).count == ClientTrait.allCases.count)
        #expect(schedule.progress.map(\.doneCount) == [1 + ClientTrait.allCases.count])
        // One passes, and the next is shown what needs a connection.
        #expect(schedule.probe(for: try bench.visit(443, MemoryClient.hello())) == nil)
        let next = try #require(schedule.probe(for: bench.visit(443, MemoryClient.hello())))
        #expect(next.identifier == "trust-self-signed")
    }

    @Test func haveNoPortOfTheirOwn() throws {
        let prober = ServeProber(probes, bench.presenter)
        #expect(prober.shown.map(\.identifier) == ["control-good", "trust-self-signed"])
        prober.open(at: [9_000, 9_001])
        try visit(prober, listener: 9_000)
        #expect(passive(prober.results(client: "test")).count == ClientTrait.allCases.count)
    }

    /// A client that answers a certificate is followed while its list is asked for.
    @Test func aListThatIsAskedForKeepsItsProbeOpen() throws {
        let schedule = ListenSchedule(
            [try bench.probe(AuditLedger.control), try bench.probe("revocation-crl")],
            bench.presenter, now: { 0 }, concerns: { _ in true })
        try visit(schedule)
        #expect(schedule.probe(for: try bench.visit(443, MemoryClient.hello())) == nil)
        let secure = try #require(schedule.probe(for: bench.visit(443, MemoryClient.hello())))
        let client = MemoryClient(secure)
        client.handshake()
        let clear = try #require(schedule.probe(for: bench.visit(80, nil)))
        clear.receive(Array("GET /sallyport.crl HTTP/1.1\r\n\r\n".utf8).span)
        clear.noteEnd(.ours)
        client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        secure.noteEnd(.closed)
        let result = try #require(schedule.results.last)
        #expect(result.probe.identifier == "revocation-crl" && result.outcome == .accepted)
        #expect(result.hasFetchedStatus == true && result.connections == [7, 7])
        #expect(schedule.progress.map(\.doneCount) == [2])
    }
}
