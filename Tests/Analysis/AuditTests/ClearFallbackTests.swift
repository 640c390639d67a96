import Catalogue
import Proxy
import Synchronization
import TLS
import Testing

@testable import Audit

/// Requests in cleartext beside a probe: those of a client that goes on without TLS when TLS has failed,
/// and those that say nothing of it.
struct ClearFallbackTests {
    private let bench: ProbeBench

    init() throws { bench = try ProbeBench() }

    /// What a client does on one connection.
    enum Step: Sendable {
        /// Ends where it is shown the certificate.
        case refuse
        case accept
        case clear(String, port: UInt16 = 80)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var probe = "trust-self-signed"
        /// What it does while the server is sound.
        var sound: [Step] = [.accept]
        /// What it does when it is shown the probe.
        let flawed: [Step]
        let outcome: ProbeOutcome
    }

    private static func get(_ path: String) -> String {
        "GET \(path) HTTP/1.1\r\nhost: localhost\r\n\r\n"
    }
    private static let request = Step.clear(get("/"))

    static let rows = [
        Row(
            testDescription: "goes on in cleartext", flawed: [.refuse, request], outcome: .inClear),
        Row(
            testDescription: "goes on in cleartext at the same port",
            flawed: [.refuse, .clear(get("/"), port: 443)], outcome: .inClear),
        Row(
            testDescription: "goes on in cleartext in another protocol, at the same port",
            flawed: [.refuse, .clear("PING\r\n", port: 443)], outcome: .inClear),
        Row(
            testDescription: "goes on in cleartext with a probe that publishes a status",
            probe: "revocation-crl", flawed: [.refuse, request], outcome: .inClear),
        Row(
            testDescription: "asks for something else in cleartext than when all is well",
            sound: [.accept, .clear(get("/version"))],
            flawed: [.refuse, .clear(get("/login?password=secret"))], outcome: .inClear),
        Row(
            testDescription: "asks for the same in cleartext when all is well",
            sound: [.accept, .clear(get("/version?at=1"))],
            flawed: [.refuse, .clear(get("/version?at=2"))], outcome: .refused),
        Row(
            testDescription: "begins in cleartext when all is well",
            sound: [request, .accept], flawed: [request, .refuse, request], outcome: .refused),
        Row(
            testDescription: "speaks in cleartext before it speaks TLS",
            flawed: [request, .refuse], outcome: .refused),
        Row(
            testDescription: "takes the flawed server and asks in cleartext besides",
            flawed: [.accept, request], outcome: .accepted),
        Row(
            testDescription: "asks whether a certificate is revoked",
            flawed: [.refuse, .clear(get("/roots/current.crl"))], outcome: .refused),
        Row(
            testDescription: "fetches the issuer",
            flawed: [.refuse, .clear(get("/issuer.CER"))], outcome: .refused),
        Row(
            testDescription: "asks by OCSP",
            flawed: [
                .refuse,
                .clear(
                    "POST / HTTP/1.1\r\ncontent-type: application/ocsp-request\r\n"
                        + "content-length: 1\r\n\r\na"),
            ], outcome: .refused),
        Row(
            testDescription: "comes by SSH", flawed: [.refuse, .clear("SSH-2.0-x\r\n", port: 22)],
            outcome: .refused),
        Row(
            testDescription: "begins TLS with what cannot be read",
            flawed: [.refuse, .clear("\u{16}\u{03}\u{01}\u{00}\u{01}\u{07}", port: 443)],
            outcome: .refused),
        Row(
            testDescription: "opens a connection and says nothing",
            flawed: [.refuse, .clear("")], outcome: .refused),
    ]

    @Test(arguments: rows) func tellsAFallback(row: Row) throws {
        let ledger = AuditLedger(client: "test")
        let control = try bench.slot(AuditLedger.control)
        let result = try judge(row.sound, control, ledger)
        #expect(result.outcome == .accepted)
        #expect(try judge(row.flawed, bench.slot(row.probe), ledger).outcome == row.outcome)
    }

    /// A client that refuses the sound server, too, and goes on in cleartext, is no less of one.
    @Test func seesAFallbackFromASoundServer() throws {
        let ledger = AuditLedger(client: "test")
        let control = try bench.slot(AuditLedger.control)
        let result = try judge([.refuse, Self.request], control, ledger)
        #expect(result.outcome == .inClear && result.isSecondTry)
        #expect(Diagnosis.all(in: [result]).map(\.mistake) == [.fallbackToClear])
    }

    /// A client that waits for `--listen` to show it one probe after the other.
    @Test(arguments: [
        (UInt64(1), false, true), (60_000, false, false), (1, true, false),
    ])
    func tellsAFallbackThroughTheProxy(
        _ later: UInt64, _ hasPassed: Bool, _ isFallback: Bool
    ) throws {
        let clock = Clock()
        let schedule = ListenSchedule(
            [try bench.probe(AuditLedger.control), try bench.probe("trust-self-signed")],
            bench.presenter, now: { clock.now }, concerns: { _ in true })
        #expect(try take(.accept, schedule))
        #expect(try !take(.accept, schedule))
        #expect(try take(.refuse, schedule))
        if hasPassed { #expect(try !take(.accept, schedule)) }
        clock.advance(by: later)
        #expect(try take(Self.request, schedule) == isFallback)
        #expect(schedule.results.last?.outcome == (isFallback ? .inClear : .refused))
        #expect(schedule.progress.map(\.failureCount) == [isFallback ? 1 : 0])
    }

    @Test func leavesAClientThatSpeaksInClearByItself() throws {
        let schedule = ListenSchedule(
            [try bench.probe(AuditLedger.control), try bench.probe("trust-self-signed")],
            bench.presenter, now: { 0 }, concerns: { _ in true })
        #expect(try !take(Self.request, schedule))
        #expect(try take(.accept, schedule))
        #expect(try !take(.accept, schedule))
        #expect(try take(.refuse, schedule))
        #expect(try !take(Self.request, schedule))
        #expect(schedule.results.last?.outcome == .refused)
    }

    /// Each port of `--serve` is one probe's, by whatever name it is come to.
    @Test func tellsAFallbackAtTheProbesPort() throws {
        let prober = ServeProber(
            [try bench.probe(AuditLedger.control), try bench.probe("trust-self-signed")],
            bench.presenter)
        prober.open(at: [9_000, 9_001])
        #expect(try take(.accept, prober, listener: 9_000))
        #expect(try take(.refuse, prober, listener: 9_001))
        #expect(try take(.clear(Self.get("/"), port: 443), prober, listener: 9_001, "127.0.0.1"))
        #expect(prober.results(client: "test").last?.outcome == .inClear)
    }

    private func judge(
        _ steps: [Step], _ slot: ProbeSlot, _ ledger: AuditLedger
    ) throws -> AuditResult {
        for step in steps { _ = try take(step, slot) }
        ledger.note(clearHosts: slot.clearHosts)
        let seen = slot.seen[ProbeBench.destination] ?? []
        let result = ledger.judge(
            slot.probe, at: ProbeBench.destination, seen, run: ProbeRun(exitStatus: 0))
        ledger.note(result, seen, at: ProbeBench.destination)
        return result
    }

    /// - Returns: whether the prober served it.
    private func take(
        _ step: Step, _ prober: any Prober, listener: UInt16 = 1, _ host: String = ProbeBench.host
    ) throws -> Bool {
        switch step {
        case .refuse, .accept:
            let visit = try bench.visit(443, MemoryClient.hello(), listener: listener)
            guard let machine = prober.probe(for: visit) else { return false }
            let client = MemoryClient(machine)
            if case .accept = step {
                client.handshake()
                client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
            } else {
                _ = client.session.handshake()
                client.carry()
            }
            machine.noteEnd(.closed)
        case .clear(let text, let port):
            let visit = try bench.visit(port, nil, listener: listener, host: host)
            guard let machine = prober.probe(for: visit) else { return false }
            machine.receive(Array(text.utf8).span)
            // That is what only the probe's own server says.
            #expect(machine.takeOutgoing().firstRange(of: Array("token".utf8)) == nil)
            machine.noteEnd(.closed)
        }
        return true
    }
}

private final class Clock: Sendable {
    private let time = Mutex<UInt64>(0)

    var now: UInt64 { time.withLock { $0 } }
    func advance(by milliseconds: UInt64) { time.withLock { $0 += milliseconds } }
}
