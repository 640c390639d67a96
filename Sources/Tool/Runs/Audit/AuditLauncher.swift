internal import Audit
internal import Base
internal import Catalogue
internal import Confinement
internal import Glibc
package import Launching
internal import Proxy
internal import Sockets
internal import Synchronization
internal import TLS

/// Runs the command of an audit, once for each probe.
package final class AuditLauncher: Sendable {
    private let servers: AuditServers
    private let command: CommandTemplate
    private let place: CommandTemplate.Place
    private let timeout: Duration
    private let inherited: [String: String]
    /// What tells a run whose probes need trust whom to trust, and one whose probes do not.
    private let trusting: ClientEnvironment
    private let authority: Certificate
    private let trust: AuditTrust
    private let plain: ClientEnvironment
    let isConfined: Bool
    /// Which names lead to the probes that stand for loopback in the system's table.
    private let leadsName: @Sendable (String) -> Bool
    private let running = Mutex(Running())

    private struct Running {
        var children: [pid_t: ChildProcess] = [:]
        var strays = AuditStrays()
        /// What asked for the end.
        var signal: StopSignal?
    }

    /// How one run went.
    package struct Trace: Sendable {
        package let ending: ChildProcess.Ending
        package let output: [UInt8]
        package let timedOut: Bool
        /// In microseconds.
        package let duration: Int64
    }

    /// - Parameter isConfined: whether the command runs in namespaces of its own.
    ///
    /// Errors: `file-unwritable`, `file-unreadable`, `certificate-invalid`.
    init(
        _ command: CommandTemplate, _ place: CommandTemplate.Place, servers: AuditServers,
        authority: Certificate, trust: AuditTrust, isConfined: Bool, timeout: Duration,
        inherited: [String: String], leadsName: @escaping @Sendable (String) -> Bool
    ) throws(Failure) {
        self.command = command
        self.place = place
        self.servers = servers
        self.isConfined = isConfined
        self.timeout = timeout
        self.inherited = inherited
        self.leadsName = leadsName
        self.authority = authority
        self.trust = trust
        trusting = try ClientEnvironment(
            proxy: nil, trusting: trust == .none ? nil : authority, inherited: inherited,
            telling: trust == .env)
        plain = try ClientEnvironment(
            proxy: nil, trusting: trust == .none ? nil : authority, inherited: inherited,
            telling: trust == .env, masking: false)
    }

    /// Removes what was made for the command.
    func remove() {
        trusting.remove()
        plain.remove()
    }

    /// Ends what runs, and starts nothing more.
    func stop(_ signal: StopSignal) {
        let children = running.withLock { running in
            running.signal = signal
            return Array(running.children.values)
        }
        for child in children { child.forward(signal) }
    }

    /// Ends what runs although it was asked to end.
    func insist() {
        for child in running.withLock({ Array($0.children.values) }) { child.kill() }
    }

    var isStopped: Bool { running.withLock { $0.signal != nil } }

    /// What runs have left behind.
    var strays: AuditStrays { running.withLock(\.strays) }

    private func note(_ ended: StrayProcesses.Ended) {
        running.withLock { $0.strays.note(ended) }
    }

    /// Runs the command once while the slot serves it.
    ///
    /// - Parameters:
    ///   - anchors: what it is told to trust besides the audit's CA.
    ///   - index: of the run, to spread runs over the loops.
    /// Errors: `command-not-started`, and those of confinement.
    func run(
        _ slot: ProbeSlot, trusting anchors: [Certificate], index: Int
    ) async throws(Failure) -> Trace {
        guard !anchors.isEmpty else {
            let needsTrust = slot.needsAuthority
            return try await run(slot, needsTrust ? trusting : plain, index)
        }
        let client = try ClientEnvironment(
            proxy: nil, trusting: trust == .none ? nil : authority, anchors: anchors,
            inherited: inherited, telling: trust == .env)
        defer { client.remove() }
        return try await run(slot, client, index)
    }

    /// Where the command is to go, and what it is to know, for one probe.
    private func place(for probe: ProbeDescription, _ client: ClientEnvironment)
        -> CommandTemplate.Place
    {
        var place = place
        place.host = probe.host ?? place.host
        place.authority = client.authoritiesPath ?? place.authority
        place.probe = probe.identifier
        return place
    }

    private func run(
        _ slot: ProbeSlot, _ client: ClientEnvironment, _ index: Int
    ) async throws(Failure) -> Trace {
        let output = try CapturedOutput()
        let started = Timestamp.now()
        let limit = TimeLimit(
            servers.loops[index % servers.loops.count], timeout, beforeEnding: slot.cutOff)
        let ending: ChildProcess.Ending
        do throws(Failure) {
            ending =
                isConfined
                ? try await runConfined(slot, client, output, limit, index)
                : try await runBeside(slot, client, output, limit, index)
        } catch {
            _ = await output.finish()
            throw error
        }
        limit.end()
        return Trace(
            ending: ending, output: await output.finish(), timedOut: limit.hasPassed,
            duration: Timestamp.now().microseconds(since: started))
    }

    private func loop(_ index: Int) -> [EventLoop] {
        [servers.loops[index % servers.loops.count]]
    }

    private func note(_ child: ChildProcess, _ limit: TimeLimit) {
        let signal = running.withLock { running in
            running.children[child.id] = child
            return running.signal
        }
        limit.begin(child)
        // It was started while the others were told.
        if let signal { child.forward(signal) }
    }

    private func forget(_ child: pid_t) {
        running.withLock { $0.children[child] = nil }
    }

    private func runConfined(
        _ slot: ProbeSlot, _ client: ClientEnvironment, _ output: CapturedOutput,
        _ limit: TimeLimit, _ index: Int
    ) async throws(Failure) -> ChildProcess.Ending {
        let place = place(for: slot.probe, client)
        var configuration = try client.confinement(of: command.filled(place))
        configuration.output = output.descriptor
        let own = slot.probe.host
        configuration.leadsName = { [leadsName] in leadsName($0) || $0 == own }
        configuration.folder += "/run-\(index)"
        try Files.makeFolder(configuration.folder)
        _ = unsafe chmod(configuration.folder, 0o755)
        let folder = configuration.folder
        defer { Files.remove(folder) }
        var id: pid_t = 0
        defer { forget(id) }
        return try await ConfinedRun.run(
            configuration,
            started: { child in
                id = child.id
                note(child, limit)
            },
            makeService: { ports throws(Failure) in
                try servers.server(
                    ports.ports, captured: ports.network, prober: slot, loops: loop(index))
            },
            finally: {
                limit.end()
                note(await $0.endLeftRunning())
            }
        ).ending
    }

    /// Runs it with a port of its own that stands for the server, and a proxy.
    private func runBeside(
        _ slot: ProbeSlot, _ client: ClientEnvironment, _ output: CapturedOutput,
        _ limit: TimeLimit, _ index: Int
    ) async throws(Failure) -> ChildProcess.Ending {
        let local = SocketAddress(literal: "127.0.0.1", port: 0)!
        let target = ProxyPlan.ReverseTarget(.tcp, host: place.host, port: place.port)
        let service = try servers.server(
            [PortPlan(local, .reverse(target)), PortPlan(local, .explicit)], prober: slot,
            loops: loop(index))
        var place = place(for: slot.probe, client)
        place.port = service.server.addresses[0].port
        place.proxy = HostPort(service.server.addresses[1])
        let words = command.filled(place)
        let variables =
            command.namesServer
            ? client.variables : client.variables(through: HostPort(service.server.addresses[1]))
        let mark = Digests.randomBytes(8).hex
        let child = try ChildProcess.start(
            words, variables: variables.merging([Self.markName: mark]) { $1 },
            output: output.descriptor)
        note(child, limit)
        defer { forget(child.id) }
        let ended = OneTimeBox<ChildProcess.Ending>()
        startThread(named: "command") {
            let ending = child.wait()
            limit.end()
            ended.set(ending)
            service.shutdown.request()
        }
        _ = try await service.run {}
        note(await Self.endMarked(mark))
        return await ended.get()
    }

    /// Ends what the command started and left behind.
    static func endMarked(_ mark: String) async -> StrayProcesses.Ended {
        let ended = OneTimeBox<StrayProcesses.Ended>()
        startThread(named: "ending") {
            ended.set(StrayProcesses.end(.variable("\(markName)=\(mark)")))
        }
        return await ended.get()
    }

    /// A variable that tells by its value which run a process belongs to.
    static let markName = "SALLYPORT_AUDIT_RUN"
}
