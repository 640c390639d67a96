package import Base
internal import Negotiation
package import Recording
package import Sockets
package import TLS
package import Traffic

/// The proxy: listeners on a group of event loops.
package final class ProxyServer: Sendable {
    /// Where it listens, with the ports that the system chose, as the plan has them.
    package let addresses: [SocketAddress]
    private let shared: ProxyShared
    private let loops: [EventLoop]
    /// The listening sockets of each loop.
    private let descriptors: [[(descriptor: Int32, port: ProxyPort)]]

    /// The first of the addresses.
    package var address: SocketAddress { addresses[0] }

    /// Binds; nothing is accepted before `run`.
    ///
    /// Errors: `listen-failed`.
    package init(
        plan: ProxyPlan, authority: CertificateAuthority, sink: any TrafficSink,
        numbers: RecordNumbers, loops: [EventLoop]
    ) throws(Failure) {
        self.loops = loops
        precondition(!plan.wiring.ports.isEmpty, "a proxy listens somewhere")
        var descriptors = [[(descriptor: Int32, port: ProxyPort)]](
            repeating: [], count: loops.count)
        var addresses: [SocketAddress] = []
        for port in plan.wiring.ports {
            switch port.source {
            case .address(let wanted):
                let (bound, address) = try Listener.bindShared(
                    wanted, count: loops.count, isTransparent: port.isTransparentSocket)
                addresses.append(address)
                let made = ProxyPort(port, address)
                for (index, descriptor) in bound.enumerated() {
                    descriptors[index].append((descriptor, made))
                }
            case .descriptor(let descriptor, let address):
                addresses.append(address)
                descriptors[0].append((descriptor, ProxyPort(port, address)))
            }
        }
        self.descriptors = descriptors
        self.addresses = addresses
        shared = ProxyShared(
            processes: plan.wiring.findsProcesses ? SearchThread(.thisMachine) : nil,
            insideProcesses: plan.wiring.captured.map { SearchThread(.inside($0)) },
            wiring: plan.wiring, interceptors: Interceptors(plan.interceptors),
            policies: PolicyExchange(plan.policy), authority: authority, sink: sink,
            numbers: numbers, resolver: Resolver(), ticketKey: Digests.randomBytes(80))
    }

    /// Serves the connections that come in from now on by another policy; those that are open go on
    /// by theirs, and no connection to an origin that was opened for them is lent any more. Safe
    /// from any thread.
    ///
    /// - Returns: the number of the policy, which each of its connections records.
    @discardableResult
    package func exchange(_ policy: ProxyPolicy) -> Int64 { shared.policies.exchange(policy) }

    /// Serves until `shutdown` is requested and the connections have ended.
    ///
    /// - Returns: whether every connection ended by itself before the deadline.
    package func run(until shutdown: Shutdown) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for (loop, descriptors) in zip(loops, descriptors) {
                group.addTask(executorPreference: loop) {
                    await self.serve(on: loop, descriptors, until: shutdown)
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    private func serve(
        on loop: EventLoop, _ descriptors: [(descriptor: Int32, port: ProxyPort)],
        until shutdown: Shutdown
    ) async -> Bool {
        var listeners: [OpenPort] = []
        do throws(SystemError) {
            for (descriptor, port) in descriptors {
                let listener = try Listener(
                    descriptor: descriptor, address: port.address, loop: loop)
                listeners.append(OpenPort(listener, port))
            }
        } catch {
            return false
        }
        let worker = ProxyWorker(loop: loop, shared: shared, listening: addresses)
        worker.startSweeping()
        shutdown.onRequest(on: loop) { [listeners] grace in
            for open in listeners { open.listener.finish() }
            worker.drain(grace: grace)
        }
        await withDiscardingTaskGroup { outer in
            outer.addTask { await worker.background.run() }
            // Each connection is a child task, so that none outlives the server.
            await withDiscardingTaskGroup { group in
                for open in listeners {
                    group.addTask(executorPreference: loop) { await open.accept(into: worker) }
                }
            }
            worker.finish()
        }
        worker.close()
        return !worker.wasCut
    }
}

/// A port as it was opened.
struct ProxyPort: Sendable {
    let mode: ProxyPlan.Mode
    let credentials: [SOCKSCredential]?
    let address: SocketAddress
    /// As it is recorded.
    let text: String

    init(_ plan: PortPlan, _ address: SocketAddress) {
        mode = plan.mode
        credentials = plan.credentials
        self.address = address
        text = address.description
    }
}

/// A listener of one loop.
///
/// `@unchecked Sendable`: the listener is only touched on its loop's thread.
private final class OpenPort: @unchecked Sendable {
    let listener: Listener
    private let port: ProxyPort

    init(_ listener: Listener, _ port: ProxyPort) {
        self.listener = listener
        self.port = port
    }

    func accept(into worker: ProxyWorker) async {
        await withDiscardingTaskGroup { [port] group in
            while let (channel, peer) = await listener.accept() {
                group.addTask(executorPreference: worker.loop) {
                    await ConnectionTask(channel, peer: peer, port: port, worker: worker).run()
                }
            }
        }
    }
}
