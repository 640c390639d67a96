internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Traffic

/// Where a client's requests can go.
enum Entry: Sendable {
    /// Requests name their origin: the port of an explicit proxy.
    case anyOrigin
    /// All requests go to one origin: inside a tunnel, or in reverse mode.
    case fixed(OriginTarget, rewritesHost: Bool)
}

/// An origin and how it is spoken to.
struct OriginTarget: Sendable, Hashable {
    let isSecure: Bool
    /// A name in lower case or an address, without brackets.
    let host: String
    let port: UInt16

    var scheme: ExchangeRecord.Scheme { isSecure ? .https : .http }

    /// As `Host` has it: without the scheme's default port (RFC 9110 §7.2).
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}

/// What is done with one request: a pure function of its head and the way it came in.
enum RequestRoute: Sendable {
    /// - `target`: the request target that goes out; `nil` for as it came.
    /// - `host`: the Host that goes out; `nil` for as it came.
    case forward(to: OriginTarget, target: [UInt8]?, host: [UInt8]?)
    /// Open a tunnel and look into it.
    case connect(host: String, port: UInt16)
    case refuse(ToolAnswer)

    static func of(_ head: RequestHead, through entry: Entry) throws(HTTP1Violation) -> RequestRoute
    {
        switch entry {
        case .fixed(let origin, let rewritesHost):
            let host = rewritesHost ? [UInt8](origin.authority.utf8) : nil
            return .forward(to: origin, target: nil, host: host)
        case .anyOrigin:
            switch try RequestTarget(head) {
            case .absolute(let scheme, let host, let port, let path, _):
                let origin = OriginTarget(
                    isSecure: scheme == .https, host: host.lowercased(), port: port)
                return .forward(to: origin, target: path, host: [UInt8](origin.authority.utf8))
            case .authority(let host, let port):
                return .connect(host: host.lowercased(), port: port)
            case .origin, .asterisk:
                return .refuse(.notAProxyRequest)
            }
        }
    }
}
