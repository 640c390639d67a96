internal import Base
internal import CaptureStore
internal import Negotiation
internal import Origins
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
    var headLimit: Int64?
    var loopCount: Int64?
    /// The ways in; none is the explicit one alone.
    var modes: [PortMode] = []
    var passed: [HostPattern] = []
    var intercepted: [HostPattern] = []
    var blocked: [HostPattern] = []
    var healAfter: Int64? = 3
    var upstreams: [UpstreamProxy] = []
    var upstreamCredentials: [UpstreamCredentialFile] = []
    var credentials: String?
    var keepsHTTP3 = false
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

/// Where the clients of a namespace come in.
struct CapturedPorts {
    let ports: [PortPlan]
    let network: CapturedNetwork
}

/// A proxy with everything it needs, started and stopped as one.
final class ProxyService: RunService {
    let authority: CertificateAuthority
    let capturePath: String
    let server: ProxyServer
    let shutdown = Shutdown()
    /// The content server beside it, which the proxy trusts.
    let content: ContentService?
    private let writer: CaptureWriter
    private let loops: EventLoops
    private let numbers: RecordNumbers

    /// Opens the authority and the capture, and binds.
    ///
    /// - Parameters:
    ///   - log: shows what passes; `nil` for silence.
    ///   - captured: the sockets of a namespace whose clients come in there; `nil` for none.
    init(
        _ options: ProxyOptions, environment: Environment, log: OutputStream?,
        captured: CapturedPorts? = nil
    ) throws(Failure) {
        authority = try options.authority.open(environment.variables)
        var plan = try options.plan()
        if let captured {
            plan.ports += captured.ports
            plan.captured = captured.network
        }
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
        numbers = RecordNumbers(
            connection: writer.nextConnectionID, exchange: writer.nextExchangeID)
        server = try ProxyServer(
            plan: plan, authority: authority, sink: sink, numbers: numbers, loops: proxyLoops)
    }

    /// Why the capture can no longer be written, `nil` while it can.
    var failure: Failure? { writer.failure }

    /// Records a connection that did not come to the proxy, but was seen.
    func record(_ make: (_ id: Int64) -> ConnectionRecord) {
        writer.submit([.connection(make(numbers.nextConnection()))])
    }

    /// Serves until `shutdown` is requested, and completes the capture.
    ///
    /// - Parameter finally: called when the last connection has ended, for what is still to be
    ///   recorded.
    /// - Returns: whether every connection ended by itself.
    ///
    /// Errors: `capture-write-failed`.
    func run(finally: () async -> Void = {}) async throws(Failure) -> Bool {
        ResidentCode.giveBack()
        let endedInOrder = await withTaskGroup(of: Bool.self) { group in
            if let content { group.addTask { await content.run() } }
            let ended = await server.run(until: shutdown)
            content?.stop()
            return await group.reduce(ended) { $0 && $1 }
        }
        await finally()
        try writer.close()
        loops.stop()
        return endedInOrder
    }

    /// A capture in the current folder, named for the time.
    static func freshCapturePath() -> String {
        let time = Timestamp.now().rfc3339.prefix(19).filter { $0 != ":" }
        return "\(time).sallyport"
    }
}

extension ProxyOptions {
    /// Errors: `bad-address`, `file-unreadable`, `certificate-invalid`.
    func plan() throws(Failure) -> ProxyPlan {
        var plan = ProxyPlan(listen: try listen.socketAddress())
        plan.ports = try ports()
        plan.originTrust.servesUnverified = servesUnverified
        plan.originVersion = originVersion
        for path in originAuthorities {
            plan.originTrust.extraAuthorities += try Certificate.all(
                inPEM: try Files.read(path), name: path)
        }
        plan.findsProcesses = true
        plan.versions = TLSVersions(leastTLS.version, .tls13)
        if let bodyLimit { plan.limits.recordedBody = bodyLimit }
        if let headLimit { plan.limits.headSize = Int(clamping: headLimit) }
        if let loopCount { plan.loopCount = Int(loopCount) }
        plan.disposition.passed = passed
        plan.disposition.intercepted = intercepted
        plan.disposition.blocked = blocked
        if let healAfter, healAfter > 0 {
            plan.disposition.healing = HealingPlan()
            plan.disposition.healing?.rejections = Int(clamping: healAfter)
        }
        plan.removesHTTP3 = !keepsHTTP3
        plan.upstreams = try UpstreamCredentialFile.authorize(
            upstreams, by: upstreamCredentials)
        return plan
    }

    private func ports() throws(Failure) -> [PortPlan] {
        let known = try credentials.map { path throws(Failure) in try Self.credentials(in: path) }
        let wanted = modes.isEmpty ? [PortMode(mode: .explicit)] : modes
        guard wanted.count(where: { $0.listen == nil }) <= 1 else {
            throw Failure(
                "bad-address", party: .tool, "two modes would listen at \(listen)",
                hint: "give all but one an address of its own, such as transparent@127.0.0.1:8443")
        }
        return try wanted.map { mode throws(Failure) in
            var port = PortPlan(try (mode.listen ?? listen).socketAddress(), mode.mode)
            port.credentials = known
            port.isTransparentSocket = mode.isTransparentSocket
            return port
        }
    }

    /// Reads a file of `user:password` lines.
    ///
    /// Errors: `file-unreadable`, `bad-credentials`.
    static func credentials(in path: String) throws(Failure) -> [SOCKSCredential] {
        let lines = try Files.read(path).split(separator: 0x0A).map { line in
            line.last == 0x0D ? line.dropLast() : line
        }
        let found = lines.filter { !$0.isEmpty }.compactMap { line -> SOCKSCredential? in
            guard let colon = line.firstIndex(of: 0x3A) else { return nil }
            return SOCKSCredential(
                user: Array(line[..<colon]), password: Array(line[(colon + 1)...]))
        }
        guard !found.isEmpty, found.count == lines.count(where: { !$0.isEmpty }) else {
            throw Failure(
                "bad-credentials", party: .tool, "\(path) holds a line that is no user:password",
                hint: "write one user:password a line, each of at most 255 bytes")
        }
        return found
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
