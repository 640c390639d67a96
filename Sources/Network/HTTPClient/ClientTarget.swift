internal import Base

/// An origin that requests go to.
package struct ClientTarget: Sendable, Hashable {
    package let isSecure: Bool
    /// A name in lower case or an address, without brackets.
    package let host: String
    package let port: UInt16

    package init(isSecure: Bool, host: String, port: UInt16) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// The host, with the port where it is not the scheme's own (RFC 9110 §4.2).
    package var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Such as `https://www.example.com`.
    package var origin: String { "\(isSecure ? "https" : "http")://\(authority)" }
}
