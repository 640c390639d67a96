package import Base
internal import Proxy
package import Runs
internal import Terminal
internal import Views

extension ReadyMessage {
    /// The lines for people.
    package var text: String {
        var lines = ways.map { "listening on \($0.listen), \($0.words)" }
        lines.append("CA certificate: \(TerminalText.sanitized(authority))")
        if let curl = ways.lazy.compactMap({ $0.curl(trusting: authority, needsLogin) }).first {
            lines += ["to trust it for one command:", "  \(TerminalText.sanitized(curl))"]
        }
        let pages = ways.flatMap(\.pages)
        if !pages.isEmpty {
            lines.append("to set up a device or a browser, open there:")
            lines += pages.map { "  http://\($0)/" }
        }
        if let capture { lines.append("capture: \(TerminalText.sanitized(capture))") }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension Console {
    /// Warns of what anybody in the network may use.
    ///
    package func warn(of ready: ReadyMessage) throws(Failure) {
        guard !ready.needsLogin,
            let open = ready.ways.first(where: { $0.mode == .explicit && !$0.isOnLoopback })
        else { return }
        try note(
            "whoever reaches \(open.listen) can use this proxy, and gets wherever this machine gets"
        )
        try hint("--proxy-auth FILE asks them for a user and a password")
    }
}

extension ReadyMessage.WayIn {
    fileprivate var words: String {
        switch mode {
        case .explicit: "an explicit proxy"
        case .reverse: "in front of \(origin ?? "")"
        case .transparent, .captured: "for connections that the system leads here"
        }
    }

    /// A command that comes in this way; `nil` if curl cannot.
    fileprivate func curl(trusting authority: String, _ needsLogin: Bool) -> String? {
        let file = shellQuoted(authority)
        switch mode {
        case .explicit:
            let login = needsLogin ? " --proxy-user USER:PASSWORD" : ""
            return "curl --proxy http://\(listen.reachable)\(login) --cacert \(file)"
                + " https://example.com/"
        case .reverse(let target) where target.scheme != .tcp:
            let place = HostPort(host: target.host, port: target.port)
            return "curl --connect-to \(place):\(listen.reachable) --cacert \(file)"
                + " \(target.scheme.rawValue)://\(place)/"
        case .reverse, .transparent, .captured: return nil
        }
    }
}
