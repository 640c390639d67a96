import Audit
import Base
import Catalogue
import Proxy
import Sockets
import Synchronization
import TLS
import Testing
import Traffic

@Suite struct ServeProberTests {
    /// One start of a program, and to which probes it came.
    struct Visit: Sendable {
        var executable: String? = "/usr/bin/curl"
        var address = "127.0.0.1"
        /// `{port}` stands for the probe's.
        var arguments: [String] = []
        var probes = ["control-good", "name-wrong-host"]
        /// Whether it takes the flawed server as well.
        var isCareless = false
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let visits: [Visit]
        var name: String?
        /// What each client is called, and what it made of the flawed server.
        let outcomes: [String: ProbeOutcome]
    }

    private static let url = "https://localhost:{port}/"

    static let rows = [
        Row(
            testDescription: "a careful program", visits: [Visit(arguments: [url])],
            outcomes: ["curl": .refused]),
        Row(
            testDescription: "it is named", visits: [Visit(arguments: [url])], name: "api",
            outcomes: ["api": .refused]),
        Row(
            testDescription: "two programs",
            visits: [
                Visit(arguments: [url]), Visit(executable: "/usr/bin/wget", isCareless: true),
            ], outcomes: ["curl": .refused, "wget": .accepted]),
        Row(
            testDescription: "two programs that are named",
            visits: [
                Visit(arguments: [url]), Visit(executable: "/usr/bin/wget", isCareless: true),
            ], name: "api", outcomes: ["api: curl": .refused, "api: wget": .accepted]),
        Row(
            testDescription: "one program with a careless option",
            visits: [Visit(arguments: [url]), Visit(arguments: ["-k", url], isCareless: true)],
            outcomes: ["curl": .refused, "curl -k": .accepted]),
        Row(
            testDescription: "two scripts of one interpreter",
            visits: [
                Visit(executable: "/usr/bin/python3", arguments: ["-u", "good.py", "{port}"]),
                Visit(
                    executable: "/usr/bin/python3", arguments: ["-u", "bad.py", "{port}"],
                    isCareless: true),
            ], outcomes: ["python3 good.py": .refused, "python3 bad.py": .accepted]),
        Row(
            testDescription: "one client whose arguments change with each run",
            visits: [
                Visit(arguments: ["-o", "/tmp/1", url], probes: ["control-good"]),
                Visit(arguments: ["-o", "/tmp/2", url], probes: ["name-wrong-host"]),
            ], outcomes: ["curl": .refused]),
        Row(
            testDescription: "nobody knows the program",
            visits: [Visit(executable: nil), Visit(executable: nil, address: "::1")],
            outcomes: ["client": .refused]),
        Row(
            testDescription: "two machines",
            visits: [
                Visit(executable: nil, address: "192.0.2.1"),
                Visit(executable: nil, address: "192.0.2.2", isCareless: true),
            ], outcomes: ["client 192.0.2.1": .refused, "client 192.0.2.2": .accepted]),
    ]

    @Test(arguments: rows) func tellsClientsApart(row: Row) throws {
        let counter = ServedPorts()
        let prober = counter.makeProber()
        // Twice, as clients should come that may end without a word.
        for visit in row.visits + row.visits { try counter.show(visit, prober) }
        let results = prober.results(client: row.name).filter {
            $0.probe.identifier == "name-wrong-host"
        }
        #expect(
            Dictionary(results.map { ($0.client, $0.outcome) }, uniquingKeysWith: { $1 })
                == row.outcomes)
        #expect(results.count == row.outcomes.count)
    }

    /// The program is looked for while the claim is asked for.
    @Test func claimsBeforeTheProgramIsKnown() throws {
        let counter = ServedPorts()
        let prober = counter.makeProber()
        let visit = try counter.visit(Visit(executable: nil), to: "control-good")
        #expect(prober.claim(visit) == .afterOpening)
        #expect(prober.results(client: nil).isEmpty)
    }
}

/// Ports of two probes, on no sockets.
private struct ServedPorts {
    private static let ports: KeyValuePairs<String, UInt16> = [
        "control-good": 9_000, "name-wrong-host": 9_001,
    ]
    private let shown = ShownProbes()

    func makeProber() -> ServeProber {
        let prober = ServeProber(ShownProbes.pair, shown)
        prober.open(at: Self.ports.map(\.value))
        return prober
    }

    func show(_ visit: ServeProberTests.Visit, _ prober: ServeProber) throws {
        for probe in visit.probes {
            _ = try #require(prober.probe(for: self.visit(visit, to: probe)))
            let takes = visit.isCareless || probe == "control-good"
            shown.takeReport()(takes ? ShownProbe.acceptance : ShownProbe.refusal)
        }
    }

    func visit(_ visit: ServeProberTests.Visit, to probe: String) throws -> ProbeVisit {
        let port = try #require(Self.ports.first { $0.key == probe }?.value)
        let arguments = visit.arguments.map {
            $0.split(separator: "{port}", omittingEmptySubsequences: false)
                .joined(separator: "\(port)")
        }
        return ProbeVisit(
            connection: 1, peer: try #require(SocketAddress(literal: visit.address, port: 50_000)),
            listener: try #require(SocketAddress(literal: "127.0.0.1", port: port)),
            process: visit.executable.map {
                ProcessRecord(id: 7, executable: $0, commandLine: [$0] + arguments)
            },
            host: "localhost", port: 443,
            hello: try ClientHelloReader.read(MemoryClient.hello().span))
    }
}
