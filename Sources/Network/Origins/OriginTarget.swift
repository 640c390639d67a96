internal import Sockets
package import Traffic

/// An origin and how it is spoken to.
package struct OriginTarget: Sendable, Hashable {
    package let isSecure: Bool
    /// A name in lower case or an address, without brackets.
    package let host: String
    package let port: UInt16
    /// As `Host` has it: without the scheme's default port (RFC 9110 §7.2).
    package let authority: String

    package init(isSecure: Bool, host: String, port: UInt16) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        let name = host.utf8.contains(0x3A) ? "[\(host)]" : host
        authority = port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    package var scheme: ExchangeRecord.Scheme { isSecure ? .https : .http }

    /// Such as `https://www.example.com`.
    package var origin: String { "\(scheme.rawValue)://\(authority)" }

    /// As the target of a CONNECT has it: with the port, always (RFC 9110 §7.1).
    package var tunnelAuthority: String { port == 443 ? "\(authority):443" : authority }

    /// The SNI that asks for it; an address has none (RFC 6066 §3).
    package var serverName: String? {
        SocketAddress(literal: host, port: port) == nil ? host : nil
    }

    package static func == (left: OriginTarget, right: OriginTarget) -> Bool {
        left.port == right.port && left.isSecure == right.isSecure && left.host == right.host
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(isSecure)
    }
}
