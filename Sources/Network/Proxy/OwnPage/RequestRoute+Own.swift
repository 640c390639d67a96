internal import HTTPCodecs
internal import HTTPModel
internal import Origins
internal import Sockets
internal import Traffic

extension ProxyWiring {
    /// The name of the proxy itself, for clients that have it as their proxy. Nobody else can have
    /// it (RFC 6761 §6.2): it is neither resolved nor asked of an upstream proxy.
    package static let ownHost = ConnectionRecord.toolHost
    private static let ownRootedHost = ownHost + "."

    /// Whether a host, in lower case, is the proxy itself.
    func isOwn(_ host: String) -> Bool { page != nil && Self.isOwnName(host) }

    /// Whether a host, in lower case, is what a proxy with a page is called.
    fileprivate static func isOwnName(_ host: String) -> Bool {
        host == ownHost || host == ownRootedHost
    }
}

extension RequestRoute {
    /// Where a request goes that is for the proxy itself; `nil` for all others. The caller has seen to
    /// it that the proxy has a page.
    ///
    /// A browser sends a request that names no origin to the host in its address bar. That may be a
    /// name that leads here since a moment ago, so that the page behind it reads the answer (DNS
    /// rebinding): only what nobody else can have a page at is answered.
    ///
    /// - Parameter port: of the listener.
    /// - Parameter address: that the client has connected to; asked for if it matters.
    static func own(
        _ head: RequestHead, instead route: RequestRoute, isSecure: Bool, port: UInt16,
        address: () -> SocketAddress?
    ) -> RequestRoute? {
        let path: [UInt8]?
        switch route {
        case .connect(let host, _): return ProxyWiring.isOwnName(host) ? route : nil
        case .refuse:
            guard head.target.first == UInt8(ascii: "/"),
                let host = head.fields.first(.host).flatMap({ HostField.parse($0)?.host }),
                ProxyWiring.isOwnName(host) || host == "localhost" || host.hasSuffix(".local")
                    || SocketAddress(literal: host, port: 0) != nil
            else { return nil }
            path = nil
        case .forward(let origin, let target, _):
            guard ProxyWiring.isOwnName(origin.host) || isOwn(origin, port, address)
            else { return nil }
            path = target
        }
        let origin = OriginTarget(
            isSecure: isSecure, host: ProxyWiring.ownHost, port: isSecure ? 443 : 80)
        return .forward(to: origin, target: path, host: nil)
    }

    /// Whether it is the address that the client has connected to: one that has a proxy asks it for
    /// that as well.
    private static func isOwn(
        _ origin: OriginTarget, _ port: UInt16, _ address: () -> SocketAddress?
    ) -> Bool {
        guard origin.port == port, let address = address() else { return false }
        if origin.host == "localhost" { return address.isLoopback }
        return SocketAddress(literal: origin.host, port: port)?.unmappedHost
            == address.unmappedHost
    }
}
