package import Audit
package import Base
internal import Catalogue
internal import Confinement
package import Launching
internal import Origins
internal import Processes
internal import Proxy
internal import Sockets
internal import Synchronization
internal import TLS

/// What came of an audit.
package struct AuditOutcome: Sendable {
    package let report: AuditReport
    /// How the command ended that came to no server; `nil` if it came, and without one.
    package var silence: AuditLauncher.Trace?
    /// The host that the command was to come to; `nil` for any.
    package var awaitedHost: String?
    package var strays = AuditStrays()
}

/// An audit with everything it needs: the catalogue, the authority, the capture and the servers.
package final class AuditService: Sendable {
    private let options: AuditConfiguration
    private let variables: [String: String]
    private let events: RunEvents
    private let servers: AuditServers
    private let authority: AuditAuthority
    private let presenter: CataloguePresenter
    /// In the order in which they are shown.
    private let probes: [ProbeDescription]
    /// In milliseconds.
    private let now: @Sendable () -> UInt64 = { MonotonicTime.now().nanoseconds / 1_000_000 }
    private let startedAt = Timestamp.now()
    private let running = Mutex(Running())

    private struct Running {
        var launcher: AuditLauncher?
        var shutdown: Shutdown?
        var schedule: ListenSchedule?
        /// What asked for the end.
        var signal: StopSignal?
    }

    /// Makes the keys that probes need, which may take half a minute once.
    ///
    /// Errors: `catalogue-invalid`, `unknown-probe`, and those of the authority and the capture.
    package init(
        _ options: AuditConfiguration, variables: [String: String],
        events: RunEvents = RunEvents()
    ) throws(Failure) {
        self.options = options
        self.variables = variables
        self.events = events
        let catalogue = try options.openCatalogue()
        probes = try options.selectedProbes(of: catalogue)
        let (authority, keys) = try options.proxy.authority.openForAudit(variables)
        self.authority = authority
        try keys.prepare(Set(probes.flatMap(\.chain).map(\.key))) { () throws(Failure) in
            events.publish(.note("making RSA keys once, which takes some seconds"))
        }
        presenter = CataloguePresenter(
            issuer: try ChainIssuer(authority: authority, keys: keys), catalogue: catalogue,
            token: "sallyport-" + Digests.randomBytes(9).hex, now: now)
        servers = try AuditServers(options.proxy, variables: variables)
    }

    /// Shows the probes until all are shown or it is stopped, and completes the capture; what failed
    /// leaves what was recorded until then.
    ///
    /// - Parameter begin: called when there is something to stop.
    package func run(begin: () throws -> Void = {}) async throws -> AuditOutcome {
        let outcome: AuditOutcome
        do {
            try await prepare()
            try begin()
            switch options.way {
            case .command(let words): outcome = try await run(words)
            case .listen: outcome = report(try await listen())
            case .serve(let range): outcome = report(try await serve(range))
            }
        } catch {
            try servers.abandon()
            throw error
        }
        try servers.close()
        return outcome
    }

    /// Asks what runs to end, and shows nothing more.
    package func stop(_ signal: StopSignal) {
        let (launcher, shutdown) = running.withLock { running in
            running.signal = signal
            return (running.launcher, running.shutdown)
        }
        launcher?.stop(signal)
        shutdown?.request()
    }

    /// Ends the command although it was asked to end.
    package func insist() {
        running.withLock(\.launcher)?.insist()
    }

    /// How far the audit of each client has come that comes by itself.
    package var listenProgress: [ListenSchedule.Progress] {
        running.withLock(\.schedule)?.progress ?? []
    }

    private func note(_ change: (inout Running) -> Void) {
        let signal = running.withLock { running in
            change(&running)
            return running.signal
        }
        if let signal { stop(signal) }
    }

    private var concerns: @Sendable (AuditDestination) -> Bool {
        let targets = options.targets
        return { destination in
            targets.isEmpty || targets.contains { $0.matches(destination.host) }
        }
    }

    // MARK: A command

    /// Fetches what a command is shown of the true server.
    private func prepare() async throws(Failure) {
        guard case .command = options.way, let origin = options.origin else { return }
        presenter.note(chain: try await OriginChain.fetch(origin, on: servers.loops[0]))
    }

    /// Starts the command once for each probe.
    private func run(_ words: [String]) async throws(Failure) -> AuditOutcome {
        let command = CommandTemplate(words: words)
        guard !options.isNeverConfined, !command.namesProxy else {
            return try await run(command, isConfined: false)
        }
        do throws(Failure) {
            return try await run(command, isConfined: true)
        } catch  where error.code == "namespaces-forbidden" {
            events.publish(
                .note("\(error.detail): the command runs as it is, beside a proxy"))
            return try await run(command, isConfined: false)
        }
    }

    private func run(
        _ command: CommandTemplate, isConfined: Bool
    ) async throws(Failure) -> AuditOutcome {
        let place = CommandTemplate.Place(
            host: options.host
                ?? (isConfined || !command.namesServer ? "www.shop.test" : "localhost"),
            port: UInt16(clamping: options.port ?? 443), proxy: nil,
            authority: authority.certificatePath)
        let launcher = try AuditLauncher(
            command, place, servers: servers, authority: authority.certificate,
            trust: options.trust, isConfined: isConfined, timeout: options.timeout,
            inherited: variables, leadsName: leadsName(command, place))
        defer { launcher.remove() }
        if command.tellsUnnamedPort(at: place), isConfined {
            events.publish([
                .note(
                    "{url} names no port, so that what the command is told of \(place.host):443 may"
                        + " not apply to it"),
                .hint("audit it with --port 8443 as well"),
            ])
        }
        note { $0.launcher = launcher }
        if !isConfined, command.namesServer { presenter.noteUnseenRedirections() }
        let concerns = concerns
        let host = place.host.lowercased()
        let (total, events) = (Int64(probes.count), events)
        let done = DoneCount()
        events.publish(.progress(done: 0, total: total))
        let task = AuditRunTask(
            launcher: launcher, presenter: presenter, probes: probes,
            ledger: AuditLedger(
                client: clientName(command.words[0]),
                seesClear: isConfined || !command.namesServer),
            concerns: { command.namesServer ? $0.host == host : concerns($0) },
            leadsHosts: isConfined && command.namesServer, jobs: Int(options.jobs),
            advance: { events.publish(.progress(done: done.next(), total: total)) })
        let silence = try await task.run()
        var outcome = report(
            task.ledger.results(
                inOrderOf: probes, missing: "the audit was interrupted before it was shown"))
        outcome.silence = launcher.isStopped ? nil : silence
        outcome.awaitedHost = command.namesServer ? host : nil
        outcome.strays = launcher.strays
        return outcome
    }

    /// Whether a name that the system's table of hosts has for this machine is audited all the same.
    private func leadsName(
        _ command: CommandTemplate, _ place: CommandTemplate.Place
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

    private func listen() async throws(Failure) -> [AuditResult] {
        presenter.noteFixedTrust()
        let schedule = ListenSchedule(
            probes, presenter, now: now, concerns: concerns)
        let server = try servers.server(
            [PortPlan(try options.proxy.listen.socketAddress(), .explicit)], findsProcesses: true,
            prober: schedule, loops: servers.loops)
        announce([.init(name: "proxy", address: server.server.address)])
        note {
            $0.schedule = schedule
            $0.shutdown = server.shutdown
        }
        _ = try await server.run {}
        return schedule.results
    }

    private func serve(_ range: PortRange) async throws(Failure) -> [AuditResult] {
        let prober = ServeProber(probes, presenter)
        let shown = prober.shown
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
        let server = try servers.server(
            ports, findsProcesses: true, prober: prober, loops: servers.loops)
        prober.open(at: server.server.addresses.map(\.port))
        announce(
            zip(shown, server.server.addresses).map { .init(name: $0.identifier, address: $1) })
        note { $0.shutdown = server.shutdown }
        _ = try await server.run {}
        return prober.results(client: options.clientName)
    }

    private func announce(_ places: [AuditPlaces.Place]) {
        events.publish(
            .listening(
                AuditPlaces(
                    places: places, authority: authority.certificatePath,
                    capture: servers.capturePath)))
    }

    private func report(_ results: [AuditResult]) -> AuditOutcome {
        var words: [String] = []
        if case .command(let given) = options.way { words = CommandLineRedaction.redact(given) }
        return AuditOutcome(
            report: AuditReport(
                results: results, startedAt: startedAt,
                duration: Timestamp.now().microseconds(since: startedAt),
                capturePath: servers.capturePath, command: words,
                toolVersion: options.toolVersion,
                sources: Dictionary(
                    options.sources.map { ($0.client, $0.place) }, uniquingKeysWith: { $1 })))
    }
}

/// Counts what several tasks have done.
private final class DoneCount: Sendable {
    private let count = Atomic<Int64>(0)

    func next() -> Int64 { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
