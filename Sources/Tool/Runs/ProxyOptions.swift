package import Base
internal import Negotiation
package import Origins
package import Proxy
package import Sockets
internal import TLS

/// The options that `proxy` and `run` share.
package struct ProxyOptions: Sendable {
    package var listen = HostPort(host: "127.0.0.1", port: 8080)
    package var capture: String?
    package var authority = AuthorityConfiguration()
    package var originAuthorities: [String] = []
    package var servesUnverified = false
    package var clientCertificates = ClientCertificates()
    /// Where clients are asked for a certificate.
    package var asksForCertificates: [HostPattern] = []
    package var bodyLimit: Int64?
    package var headLimit: Int64?
    package var loopCount: Int64?
    /// The ways in; none is the explicit one alone.
    package var modes: [PortMode] = []
    package var passed: [HostPattern] = []
    package var intercepted: [HostPattern] = []
    package var blocked: [HostPattern] = []
    package var healAfter: Int64? = 3
    package var upstreams: [UpstreamProxy] = []
    package var upstreamCredentials: [UpstreamCredentialFile] = []
    package var credentials: String?
    package var keepsHTTP3 = false
    package var leastTLS = LeastTLS.tls12
    package var originVersion = ProxyPolicy.OriginVersion.mirrored
    /// The content server to run beside; `nil` for none.
    package var content: ContentOptions?

    package init() {}
}

/// The lowest version of TLS that is spoken, as it is written on the command line.
package enum LeastTLS: String, CaseIterable, Sendable {
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

/// A way in, as `--mode` names it.
package struct PortMode: Sendable {
    package var mode: ProxyPlan.Mode
    /// Where it listens; `nil` for `--listen`.
    package var listen: HostPort?
    /// Whether the system hands over connections to other addresses (IP_TRANSPARENT).
    package var isTransparentSocket = false

    package init(mode: ProxyPlan.Mode, listen: HostPort? = nil, isTransparentSocket: Bool = false) {
        self.mode = mode
        self.listen = listen
        self.isTransparentSocket = isTransparentSocket
    }
}

/// A file with a password, and the upstream proxy that it is for.
package struct UpstreamCredentialFile: Equatable, Sendable {
    /// `nil` for the only one.
    package var place: HostPort?
    package var path: String

    package init(place: HostPort?, path: String) {
        self.place = place
        self.path = path
    }

    /// The upstream proxies, each with the password that is for it alone.
    package static func authorize(
        _ upstreams: [UpstreamProxy], by files: [UpstreamCredentialFile]
    ) throws(Failure) -> [UpstreamProxy] {
        var result = upstreams
        let places = Set(upstreams.map { "\($0.host):\($0.port)" })
        for file in files {
            let place = file.place.map { "\($0.host.lowercased()):\($0.port)" }
            if let place, !places.contains(place) {
                throw Failure(
                    "bad-credentials", party: .tool,
                    "no --upstream is at \(place), which \(file.path) is for",
                    hint: "write the host and the port as --upstream has them")
            }
            guard place != nil || places.count == 1 else {
                throw Failure(
                    "bad-credentials", party: .tool,
                    "\(file.path) could be for any of \(places.count) upstream proxies",
                    hint: "say for which: --upstream-auth HOST:PORT=\(file.path)")
            }
            let credential = try ProxyOptions.credentials(in: file.path).first
            for (index, upstream) in result.enumerated()
            where place == nil || place == "\(upstream.host):\(upstream.port)" {
                result[index].credential = credential
            }
        }
        return result
    }
}

extension ProxyOptions {
    /// Errors: `bad-address`, `file-unreadable`, `certificate-invalid`, and those of the client
    /// certificates.
    func plan() throws(Failure) -> ProxyPlan {
        var plan = ProxyPlan(listen: try listen.socketAddress())
        plan.wiring.ports = try ports()
        plan.wiring.findsProcesses = true
        plan.wiring.versions = TLSVersions(leastTLS.version, .tls13)
        if let headLimit { plan.wiring.limits.headSize = Int(clamping: headLimit) }
        if let loopCount { plan.wiring.loopCount = Int(loopCount) }
        plan.policy = try policy()
        return plan
    }

    /// What of them can be exchanged while the proxy runs; files are read anew.
    ///
    /// Errors: `file-unreadable`, `certificate-invalid`, and those of the client certificates.
    func policy() throws(Failure) -> ProxyPolicy {
        var policy = ProxyPolicy()
        policy.originTrust.servesUnverified = servesUnverified
        policy.originVersion = originVersion
        for path in originAuthorities {
            policy.originTrust.extraAuthorities += try Certificate.authorities(
                inPEM: try Files.read(path), name: path)
        }
        policy.originTrust.identities = try clientCertificates.read()
        policy.asksForCertificates = asksForCertificates
        if let bodyLimit { policy.recordedBody = bodyLimit }
        policy.disposition.passed = passed
        policy.disposition.intercepted = intercepted
        policy.disposition.blocked = blocked
        if let healAfter, healAfter > 0 {
            policy.disposition.healing = HealingPlan()
            policy.disposition.healing?.rejections = Int(clamping: healAfter)
        }
        policy.removesHTTP3 = !keepsHTTP3
        policy.upstreams = try UpstreamCredentialFile.authorize(
            upstreams, by: upstreamCredentials)
        return policy
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
    package func socketAddress() throws(Failure) -> SocketAddress {
        let literal = host == "localhost" ? "127.0.0.1" : host
        guard let address = SocketAddress(literal: literal, port: port) else {
            throw Failure(
                "bad-address", party: .tool, "cannot listen on '\(host)': not an IP address",
                hint: "use an address of this machine, such as 127.0.0.1 or ::1")
        }
        return address
    }

    package init(_ address: SocketAddress) {
        self.init(host: address.host, port: address.port)
    }
}
