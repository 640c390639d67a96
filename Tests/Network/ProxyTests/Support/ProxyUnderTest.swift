import Base
import Dispatch
import Recording
import Sockets
import Synchronization
import TLS
import TestConditions
import Testing
import Traffic

@testable import Proxy

/// All tests of a whole proxy. One at a time: some of them measure time.
@Suite(.serialized, .ownThread) struct ProxyTests {}

/// How a proxy differs from one with the plan of all tests.
struct PlanChange {
    let apply: (inout ProxyPlan) -> Void

    static var none: PlanChange { PlanChange { _ in } }
    static var servesUnverified: PlanChange {
        PlanChange { $0.policy.originTrust.servesUnverified = true }
    }

    static func mode(_ mode: ProxyPlan.Mode) -> PlanChange {
        PlanChange { $0.wiring.ports[0].mode = mode }
    }

    static func limit<Value>(
        _ limit: WritableKeyPath<ProxyLimits, Value>, _ value: Value
    ) -> PlanChange {
        PlanChange { $0.wiring.limits[keyPath: limit] = value }
    }

    static func policy<Value>(
        _ part: WritableKeyPath<ProxyPolicy, Value>, _ value: Value
    ) -> PlanChange {
        PlanChange { $0.policy[keyPath: part] = value }
    }
}

/// That a server has ended, and how.
private final class Ending: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let inOrder = Mutex<Bool?>(nil)

    func signal(_ inOrder: Bool) {
        self.inOrder.withLock { $0 = inOrder }
        semaphore.signal()
    }

    /// `nil` if it does not end in time.
    func wait() -> Bool? {
        _ = semaphore.wait(timeout: .now() + .seconds(Wire.patience))
        return inOrder.withLock { $0 }
    }
}

/// A proxy on a loop of its own, with what it records in memory.
final class ProxyUnderTest {
    let traffic: TrafficCollector
    let addresses: [SocketAddress]
    var address: SocketAddress { addresses[0] }
    let server: ProxyServer
    /// What it began with.
    let firstPolicy: ProxyPolicy
    private let shutdown: Shutdown
    private let loop: EventLoop
    private let ending = Ending()
    private var origins: [ScriptedOrigin] = []

    init(
        grace: UInt64 = 3_000, traffic: TrafficCollector = TrafficCollector(),
        _ change: PlanChange = .none
    ) throws {
        self.traffic = traffic
        loop = try EventLoop(index: 0)
        shutdown = Shutdown(grace: grace)
        guard let listen = SocketAddress(literal: "127.0.0.1", port: 0) else {
            throw WireFailure("no loopback")
        }
        var plan = ProxyPlan(listen: listen)
        plan.wiring.loopCount = 1
        plan.policy.originTrust.extraAuthorities = [TestAuthority.origin.certificate]
        change.apply(&plan)
        firstPolicy = plan.policy
        server = try ProxyServer(
            plan: plan, authority: TestAuthority.proxy, sink: traffic,
            numbers: RecordNumbers(connection: 1, exchange: 1), loops: [loop])
        addresses = server.addresses
        startThread(named: "proxy") { [loop] in loop.run() }
        // The task lives on the loop: the tests block the threads that it would run on otherwise.
        Task(executorPreference: loop) { [server, shutdown, ending] in
            ending.signal(await server.run(until: shutdown))
        }
    }

    // MARK: Peers

    func origin(
        _ kind: ScriptedOrigin.Kind = .plain, on host: String = "127.0.0.1",
        _ script: @escaping ScriptedOrigin.Script
    ) throws -> ScriptedOrigin {
        let origin = try ScriptedOrigin(kind, on: host, script)
        origins.append(origin)
        return origin
    }

    /// Takes over an origin that had to be there before the proxy.
    func adopt(_ origin: ScriptedOrigin) {
        origins.append(origin)
    }

    func connect(receiveBuffer: Int32? = nil) throws -> Wire {
        try Wire.connect(to: address, receiveBuffer: receiveBuffer)
    }

    /// Asks for a tunnel, and expects to get it.
    func tunnel(to authority: String, fields: String = "") throws -> Wire {
        let wire = try connect()
        try wire.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\(fields)\r\n")
        let head = try wire.readHead()
        guard head.hasPrefix("HTTP/1.1 200 ") else { throw WireFailure("no tunnel: \(head)") }
        return wire
    }

    /// A tunnel with TLS in it, as a client that trusts the proxy's authority has it.
    func secureTunnel(
        to origin: ScriptedOrigin, name: String = "localhost", versions: TLSVersions = .modern,
        protocols: [String] = ["http/1.1"]
    ) throws -> Wire {
        let wire = try tunnel(to: origin.authority)
        try wire.secure(Self.clientSession(for: name, versions: versions, protocols: protocols))
        if let error = wire.session?.verifyError {
            throw WireFailure("the proxy's certificate for \(name) does not verify: \(error)")
        }
        return wire
    }

    static func clientSession(
        for name: String, versions: TLSVersions = .modern, protocols: [String] = ["http/1.1"]
    ) -> TLSSession {
        let context = TLSClientContext(
            versions: versions, extraAuthorities: [TestAuthority.proxy.certificate],
            trustsSystem: false)
        let isAddress = SocketAddress(literal: name, port: 0) != nil
        return context.makeSession(
            verifying: name, serverName: isAddress ? nil : name, protocols: protocols,
            resumptionKey: name)
    }

    /// Exchanges the policy for the first one with a change.
    ///
    /// - Returns: its number.
    @discardableResult
    func exchange(_ change: (inout ProxyPolicy) -> Void) -> Int64 {
        var policy = firstPolicy
        change(&policy)
        return server.exchange(policy)
    }

    // MARK: Ending

    /// Asks for the shutdown and does not wait for it.
    func requestShutdown() { shutdown.request() }

    /// Asks for the shutdown, and keeps the proxy from hearing of it before `action` has happened.
    func requestShutdown(overtaking action: () throws -> Void) rethrows {
        let (isHeld, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        loop.execute {
            isHeld.signal()
            goesOn.wait()
        }
        isHeld.wait()
        defer { goesOn.signal() }
        shutdown.request()
        try action()
    }

    /// Stops the proxy, and the origins after it.
    ///
    /// - Returns: whether all connections ended by themselves; `nil` if the proxy did not end.
    func stop() -> Bool? {
        shutdown.request()
        let endedInOrder = ending.wait()
        loop.stop()
        for origin in origins { origin.stop() }
        return endedInOrder
    }

    /// What contradicts itself in the records of a proxy that has ended.
    var contradictions: [String] {
        let content = traffic.content
        var found = content.contradictions
        for records in content.connections.values {
            guard let last = records.last else { continue }
            if last.closedAt == nil { found.append("connection \(last.id) has no end") }
            if last.outcome == .open { found.append("connection \(last.id) has no outcome") }
            let exchanges = content.finalExchanges.filter { $0.connection == last.id }
            if Int64(exchanges.count) != last.exchangeCount {
                found.append(
                    "connection \(last.id) says \(last.exchangeCount) exchanges and has"
                        + " \(exchanges.count)")
            }
        }
        for (id, records) in content.exchanges {
            guard let last = records.last else { continue }
            if last.durationMicroseconds == nil { found.append("exchange \(id) has no end") }
            for direction in [Direction.request, .response] {
                let body = direction == .request ? last.requestBody : last.responseBody
                let chunks = content.chunks[id]?[direction]?.count ?? 0
                if chunks != body.chunkCount {
                    found.append("exchange \(id) says \(body.chunkCount) chunks and has \(chunks)")
                }
            }
        }
        for origin in origins { found += origin.failures.map { "origin: \($0)" } }
        return found
    }
}

/// Runs `body` with a proxy, ends that, and checks that its records are whole.
func withProxy(
    endsInOrder: Bool? = true, grace: UInt64 = 3_000,
    traffic: TrafficCollector = TrafficCollector(),
    _ change: PlanChange = .none,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (ProxyUnderTest) throws -> Void
) throws {
    let proxy = try ProxyUnderTest(grace: grace, traffic: traffic, change)
    do {
        try body(proxy)
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    let ended = proxy.stop()
    #expect(
        ended != nil && (endsInOrder == nil || ended == endsInOrder), "how the proxy ended",
        sourceLocation: sourceLocation)
    #expect(proxy.contradictions == [], sourceLocation: sourceLocation)
}
