internal import Base
internal import CaptureStore
internal import Proxy
internal import Sockets
internal import TLS
internal import Traffic

/// The options that `proxy` and `run` share.
struct ProxyOptions {
    var listen = HostPort(host: "127.0.0.1", port: 8080)
    var capture: String?
    var authority = AuthorityConfiguration()
    var originAuthorities: [String] = []
    var servesUnverified = false
    var bodyLimit: Int64?
    var loopCount: Int64?
    var mode = ProxyPlan.Mode.explicit
    var leastTLS = LeastTLS.tls12
    var originVersion = ProxyPlan.OriginVersion.mirrored
    /// The content server to run beside; `nil` for none.
    var content: ContentOptions?
}

/// The lowest version of TLS that is spoken, as it is written on the command line.
enum LeastTLS: String, CaseIterable {
    case tls10 = "1.0"
    case tls11 = "1.1"
    case tls12 = "1.2"
    case tls13 = "1.3"

    var version: TLSVersion {
        switch self {
        case .tls10: .tls10
        case .tls11: .tls11
        case .tls12: .tls12
        case .tls13: .tls13
        }
    }
}

/// A proxy with everything it needs, started and stopped as one.
final class ProxyService: Sendable {
    let authority: CertificateAuthority
    let capturePath: String
    let server: ProxyServer
    let shutdown = Shutdown()
    /// The content server beside it, which the proxy trusts.
    let content: ContentService?
    private let writer: CaptureWriter
    private let loops: EventLoops

    /// Opens the authority and the capture, and binds.
    ///
    /// - Parameter log: shows what passes; `nil` for silence.
    init(_ options: ProxyOptions, environment: Environment, log: OutputStream?) throws(Failure) {
        authority = try options.authority.open(environment.variables)
        var plan = try options.plan()
        capturePath = options.capture ?? Self.freshCapturePath()
        writer = try CaptureWriter(
            path: capturePath, configuration: CaptureConfiguration(digest: Digests.sha256))
        loops = try EventLoops(count: plan.loopCount + (log == nil ? 0 : 1))
        var sink: any TrafficSink = writer
        if let log, let logLoop = loops.all.last {
            sink = LiveSink(
                store: writer, log: LiveLog(for: log, variables: environment.variables),
                output: log, loop: logLoop)
        }
        let proxyLoops = Array(loops.all.prefix(plan.loopCount))
        content = try options.content.map { options throws(Failure) in
            try ContentService(options, environment: environment, loops: proxyLoops)
        }
        if let content { plan.originTrust.extraAuthorities.append(content.authority.certificate) }
        server = try ProxyServer(
            plan: plan, authority: authority, sink: sink,
            numbers: RecordNumbers(
                connection: writer.nextConnectionID, exchange: writer.nextExchangeID),
            loops: proxyLoops)
    }

    /// Why the capture can no longer be written, `nil` while it can.
    var failure: Failure? { writer.failure }

    /// Serves until `shutdown` is requested, and completes the capture.
    ///
    /// - Returns: whether every connection ended by itself.
    ///
    /// Errors: `capture-write-failed`.
    func run() async throws(Failure) -> Bool {
        let endedInOrder = await withTaskGroup(of: Bool.self) { group in
            if let content { group.addTask { await content.run() } }
            let ended = await server.run(until: shutdown)
            content?.stop()
            return await group.reduce(ended) { $0 && $1 }
        }
        try writer.close()
        loops.stop()
        return endedInOrder
    }

    /// A capture in the current folder, named for the time.
    private static func freshCapturePath() -> String {
        let time = Timestamp.now().rfc3339.prefix(19).filter { $0 != ":" }
        return "\(time).sallyport"
    }
}

extension ProxyOptions {
    /// Errors: `bad-address`, `file-unreadable`, `certificate-invalid`.
    func plan() throws(Failure) -> ProxyPlan {
        var plan = ProxyPlan(listen: try listen.socketAddress(), mode: mode)
        plan.originTrust.servesUnverified = servesUnverified
        plan.originVersion = originVersion
        for path in originAuthorities {
            plan.originTrust.extraAuthorities += try Certificate.all(
                inPEM: try Files.read(path), name: path)
        }
        plan.versions = TLSVersions(leastTLS.version, .tls13)
        if let bodyLimit { plan.limits.recordedBody = bodyLimit }
        if let loopCount { plan.loopCount = Int(loopCount) }
        return plan
    }
}

extension HostPort {
    /// The address to bind; names other than `localhost` are refused, because they may change.
    ///
    /// Errors: `bad-address`.
    func socketAddress() throws(Failure) -> SocketAddress {
        let literal = host == "localhost" ? "127.0.0.1" : host
        guard let address = SocketAddress(literal: literal, port: port) else {
            throw Failure(
                "bad-address", party: .tool, "cannot listen on '\(host)': not an IP address",
                hint: "use an address of this machine, such as 127.0.0.1 or ::1")
        }
        return address
    }

    init(_ address: SocketAddress) {
        self.init(host: address.host, port: address.port)
    }
}
