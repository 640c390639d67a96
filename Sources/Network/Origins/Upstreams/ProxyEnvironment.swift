package import Base
internal import Negotiation

/// The proxies that the variables of a program's environment name, as curl and most others read them.
package struct ProxyEnvironment: Sendable {
    /// `nil` for none.
    private let forHTTP: UpstreamProxy?
    private let forHTTPS: UpstreamProxy?
    private let exceptions: ProxyExceptions

    package static var none: ProxyEnvironment { ProxyEnvironment() }

    private init() {
        forHTTP = nil
        forHTTPS = nil
        exceptions = .none
    }

    /// Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`; a small letter goes before a
    /// capital one. `HTTP_PROXY` is not read: in a CGI program a client sets it by a field of its
    /// request (CVE-2016-5385).
    ///
    /// Errors: `proxy-variable-invalid`.
    package init(_ variables: [String: String]) throws(Failure) {
        let all = try Self.proxy(Self.allNames, in: variables)
        forHTTP = try Self.proxy(Self.httpNames, in: variables) ?? all
        forHTTPS = try Self.proxy(Self.httpsNames, in: variables) ?? all
        exceptions = ProxyExceptions(
            Self.exceptionNames.lazy.compactMap { variables[$0] }.first ?? "")
    }

    // Of each the first that is set counts.
    package static let httpNames = ["http_proxy"]
    package static let httpsNames = ["https_proxy", "HTTPS_PROXY"]
    package static let allNames = ["all_proxy", "ALL_PROXY"]
    package static let exceptionNames = ["no_proxy", "NO_PROXY"]

    package var isEmpty: Bool { forHTTP == nil && forHTTPS == nil }

    /// - Returns: `nil` where there is none on the way.
    package func upstream(for host: String, _ port: UInt16, isSecure: Bool) -> UpstreamProxy? {
        exceptions.include(host, port) ? nil : isSecure ? forHTTPS : forHTTP
    }

    private static func proxy(
        _ names: [String], in variables: [String: String]
    ) throws(Failure) -> UpstreamProxy? {
        for name in names {
            guard let value = variables[name], !value.isEmpty else { continue }
            guard let proxy = UpstreamProxy(url: value) else {
                // The value may hold a password, and is not shown.
                throw Failure(
                    "proxy-variable-invalid", party: .client, "\(name) names no proxy",
                    hint: "write http://HOST:PORT or socks5://HOST:PORT, or unset it")
            }
            return proxy
        }
        return nil
    }
}

extension UpstreamProxy {
    /// Reads a proxy's URL, with or without a `user:password@`.
    ///
    /// - Parameter isWhole: whether scheme and port have to be there, which variables leave out.
    /// - Returns: `nil` for what is none, or one that is spoken to by TLS.
    package init?(url text: String, isWhole: Bool = false) {
        var rest = text[...]
        var scheme = Scheme.http
        if let mark = rest.firstRange(of: "://") {
            switch rest[..<mark.lowerBound].lowercased() {
            case "http": scheme = .http
            // Names are resolved by the proxy in either case.
            case "socks5", "socks5h": scheme = .socks5
            default: return nil
            }
            rest = rest[mark.upperBound...]
        } else if isWhole {
            return nil
        }
        if rest.hasSuffix("/") { rest.removeLast() }
        var credential: SOCKSCredential?
        if let at = rest.lastIndex(of: "@") {
            credential = Self.credential(rest[..<at])
            guard credential != nil else { return nil }
            rest = rest[rest.index(after: at)...]
        }
        let withPort = isWhole ? nil : HostPort("\(rest):\(Self.standardPort)")
        guard let place = HostPort(String(rest)) ?? withPort, place.port != 0 else { return nil }
        self.init(scheme, host: place.host.lowercased(), port: place.port)
        self.credential = credential
    }

    /// What curl takes for a proxy without one, whatever its scheme.
    private static let standardPort = 1080

    private static func credential(_ userinfo: Substring) -> SOCKSCredential? {
        let parts = userinfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { PercentCoding.strictlyDecoded(Array($0.utf8)[...]) }
        guard let first = parts.first, let user = first else { return nil }
        let password = parts.count > 1 ? parts[1] : []
        guard let password else { return nil }
        return SOCKSCredential(user: user, password: password)
    }
}
