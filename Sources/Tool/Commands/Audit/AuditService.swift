internal import Audit
internal import Base
internal import Catalogue
internal import Confinement
internal import Glibc
internal import Origins
internal import Proxy
internal import Sockets
internal import TLS

/// An audit with everything it needs: the catalogue, the authority, the capture and the servers.
final class AuditService: Sendable {
    private let options: AuditOptions
    private let environment: Environment
    private let station: AuditStation
    private let authority: AuditAuthority
    private let presenter: CataloguePresenter
    /// In the order in which they are shown.
    private let probes: [ProbeDescription]
    private let token: String
    /// In milliseconds.
    private let now: @Sendable () -> UInt64
    private let startedAt = Timestamp.now()

    /// Errors: `catalogue-invalid`, `unknown-probe`, and those of the authority and the capture.
    init(_ options: AuditOptions, _ environment: Environment) throws(Failure) {
        self.options = options
        self.environment = environment
        let catalogue = try options.openCatalogue()
        probes = try options.probes(of: catalogue)
        for path in [options.sarif, options.junit] {
            if let path { try Files.checkReplaceable(path) }
        }
        let (authority, keys) = try options.proxy.authority.openForAudit(environment.variables)
        self.authority = authority
        try keys.prepare(Set(probes.flatMap(\.chain).map(\.key))) { () throws(Failure) in
            try environment.note("making RSA keys once, which takes some seconds")
        }
        token = "sallyport-" + environment.randomBytes(9).hex
        let clock = environment.clock
        now = { clock().nanoseconds / 1_000_000 }
        presenter = CataloguePresenter(
            mint: try ChainMint(authority: authority, keys: keys), catalogue: catalogue,
            token: token, now: now)
        station = try AuditStation(options.proxy, environment: environment)
    }

    func close() throws(Failure) { try station.close() }
    func abandon() throws(Failure) { try station.abandon() }

    private var concerns: @Sendable (AuditDestination) -> Bool {
        let targets = options.targets
        return { destination in
            targets.isEmpty || targets.contains { $0.matches(destination.host) }
        }
    }

    // MARK: A command

    /// Fetches what a command is shown of the true server.
    func prepare() async throws(Failure) {
        guard !options.command.isEmpty, let origin = options.origin else { return }
        presenter.note(chain: try await OriginChain.fetch(origin, on: station.loops[0]))
    }

    /// Starts the command once for each probe.
    func run(_ signals: StopSignals) async throws(Failure) -> [AuditResult] {
        let command = AuditCommandLine(words: options.command)
        guard !options.isNeverConfined, !command.namesProxy else {
            return try await run(command, isConfined: false, signals)
        }
        do throws(Failure) {
            return try await run(command, isConfined: true, signals)
        } catch  where error.code == "namespaces-forbidden" {
            try environment.note("\(error.detail): the command runs as it is, beside a proxy")
            return try await run(command, isConfined: false, signals)
        }
    }

    private func run(
        _ command: AuditCommandLine, isConfined: Bool, _ signals: StopSignals
    ) async throws(Failure) -> [AuditResult] {
        let place = AuditCommandLine.Place(
            host: options.host
                ?? (isConfined || !command.namesServer ? "www.shop.test" : "localhost"),
            port: UInt16(clamping: options.port ?? 443), proxy: nil,
            authority: authority.certificatePath)
        let launcher = try AuditLauncher(
            command, place, station: station, authority: authority.certificate,
            trust: options.trust, isConfined: isConfined, timeout: options.timeout,
            inherited: environment.variables, leadsName: leadsName(command, place))
        defer { launcher.remove() }
        if command.tellsUnnamedPort(at: place), isConfined {
            try environment.note(
                "{url} names no port, so that what the command is told of \(place.host):443 may not"
                    + " apply to it")
            try environment.hint("audit it with --port 8443 as well")
        }
        signals.watch(onStop: launcher.stop, onInsist: launcher.insist, onTick: {})
        if !isConfined, command.namesServer { presenter.noteUnseenRedirections() }
        let concerns = concerns
        let host = place.host.lowercased()
        let progress = AuditProgress(total: probes.count, environment)
        let task = AuditRunTask(
            launcher: launcher, presenter: presenter, probes: probes,
            ledger: AuditLedger(
                client: clientName(options.command[0]),
                seesClear: isConfined || !command.namesServer),
            concerns: { command.namesServer ? $0.host == host : concerns($0) },
            leadsHosts: isConfined && command.namesServer, jobs: Int(options.jobs),
            token: Array(token.utf8), advance: progress.advance)
        let silence = try await task.run()
        try progress.finish()
        try launcher.strays.tell(environment)
        if let silence, !launcher.isStopped {
            let about = AuditSilence(host: command.namesServer ? host : nil)
            try about.tell(silence, environment)
        }
        return task.ledger.results(
            inOrderOf: probes, missing: "the audit was interrupted before it was shown")
    }

    /// Whether a name that the system's table of hosts has for this machine is audited all the same.
    private func leadsName(
        _ command: AuditCommandLine, _ place: AuditCommandLine.Place
    ) -> @Sendable (String) -> Bool {
        let (host, own) = (place.host.lowercased(), Confinement.ownHostName.lowercased())
        let targets = options.targets
        if command.namesServer { return { $0 == host } }
        // A program that asks what this machine is called looks for itself.
        if targets.isEmpty { return { $0 != own } }
        return { name in targets.contains { $0.matches(name) } }
    }

    private func clientName(_ program: String) -> String {
        options.clientName ?? program.split(separator: "/").last.map(String.init) ?? program
    }

    // MARK: Clients that come by themselves

    func listen(_ signals: StopSignals) async throws(Failure) -> [AuditResult] {
        presenter.noteFixedTrust()
        let schedule = ListenSchedule(
            probes, presenter, now: now, concerns: concerns)
        let server = try station.server(
            [PortPlan(try options.proxy.listen.socketAddress(), .explicit)], findsProcesses: true,
            prober: schedule, loops: station.loops)
        try announce(server, [("proxy", server.server.address)])
        let table = AuditLiveTable(environment)
        signals.watch(
            onStop: { _ in server.shutdown.request() },
            onTick: { table.show(schedule.progress) })
        _ = try await server.run {}
        table.show(schedule.progress)
        try table.finish()
        let results = schedule.results
        if results.isEmpty {
            try AuditSilence.tell(
                hint: options.targets.isEmpty
                    ? "set the address above as the client's proxy"
                    : "set the address above as the client's proxy, and see whether --targets has"
                        + " its hosts", environment)
        }
        return results
    }

    func serve(_ range: PortRange, _ signals: StopSignals) async throws(Failure) -> [AuditResult] {
        let desk = ServeDesk(probes, presenter)
        let shown = desk.shown
        let count = range.last == 0 ? shown.count : Int(range.last - range.first) + 1
        guard count >= shown.count else {
            throw Failure(
                "too-few-ports", party: .tool,
                "\(shown.count) probes do not fit into \(count) ports",
                hint: "give more ports, or choose probes by --profile quick or --probe")
        }
        // A client that is sent to port 80 does not come to us.
        presenter.noteUnseenRedirections()
        presenter.noteFixedTrust()
        let local = options.proxy.listen
        let place = ProxyPlan.ReverseTarget(
            .tcp, host: options.host ?? local.reachable.host,
            port: UInt16(clamping: options.port ?? 443))
        let ports = try shown.indices.map { index throws(Failure) in
            PortPlan(
                try HostPort(
                    host: local.host,
                    port: range.last == 0 ? 0 : range.first + UInt16(index)
                ).socketAddress(), .reverse(place))
        }
        let server = try station.server(
            ports, findsProcesses: true, prober: desk, loops: station.loops)
        desk.open(at: server.server.addresses.map(\.port))
        try announce(
            server, zip(shown, server.server.addresses).map { ($0.identifier, $1) })
        signals.watch(onStop: { _ in server.shutdown.request() }, onTick: {})
        _ = try await server.run {}
        let results = desk.results(client: options.clientName)
        if results.isEmpty {
            try AuditSilence.tell(
                hint: "have the client connect to each of the ports above, twice", environment)
        }
        return results
    }

    /// Says where the servers are, and whom to trust.
    private func announce(
        _ server: AuditServer, _ places: [(name: String, address: SocketAddress)]
    ) throws(Failure) {
        if options.isJSON {
            let members = [
                JSONText.Member("schema", "sallyport.audit-ready/1"),
                JSONText.Member(
                    "ports",
                    .array(
                        places.map { place in
                            .object([
                                JSONText.Member("name", .string(place.name)),
                                JSONText.Member("listen", .string(place.address.description)),
                            ])
                        })),
                JSONText.Member("ca", .string(authority.certificatePath)),
                JSONText.Member("capture", .string(station.capturePath)),
                JSONText.Member("pid", .integer(Int64(getpid()))),
            ]
            return try environment.output.write(
                JSONText.object(members).line + [UInt8(ascii: "\n")])
        }
        var lines = places.map { "\($0.address)  \($0.name)" }
        lines.append("CA certificate: \(TerminalText.sanitized(authority.certificatePath))")
        lines.append("capture: \(TerminalText.sanitized(station.capturePath))")
        lines.append("the report follows when it is interrupted")
        try environment.output.write(lines.map { $0 + "\n" }.joined())
    }

    // MARK: What came of it

    /// Says where the connections are recorded that the report names; clients that come by
    /// themselves were told of it before.
    func tellCapture() throws(Failure) {
        guard !options.command.isEmpty else { return }
        try environment.diagnostics.write(
            "sallyport: recorded in \(TerminalText.sanitized(station.capturePath))\n")
    }

    func report(_ results: [AuditResult]) throws(Failure) -> ExitCode {
        let report = AuditReport(
            results: results, startedAt: startedAt,
            duration: Timestamp.now().microseconds(since: startedAt),
            capturePath: station.capturePath, command: options.command,
            toolVersion: CommandLineTool.version,
            sources: Dictionary(
                options.sources.map { ($0.client, $0.place) }, uniquingKeysWith: { $1 }))
        return try AuditReporting.write(report, options, environment)
    }
}
