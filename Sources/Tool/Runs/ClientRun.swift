package import Base
internal import Confinement
package import Launching
internal import Proxy
package import Replay
internal import Sockets
internal import TLS

/// One command under a proxy of its own.
package struct ClientRun: Sendable {
    package var command: [String]
    package var proxy: ProxyOptions
    /// Whether the command is left no way out but the proxy.
    package var capturesAll: Bool
    /// What answers in the place of every origin; `nil` for the network.
    private let responder: ReplayResponder?
    /// Those of the tool's environment, which the command's extend.
    package var variables: [String: String]

    package init(
        _ command: [String], proxy: ProxyOptions, capturesAll: Bool,
        answeredBy responder: ReplayResponder? = nil, variables: [String: String]
    ) {
        self.responder = responder
        self.command = command
        self.proxy = proxy
        self.proxy.listen = HostPort(host: "127.0.0.1", port: 0)
        self.capturesAll = capturesAll
        self.variables = variables
    }

    /// How a run went.
    package struct Outcome: Sendable {
        package let command: [String]
        package let startedAt: Timestamp
        /// In microseconds.
        package let duration: Int64
        package let ending: ChildProcess.Ending
        package let capturePath: String
        package let firstRecords: FirstRecords
        /// What a confined command's network saw; `nil` for one that was not confined.
        package let network: ConfinedNetwork?
        /// Why the command could not be confined, although that was asked for.
        package fileprivate(set) var confinementFailure: Failure?
        /// What an unconfined command's went past the proxy; `nil` if that could not be seen.
        package let past: [PastWatch.Connections]?
        /// The command's programs that went on after its end, each such as `sleep (123)`.
        package let leftRunning: [String]
        /// Requests without a recorded answer, the first of them told; `nil` without a recording.
        package let misses: (count: Int, first: [ReplayMiss])?

        package init(
            _ command: [String], from startedAt: Timestamp, to endedAt: Timestamp,
            ending: ChildProcess.Ending, capturePath: String, firstRecords: FirstRecords,
            network: ConfinedNetwork? = nil, confinementFailure: Failure? = nil,
            past: [PastWatch.Connections]? = nil, leftRunning: [String] = [],
            misses: (count: Int, first: [ReplayMiss])? = nil
        ) {
            self.past = past
            self.leftRunning = leftRunning
            self.misses = misses
            self.command = command
            self.startedAt = startedAt
            duration = max(0, endedAt.microseconds - startedAt.microseconds)
            self.ending = ending
            self.capturePath = capturePath
            self.firstRecords = firstRecords
            self.network = network
            self.confinementFailure = confinementFailure
        }
    }

    /// Runs the command to its end, and completes the capture.
    ///
    /// - Parameter started: called with the command once it runs.
    ///
    /// Errors: those of starting the command and of the proxy.
    package func run(
        events: RunEvents = RunEvents(), started: @escaping @Sendable (ChildProcess) -> Void
    ) async throws(Failure) -> Outcome {
        guard capturesAll else { return try await runWithVariables(events, started) }
        do throws(Failure) {
            return try await runConfined(events, started)
        } catch  where error.code == "namespaces-forbidden" {
            var outcome = try await runWithVariables(events, started)
            outcome.confinementFailure = error
            return outcome
        }
    }

    private func runConfined(
        _ events: RunEvents, _ started: @Sendable (ChildProcess) -> Void
    ) async throws(Failure) -> Outcome {
        let startedAt = Timestamp.now()
        let authority = try proxy.authority.open(variables)
        let client = try ClientEnvironment(
            proxy: nil, trusting: authority.certificate, inherited: variables)
        defer { client.remove() }
        let result = try await ConfinedRun.run(
            try client.confinement(of: command), started: started,
            makeService: { ports throws(Failure) in
                try ProxyService(
                    proxy, variables: variables, events: events, responder: responder,
                    captured: ports)
            })
        return outcome(of: result.service, from: startedAt, result.ending, result.network)
    }

    private func runWithVariables(
        _ events: RunEvents, _ started: @escaping @Sendable (ChildProcess) -> Void
    ) async throws(Failure) -> Outcome {
        let startedAt = Timestamp.now()
        let service = try ProxyService(
            proxy, variables: variables, events: events, responder: responder)
        let client = try ClientEnvironment(
            proxy: HostPort(service.server.address), trusting: service.authority.certificate,
            inherited: variables)
        defer { client.remove() }
        let mark = StrayProcesses.Mark.variable(
            "SSL_CERT_FILE=\(client.variables["SSL_CERT_FILE"] ?? "")")
        let watch = PastWatch(proxy: service.server.address, mark: mark)
        let box = OneTimeBox<Result<ChildProcess.Ending, Failure>>()
        let (command, told) = (command, client.variables)
        startThread(named: "command") {
            do throws(Failure) {
                let child = try ChildProcess.start(command, variables: told)
                watch?.follow(child.id)
                started(child)
                box.set(.success(child.wait()))
                service.stop()
            } catch {
                box.set(.failure(error))
                service.abandon()
            }
        }
        _ = try await service.run()
        let past = await watch?.stop()
        return outcome(
            of: service, from: startedAt, try await box.get().get(), past: past,
            leftRunning: StrayProcesses.names(mark))
    }

    private func outcome(
        of service: ProxyService, from startedAt: Timestamp, _ ending: ChildProcess.Ending,
        _ network: ConfinedNetwork? = nil, past: [PastWatch.Connections]? = nil,
        leftRunning: [String] = []
    ) -> Outcome {
        Outcome(
            command, from: startedAt, to: .now(), ending: ending, capturePath: service.capturePath,
            firstRecords: service.firstRecords, network: network, past: past,
            leftRunning: network?.leftRunning ?? leftRunning,
            misses: responder.map { ($0.missCount, $0.firstMisses) })
    }
}
