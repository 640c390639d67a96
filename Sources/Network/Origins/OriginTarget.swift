internal import Base
internal import Sockets
package import Traffic

/// An origin and how it is spoken to.
package struct OriginTarget: Sendable, Hashable {
    package let isSecure: Bool
    /// Where it is dialled: a name in lower case or an address, without brackets.
    package let host: String
    package let port: UInt16
    /// What it is recorded as: what the client calls it where that agrees with `host`, else the
    /// same. It never decides where a connection goes, nor what a certificate has to show.
    package let name: String
    /// As `Host` has it: without the scheme's default port (RFC 9110 §7.2).
    package let authority: String

    /// - Parameter claim: what the client calls it: by SNI in TLS, by `Host` elsewhere. Only a name
    ///   of loopback counts, and only for an address of loopback: any other name could be made up.
    package init(isSecure: Bool, host: String, port: UInt16, calledAs claim: String? = nil) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        let agreed = claim.flatMap { claim in
            LoopbackHost.isAddress(host) && LoopbackHost.isName(claim) ? claim.lowercased() : nil
        }
        name = agreed ?? host
        let written = name.utf8.contains(0x3A) ? "[\(name)]" : name
        authority = port == (isSecure ? 443 : 80) ? written : "\(written):\(port)"
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
