package import Contents

/// One way to an origin.
package enum OriginWay: Sendable {
    case direct
    case upstream(UpstreamProxy)
}

/// Where a client takes its proxies from.
package enum ProxySettings: Sendable {
    /// Of an environment without proxies, or of nobody.
    case direct
    case fixed(UpstreamProxy, except: ProxyExceptions)
    case environment(ProxyEnvironment)
    case script(ProxyScriptProgram)

    /// The ways to a host, the first of which is taken; the next one if its proxy cannot be reached.
    ///
    /// - Parameter isSecure: whether TLS is spoken to the origin.
    func ways(
        to host: String, _ port: UInt16, isSecure: Bool
    ) throws(ProxyScriptViolation) -> [OriginWay] {
        switch self {
        case .direct: return [.direct]
        case .fixed(let proxy, let exceptions):
            let isUsed = proxy.leads(to: host) && !exceptions.include(host, port)
            return [isUsed ? .upstream(proxy) : .direct]
        case .environment(let environment):
            let proxy = environment.upstream(for: host, port, isSecure: isSecure)
            return [proxy.map { .upstream($0) } ?? .direct]
        case .script(let program):
            let name = host.utf8.contains(0x3A) ? "[\(host)]" : host
            let place = port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
            // Without path and query, which may hold secrets, as browsers do it for https.
            let url = "\(isSecure ? "https" : "http")://\(place)/"
            return try Self.ways(try program.answer(url: url, host: host))
        }
    }

    /// Reads the answer of a script: `PROXY a:1; SOCKS b; DIRECT`.
    static func ways(_ answer: String) throws(ProxyScriptViolation) -> [OriginWay] {
        var ways: [OriginWay] = []
        for entry in answer.split(separator: ";").prefix(Self.countLimit) {
            let words = entry.split(whereSeparator: \.isWhitespace)
            guard let word = words.first else { continue }
            switch (word.uppercased(), words.count) {
            case ("DIRECT", 1): ways.append(.direct)
            case ("PROXY", 2), ("HTTP", 2): ways.append(try way("http", words[1]))
            case ("SOCKS", 2), ("SOCKS5", 2): ways.append(try way("socks5", words[1]))
            default:
                // SOCKS 4 and proxies by TLS are no ways of ours; another one may follow.
                continue
            }
        }
        guard !ways.isEmpty else { throw .noWay(answer) }
        return ways
    }

    private static func way(
        _ scheme: String, _ place: Substring
    ) throws(ProxyScriptViolation) -> OriginWay {
        guard let proxy = UpstreamProxy(url: "\(scheme)://\(place)") else {
            throw .noWay(String(place))
        }
        return .upstream(proxy)
    }

    /// Of ways in an answer.
    private static let countLimit = 16
}
