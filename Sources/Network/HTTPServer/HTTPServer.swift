package import Base
package import Sockets
package import TLS

/// A server of HTTP/1.1 and HTTP/2, plain and over TLS, on a group of event loops.
package final class HTTPServer: Sendable {
    /// A port to listen on.
    package struct Port: Sendable {
        package enum Security: Sendable {
            case plain
            /// Each client is shown a certificate of this authority for the name that it asks for.
            ///
            /// - hosts: what is shown for some names in its place; `nil` for none.
            case tls(CertificateAuthority, hosts: (any TLSHosts)? = nil)
        }

        package let address: SocketAddress
        package let security: Security
        /// Whether somebody in between connects for the clients, so that addresses tell nothing of
        /// where they are.
        package let isRelayed: Bool

        package init(
            _ address: SocketAddress, _ security: Security = .plain, isRelayed: Bool = false
        ) {
            self.address = address
            self.security = security
            self.isRelayed = isRelayed
        }
    }

    /// Where it listens, in the order of the ports, with what the system chose for port 0.
    package let addresses: [SocketAddress]
    private let ports: [BoundPort]
    private let loops: [EventLoop]
    private let limits: ServerLimits
    private let answer: Answer
    private let onRefusal: (@Sendable (RefusedRequest) -> Void)?
    private let numbers = ConnectionNumbers()
    private let shutdown = Shutdown()

    private struct BoundPort {
        let descriptors: [Int32]
        let address: SocketAddress
        let security: Port.Security
        let isRelayed: Bool
    }

    /// Binds; nothing is accepted before `run`.
    ///
    /// - Parameter onRefusal: is told of requests that get no answer of a route, on any loop.
    ///
    /// Errors: `listen-failed`.
    package init(
        ports: [Port], loops: [EventLoop], limits: ServerLimits = ServerLimits(),
        onRefusal: (@Sendable (RefusedRequest) -> Void)? = nil, answer: @escaping Answer
    ) throws(Failure) {
        self.loops = loops
        self.limits = limits
        self.answer = answer
        self.onRefusal = onRefusal
        var bound: [BoundPort] = []
        for port in ports {
            let (descriptors, address) = try Listener.bindShared(port.address, count: loops.count)
            bound.append(
                BoundPort(
                    descriptors: descriptors, address: address, security: port.security,
                    isRelayed: port.isRelayed))
        }
        self.ports = bound
        addresses = bound.map(\.address)
    }

    /// Serves until `stop` is called and the connections have ended.
    ///
    /// - Returns: whether every connection ended by itself before the deadline.
    package func run() async -> Bool {
        let ticketKey = Digests.randomBytes(80)
        return await withTaskGroup(of: Bool.self) { group in
            for port in ports {
                for (loop, descriptor) in zip(loops, port.descriptors) {
                    group.addTask(executorPreference: loop) {
                        await self.serve(port, on: loop, descriptor, ticketKey: ticketKey)
                    }
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    /// Ends idle connections now, lets the others finish their exchange, and ends those too when
    /// `grace` milliseconds have passed; from any thread.
    package func stop(grace: UInt64? = nil) { shutdown.request(grace: grace) }

    private func serve(
        _ port: BoundPort, on loop: EventLoop, _ descriptor: Int32, ticketKey: [UInt8]
    ) async -> Bool {
        let listener: Listener
        do throws(SystemError) {
            listener = try Listener(descriptor: descriptor, address: port.address, loop: loop)
        } catch {
            return false
        }
        let worker = ServerWorker(
            loop: loop, listener: listener, security: port.security,
            isRelayed: port.isRelayed, ticketKey: ticketKey, numbers: numbers, limits: limits,
            answer: answer, onRefusal: onRefusal)
        shutdown.onRequest(on: loop) { worker.drain(grace: $0) }
        // Each connection is a child task, so that none outlives the server.
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop) { await worker.acceptConnections() }
            await worker.untilDrained()
            group.cancelAll()
        }
        return !worker.wasCut
    }
}
