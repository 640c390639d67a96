package import Base
package import Confinement
internal import Glibc
package import Proxy
package import Sockets
internal import Synchronization
package import Traffic

/// Where the clients of a namespace come in.
package struct CapturedPorts {
    package let ports: [PortPlan]
    package let network: CapturedNetwork
}

/// What a confined command's connections are served by.
package protocol RunService: Sendable {
    var shutdown: Shutdown { get }
    /// Stops, because there is no command to serve.
    func abandon()
    /// Serves until `shutdown` is requested.
    ///
    /// - Returns: whether every connection ended by itself.
    func run(finally: () async -> Void) async throws(Failure) -> Bool
    /// Records a connection that did not come to the proxy, but was seen, with its messages.
    func record(_ make: (_ id: Int64) -> [TrafficEvent])
}

/// A command whose only way out is a proxy of its own.
package enum ConfinedRun {
    /// Starts the command, serves it until it has ended, and tells how.
    ///
    /// - Parameters:
    ///   - started: called with the command once it runs.
    ///   - finally: called when the command has ended, while its network is still there.
    /// - Returns: how it ended, and what its network saw.
    ///
    /// Errors: those of `Confinement.launch`, of `ConfinedProcess.begin` and of the service.
    package static func run<Service: RunService>(
        _ configuration: ConfinementConfiguration, started: (ChildProcess) -> Void,
        makeService: (CapturedPorts) throws(Failure) -> Service,
        finally: (ConfinedNetwork) async -> Void = { _ in }
    ) async throws(Failure) -> (
        ending: ChildProcess.Ending, network: ConfinedNetwork, service: Service
    ) {
        let ended = EndBox()
        let process = try await launch(configuration, telling: ended)
        let network = ConfinedNetwork(process)
        let service: Service
        do throws(Failure) {
            service = try makeService(network.ports)
        } catch {
            process.program.send(SIGKILL)
            _ = await ended.get()
            process.close()
            throw error
        }
        // Not before it is served: a command that has begun and is ended has done half of its work.
        var failure: Failure?
        do throws(Failure) {
            try process.begin()
            started(ChildProcess(program: process.program))
        } catch {
            // One that has not answered in time must not begin later, with nobody there.
            process.program.send(SIGKILL)
            let ending = ChildProcess.Ending(status: await ended.get())
            if let signal = ending.signal, signal != SIGKILL {
                // Whoever ended it while it waited wants no more, and nothing has failed.
                service.shutdown.request()
            } else {
                failure = error
                service.abandon()
            }
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
            await finally(network)
        }
        let status = await ended.get()
        if let failure { throw failure }
        return (ChildProcess.Ending(status: status), network, service)
    }

    /// - Parameter ended: gets the command's status.
    private static func launch(
        _ configuration: ConfinementConfiguration, telling ended: EndBox
    ) async throws(Failure) -> ConfinedProcess {
        let launched = LaunchBox()
        startThread(named: "command") {
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
        return try await launched.get().get()
    }
}

private typealias LaunchBox = OneTimeBox<Result<ConfinedProcess, Failure>>
private typealias EndBox = OneTimeBox<Int32>
