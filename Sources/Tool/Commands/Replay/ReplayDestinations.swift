internal import Base
internal import HTTPClient
internal import Origins

/// Decides where recorded requests go, and which of them had better not.
struct ReplayDestinations {
    /// Where everything goes that nothing else is said of.
    var standard: OriginTarget?
    /// By the recorded authority.
    var moved: [String: OriginTarget] = [:]
    /// Recorded hosts that may get requests that change something.
    var allowed: Set<String> = []
    var allowsAll = false

    enum Decision: Equatable {
        case send(OriginTarget)
        /// It may change something at a host that nobody named.
        case withhold
        /// Its authority is none.
        case unknown
    }

    func decide(isSafe: Bool, isSecure: Bool, authority: String) -> Decision {
        let recorded = OriginTarget(isSecure: isSecure, authority: authority)
        let names = [authority, recorded?.host].compactMap { $0 }
        if let target = names.lazy.compactMap({ moved[$0] }).first ?? standard {
            return .send(target)
        }
        guard let recorded else { return .unknown }
        let mayChange = allowsAll || names.contains { allowed.contains($0) }
        return isSafe || mayChange ? .send(recorded) : .withhold
    }
}

/// What `--to` says: a URL for everything, or for one recorded host.
struct ReplayMove {
    /// `nil` for every host.
    let host: String?
    let target: OriginTarget
}

extension OriginTarget {
    /// Reads an authority (RFC 3986 §3.2) without user information; `nil` if it is none.
    init?(isSecure: Bool, authority: String) {
        let bytes = [UInt8](authority.utf8)
        let hasPort = bytes.lastIndex(of: 0x3A).map { colon in
            bytes.last != 0x5D && (bytes.first == 0x5B || bytes.firstIndex(of: 0x3A) == colon)
        }
        let standard = isSecure ? "443" : "80"
        let text = hasPort == true ? authority : "\(authority):\(standard)"
        guard let place = HostPort(text), place.port > 0 else { return nil }
        let host = [UInt8](place.host.utf8).map(\.asciiLowercased).text
        self.init(isSecure: isSecure, host: host, port: place.port)
    }

    /// Reads `http://HOST[:PORT]` or `https://…`, with nothing behind it but a slash.
    init?(url: String) {
        let isSecure = url.hasPrefix("https://")
        guard isSecure || url.hasPrefix("http://") else { return nil }
        var authority = url.dropFirst(isSecure ? 8 : 7)
        if authority.hasSuffix("/") { authority.removeLast() }
        self.init(isSecure: isSecure, authority: String(authority))
    }
}

extension ValueSyntax where Value == ReplayMove {
    static var replayMove: ValueSyntax {
        .reading(
            "[HOST=]URL", wanted: "the URL of an origin",
            hint: "write it like https://127.0.0.1:8443, or api.example=http://127.0.0.1:8080"
        ) { text in
            let host = text.prefix { $0 != "=" && $0 != "/" }
            let isMove = text.dropFirst(host.count).first == "=" && !host.isEmpty
            let url = isMove ? String(text.dropFirst(host.count + 1)) : text
            return OriginTarget(url: url).map {
                ReplayMove(host: isMove ? String(host) : nil, target: $0)
            }
        }
    }
}
