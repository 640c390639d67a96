internal import Base
internal import CaptureStore
internal import Launching
internal import Origins
internal import Proxy
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic

/// What the servers of an audit share: the capture, the loops, and the authority for clients that
/// are not audited.
final class AuditServers: Sendable {
    let capturePath: String
    let loops: [EventLoop]
    private let group: EventLoops
    private let writer: CaptureWriter
    private let numbers: RecordNumbers
    private let authority: CertificateAuthority
    private let limits: ProxyLimits
    /// Of a capture that is named for the time, the number of its first connection.
    private let firstOwnConnection: Int64?

    /// Errors: those of opening the capture and the authority.
    init(_ options: ProxyOptions, variables: [String: String]) throws(Failure) {
        authority = try options.authority.open(variables)
        capturePath = options.capture ?? ProxyService.freshCapturePath()
        writer = try CaptureWriter(
            path: capturePath, configuration: CaptureConfiguration(digest: Digests.sha256))
        group = try EventLoops(count: options.loopCount.map(Int.init) ?? availableProcessorCount())
        loops = group.all
        numbers = RecordNumbers(
            connection: writer.nextConnectionID, exchange: writer.nextExchangeID)
        limits = ProxyLimits()
        firstOwnConnection = options.capture == nil ? writer.nextConnectionID : nil
    }

    /// Why the capture can no longer be written, `nil` while it can.
    var failure: Failure? { writer.failure }

    /// A server whose clients are shown what the prober has; all else passes through it undecrypted.
    ///
    /// - Parameter loops: those that it runs on; one is enough for one command.
    /// Errors: `listen-failed`.
    func server(
        _ ports: [PortPlan], captured: CapturedNetwork? = nil, findsProcesses: Bool = false,
        prober: any Prober, loops: [EventLoop]
    ) throws(Failure) -> AuditServer {
        guard let first = ports.first, let everything = HostPattern("*") else {
            preconditionFailure("a server listens somewhere")
        }
        var plan = ProxyPlan(
            listen: SocketAddress(literal: "127.0.0.1", port: 0)!, mode: first.mode)
        plan.wiring.ports = ports
        plan.wiring.captured = captured
        plan.wiring.findsProcesses = findsProcesses
        plan.wiring.limits = limits
        plan.wiring.loopCount = loops.count
        plan.policy.disposition.passed = [everything]
        plan.interceptors = [prober]
        return AuditServer(
            try ProxyServer(
                plan: plan, authority: authority, sink: writer, numbers: numbers, loops: loops),
            writer: writer, numbers: numbers)
    }

    /// Completes the capture.
    ///
    /// Errors: `capture-write-failed`.
    func close() throws(Failure) {
        try writer.close()
        group.stop()
    }

    /// Completes the capture of an audit that has failed; one that nobody named and that holds
    /// nothing goes.
    ///
    /// Errors: `capture-write-failed`.
    func abandon() throws(Failure) {
        try close()
        if numbers.nextConnection() == firstOwnConnection { Files.remove(capturePath) }
    }
}

/// One server of an audit.
final class AuditServer: RunService {
    let server: ProxyServer
    let shutdown = Shutdown(grace: 1_000)
    private let writer: CaptureWriter
    private let numbers: RecordNumbers

    init(_ server: ProxyServer, writer: CaptureWriter, numbers: RecordNumbers) {
        self.server = server
        self.writer = writer
        self.numbers = numbers
    }

    func run(finally: () async -> Void) async throws(Failure) -> Bool {
        let endedInOrder = await server.run(until: shutdown)
        await finally()
        return endedInOrder
    }

    func abandon() { shutdown.request() }

    func record(_ make: (_ id: Int64) -> [TrafficEvent]) {
        writer.submit(make(numbers.nextConnection()))
    }
}
