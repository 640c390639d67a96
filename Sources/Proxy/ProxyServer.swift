package import Base
package import Sockets
package import TLS
package import Traffic

/// The proxy: listeners on a group of event loops.
package final class ProxyServer: Sendable {
    /// Where it listens, with the port that the system chose.
    package let address: SocketAddress
    private let shared: ProxyShared
    private let loops: [EventLoop]
    private let descriptors: [Int32]

    /// Binds; nothing is accepted before `run`.
    ///
    /// Errors: `listen-failed`.
    package init(
        plan: ProxyPlan, authority: CertificateAuthority, sink: any TrafficSink,
        numbers: RecordNumbers, loops: [EventLoop]
    ) throws(Failure) {
        self.loops = loops
        (descriptors, address) = try Listener.bindShared(plan.listen, count: loops.count)
        shared = ProxyShared(
            plan: plan, authority: authority, sink: sink, numbers: numbers, resolver: Resolver(),
            ticketKey: Digests.randomBytes(80))
    }

    /// Serves until `shutdown` is requested and the connections have ended.
    ///
    /// - Returns: whether every connection ended by itself before the deadline.
    package func run(until shutdown: Shutdown) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for (loop, descriptor) in zip(loops, descriptors) {
                group.addTask(executorPreference: loop) {
                    await self.serve(on: loop, descriptor, until: shutdown)
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    private func serve(
        on loop: EventLoop, _ descriptor: Int32, until shutdown: Shutdown
    ) async -> Bool {
        let listener: Listener
        do throws(SystemError) {
            listener = try Listener(descriptor: descriptor, address: address, loop: loop)
        } catch {
            return false
        }
        let lane = ProxyLoop(loop: loop, shared: shared, listen: address)
        lane.startSweeping()
        shutdown.onRequest(on: loop) { [stop = ListenerStop(listener)] in
            stop.listener.close()
            lane.drain(grace: shutdown.grace)
        }
        await withDiscardingTaskGroup { outer in
            outer.addTask { await lane.background.run() }
            // Each connection is a child task, so that none outlives the server.
            await withDiscardingTaskGroup { group in
                while let (channel, peer) = await listener.accept() {
                    group.addTask(executorPreference: loop) {
                        await ConnectionTask(channel, peer: peer, lane: lane).run()
                    }
                }
            }
            lane.finish()
        }
        return !lane.wasCut
    }
}

/// `@unchecked Sendable`: the listener is only touched on its loop's thread.
private final class ListenerStop: @unchecked Sendable {
    let listener: Listener
    init(_ listener: Listener) { self.listener = listener }
}
