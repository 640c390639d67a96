internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Negotiation
internal import Origins
internal import Sockets
internal import Traffic

/// Where a client's requests can go.
enum Entry: Sendable {
    /// Requests name their origin: the port of an explicit proxy.
    case anyOrigin
    /// All requests go to one origin, inside a tunnel or in reverse mode; `host` is the Host that
    /// goes out, `nil` for as it came.
    case fixed(OriginTarget, host: [UInt8]?)
    /// All go to the origin for which a connection to an explicit proxy has changed over to HTTP/2.
    case upgraded(OriginTarget)

    /// Whether a client speaks to us as its proxy: what it says to a proxy is for us then, and goes
    /// on to a proxy of its own else.
    var isProxy: Bool {
        switch self {
        case .anyOrigin, .upgraded: true
        case .fixed: false
        }
    }
}

/// What is done with one request: a pure function of its head and the way it came in.
enum RequestRoute: Sendable {
    /// - `target`: the request target that goes out; `nil` for as it came.
    /// - `host`: the Host that goes out; `nil` for as it came.
    case forward(to: OriginTarget, target: [UInt8]?, host: [UInt8]?)
    /// Open a tunnel and look into it.
    case connect(host: String, port: UInt16)
    case refuse(ToolResponse)

    /// - Parameter scheme: `:scheme` of a request of HTTP/2, `nil` for one of HTTP/1.
    static func of(
        _ head: RequestHead, scheme: ArraySlice<UInt8>? = nil, through entry: Entry
    ) throws(HTTP1Violation) -> RequestRoute {
        // nghttp2 sees to it for the schemes `http` and `https` alone (RFC 9113 §8.3.1).
        if let scheme, !isPath(head, scheme) { throw .invalidTarget }
        switch entry {
        case .fixed(let origin, let host):
            return .forward(
                to: origin, target: host == nil ? nil : try originForm(of: head), host: host)
        case .upgraded(let origin): return .forward(to: origin, target: nil, host: nil)
        case .anyOrigin:
            if let scheme, !scheme.isEmpty {
                guard let host = head.fields.first(.host) else { return .refuse(.notAProxyRequest) }
                guard let (name, port) = HostField.parse(host) else { throw .invalidTarget }
                let isSecure = scheme.equalsIgnoringCase("https")
                guard isSecure || scheme.equalsIgnoringCase("http") else {
                    return .refuse(.notAProxyRequest)
                }
                let origin = OriginTarget(
                    isSecure: isSecure, host: name, port: port ?? (isSecure ? 443 : 80))
                return .forward(to: origin, target: nil, host: nil)
            }
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

extension RequestRoute {
    /// Whether the target is one that HTTP/2 has: a path, the asterisk of OPTIONS, or what CONNECT
    /// asks for, which has no scheme unless it is extended and has a path (RFC 8441 §4).
    private static func isPath(_ head: RequestHead, _ scheme: ArraySlice<UInt8>) -> Bool {
        head.target.first == 0x2F || head.knownMethod == .connect && scheme.isEmpty
            || head.target.elementsEqual("*".utf8) && head.method.elementsEqual("OPTIONS".utf8)
    }

    /// The path of a target that names an origin besides; `nil` for every other target.
    ///
    /// Where all requests go to one origin under its own name, a client must not choose another: an
    /// origin has to prefer the target to Host (RFC 9112 §3.2.2).
    private static func originForm(of head: RequestHead) throws(HTTP1Violation) -> [UInt8]? {
        guard head.knownMethod != .connect, head.target.first != 0x2F,
            case .absolute(_, _, _, let path, _) = try RequestTarget(head)
        else { return nil }
        return path
    }
}

extension ConnectionTask {
    /// Whether the client may use the proxy: it may if nobody needs a password, or if the request
    /// holds one of those that are known (RFC 7617).
    func admits(_ head: RequestHead, through entry: Entry) -> Bool {
        guard entry.isProxy, let credentials = port.credentials else { return true }
        guard let value = head.fields.first(.proxyAuthorization),
            value.prefix(6).equalsIgnoringCase("basic "),
            let text = Base64.decode(value.dropFirst(6)), let colon = text.firstIndex(of: 0x3A)
        else { return false }
        return SOCKSCredential.anyMatches(
            credentials, user: text[..<colon], password: text[(colon + 1)...])
    }
}
