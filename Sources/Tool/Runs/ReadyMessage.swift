package import Base
package import Proxy
internal import Sockets
package import TLS

/// What a proxy says once it listens: where, whom to trust, and where it records.
package struct ReadyMessage: Sendable {
    /// The ways in, at least one.
    package let ways: [WayIn]
    /// The path of the certificate authority's certificate.
    package let authority: String
    /// The path of the capture, `nil` if nothing is recorded.
    package let capture: String?
    package let processID: Int32
    /// Whether clients of an explicit proxy have to log in.
    package let needsLogin: Bool
    /// Where the content server beside it is, `nil` if there is none.
    package let content: JSONText?

    /// A port with what it is for.
    package struct WayIn: Sendable {
        /// The address that was bound, with its real port.
        package let listen: HostPort
        package let mode: ProxyPlan.Mode
        /// Where devices find the page that they are set up from.
        package let pages: [HostPort]

        package init(_ listen: HostPort, _ mode: ProxyPlan.Mode, pages: [HostPort] = []) {
            self.listen = listen
            self.mode = mode
            self.pages = pages
        }
    }

    /// What a server that was opened with `options` says.
    package init(
        of server: ProxyServer, _ options: ProxyOptions, _ authority: CertificateAuthority,
        capture: String?, processID: Int32, content: JSONText? = nil
    ) {
        let modes = options.modes.isEmpty ? [.explicit] : options.modes.map(\.mode)
        let ways = zip(server.addresses, modes).map { address, mode in
            let places = address.isLoopback ? [address] : address.placesOnNetwork
            return WayIn(
                HostPort(address), mode, pages: mode == .explicit ? places.map { HostPort($0) } : []
            )
        }
        self.init(
            ways: ways, authority: authority.certificatePath, capture: capture,
            processID: processID, needsLogin: options.credentials != nil, content: content)
    }

    package init(
        ways: [WayIn], authority: String, capture: String?, processID: Int32,
        needsLogin: Bool = false, content: JSONText? = nil
    ) {
        precondition(!ways.isEmpty, "a proxy listens somewhere")
        self.ways = ways
        self.authority = authority
        self.capture = capture
        self.processID = processID
        self.needsLogin = needsLogin
        self.content = content
    }

    /// The line for programs, in the schema `sallyport.ready/1`, with its line end.
    package var json: [UInt8] {
        let ports = ways.map { way in
            var members = [
                JSONText.Member("listen", .string(way.listen.description)),
                JSONText.Member("mode", .string(way.modeText)),
            ]
            if !way.pages.isEmpty {
                let urls = way.pages.map { JSONText.string("http://\($0)/") }
                members.append(JSONText.Member("pages", .array(urls)))
            }
            return JSONText.object(members)
        }
        var members = [
            JSONText.Member("schema", "sallyport.ready/1"),
            JSONText.Member("listen", .string(ways[0].listen.description)),
            JSONText.Member("ports", .array(ports)),
            JSONText.Member("ca", .string(authority)),
            JSONText.Member("capture", .optional(capture)),
            JSONText.Member("pid", .integer(Int64(processID))),
        ]
        if let content { members.append(JSONText.Member("content", content)) }
        return JSONText.object(members).line + [UInt8(ascii: "\n")]
    }
}

extension ReadyMessage.WayIn {
    /// As `--mode` names it.
    fileprivate var modeText: String {
        switch mode {
        case .explicit: "explicit"
        case .reverse: "reverse:\(origin ?? "")"
        case .transparent: "transparent"
        case .captured: "captured"
        }
    }

    /// Whether only this machine's own programs come in.
    package var isOnLoopback: Bool {
        SocketAddress(literal: listen.host, port: 0)?.isLoopback ?? false
    }

    /// Scheme, host and port of reverse mode.
    package var origin: String? {
        guard case .reverse(let target) = mode else { return nil }
        return "\(target.scheme.rawValue)://\(HostPort(host: target.host, port: target.port))"
    }
}
