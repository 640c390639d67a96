internal import Base
internal import Contents
internal import HTTPCodecs
internal import HTTPModel
internal import Proxy
internal import Sockets

/// How a reader of the page has come to the proxy.
struct DeviceView: Sendable {
    /// Where the device reaches the proxy that is to be set up.
    let place: HostPort
    /// Where other devices reach it; empty unless the reader is on this machine.
    let elsewhere: [HostPort]
    /// Whether the reader's device uses it as its proxy.
    let usesProxy: Bool
    /// Whether the reader came by TLS with a certificate of the CA's.
    let isSecure: Bool
    let needsPassword: Bool
    /// What the browser calls itself.
    let agent: String

    init(
        _ request: OwnRequest, needsPassword: Bool,
        places: (SocketAddress) -> [SocketAddress]
    ) {
        let named = request.head.fields.first(.host).flatMap { HostField.parse($0) }
        let port: UInt16 = request.isSecure ? 443 : 80
        let literal = named.flatMap { SocketAddress(literal: $0.host, port: $0.port ?? port) }
        usesProxy = named?.host == ProxyWiring.ownHost
        // What the reader's device has called it is right also where the way leads through others,
        // such as a container's port.
        let own = (literal ?? request.address).place.reachable
        isSecure = request.isSecure
        self.needsPassword = needsPassword
        elsewhere = request.address.isLoopback ? places(request.listener).map(\.place) : []
        place = elsewhere.first ?? own
        agent = request.head.fields.first(named: "user-agent")?.text ?? ""
    }

    /// For automatic configuration. There is no `DIRECT` in it: what cannot be recorded fails.
    var proxyScript: [UInt8] {
        [UInt8](ProxyScript.text(answering: "PROXY \(place)").utf8)
    }
}

extension SocketAddress {
    fileprivate var place: HostPort { HostPort(host: unmappedHost, port: port) }
}
