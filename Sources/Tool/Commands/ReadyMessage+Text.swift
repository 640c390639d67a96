internal import Base
internal import Proxy
internal import Runs
internal import Views

extension ReadyMessage {
    /// The lines for people.
    var text: String {
        var lines = ways.map { "listening on \($0.listen), \($0.words)" }
        lines.append("CA certificate: \(TerminalText.sanitized(authority))")
        if let curl = ways.lazy.compactMap({ $0.curl(trusting: authority) }).first {
            lines += ["to trust it for one command:", "  \(TerminalText.sanitized(curl))"]
        }
        if let capture { lines.append("capture: \(TerminalText.sanitized(capture))") }
        return lines.map { $0 + "\n" }.joined()
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
    fileprivate func curl(trusting authority: String) -> String? {
        let file = shellQuoted(authority)
        switch mode {
        case .explicit:
            return "curl --proxy http://\(listen.reachable) --cacert \(file) https://example.com/"
        case .reverse(let target) where target.scheme != .tcp:
            let place = HostPort(host: target.host, port: target.port)
            return "curl --connect-to \(place):\(listen.reachable) --cacert \(file)"
                + " \(target.scheme.rawValue)://\(place)/"
        case .reverse, .transparent, .captured: return nil
        }
    }
}
