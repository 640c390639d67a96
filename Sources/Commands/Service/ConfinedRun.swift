internal import Base
internal import Confinement
internal import Glibc
internal import Proxy
internal import Sockets
internal import Synchronization
internal import TLS

/// A command whose only way out is a proxy of its own.
enum ConfinedRun {
    /// Starts the command, serves it until it has ended, and tells how.
    ///
    /// - Returns: how it ended, and what its network saw.
    ///
    /// Errors: those of `Confinement.launch` and of `ProxyService`.
    static func run(
        _ command: [String], client: ClientEnvironment, authority: CertificateAuthority,
        signals: StopSignals, makeService: (CapturedPorts) throws(Failure) -> ProxyService
    ) async throws(Failure) -> (
        ending: ChildProcess.Ending, network: ConfinedNetwork, service: ProxyService
    ) {
        var configuration = ConfinementConfiguration(
            command: command, variables: client.variables, bundle: client.bundle,
            folder: client.folder)
        configuration.certificates = [
            authority.certificate.folderName: authority.certificate.pem,
            "java/cacerts": try Files.read(client.javaStore),
        ]
        let launched = LaunchBox()
        let ended = EndBox()
        startThread(named: "command") { [configuration] in
            // The command dies with the thread that started it, so this one waits for it.
            do throws(Failure) {
                let process = try DescriptorLimit.withInherited { () throws(Failure) in
                    try Confinement.launch(configuration)
                }
                launched.set(.success(process))
                ended.set(process.wait())
            } catch {
                launched.set(.failure(error))
            }
        }
        let process = try await launched.get().get()
        signals.watch(onStop: ChildProcess(id: process.id).forward, onTick: {})
        let network = ConfinedNetwork(process)
        let service: ProxyService
        do throws(Failure) {
            service = try makeService(network.ports)
        } catch {
            kill(process.id, SIGKILL)
            _ = await ended.get()
            process.close()
            throw error
        }
        let names = EndBox()
        startThread(named: "names") {
            network.serve()
            names.set(0)
        }
        ended.whenSet { service.shutdown.request() }
        defer { process.close() }
        _ = try await service.run {
            network.stop()
            _ = await names.get()
            network.noteEnd()
            network.record(in: service)
        }
        return (ChildProcess.Ending(status: await ended.get()), network, service)
    }
}

/// A value that one thread sets, and others wait for.
private final class OneTimeBox<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [@Sendable (Value) -> Void] = []
    }

    private let state = Mutex(State())

    func set(_ value: Value) {
        let waiting = state.withLock { state in
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        for resume in waiting { resume(value) }
    }

    func whenSet(_ action: @escaping @Sendable () -> Void) {
        add { _ in action() }
    }

    func get() async -> Value {
        await withCheckedContinuation { continuation in
            add { continuation.resume(returning: $0) }
        }
    }

    private func add(_ action: @escaping @Sendable (Value) -> Void) {
        let value = state.withLock { state -> Value? in
            if state.value == nil { state.waiting.append(action) }
            return state.value
        }
        if let value { action(value) }
    }
}

private typealias LaunchBox = OneTimeBox<Result<ConfinedProcess, Failure>>
private typealias EndBox = OneTimeBox<Int32>
