internal import Base
package import Origins

/// Decides where recorded requests go, and which of them had better not.
package struct ReplayDestinations: Sendable {
    package init() {}

    /// Where everything goes that nothing else is said of.
    package var standard: OriginTarget?
    /// By the recorded authority.
    package var moved: [String: OriginTarget] = [:]
    /// Recorded hosts that may get requests that change something.
    package var allowed: Set<String> = []
    package var allowsAll = false

    package enum Decision: Equatable {
        case send(OriginTarget)
        /// It may change something at a host that nobody named.
        case withhold
        /// Its authority is none.
        case unknown
    }

    package func decide(isSafe: Bool, isSecure: Bool, authority: String) -> Decision {
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
package struct ReplayMove: Sendable {
    /// `nil` for every host.
    package let host: String?
    package let target: OriginTarget

    package init(host: String?, target: OriginTarget) {
        self.host = host
        self.target = target
    }
}

extension OriginTarget {
    /// Reads an authority (RFC 3986 §3.2) without user information; `nil` if it is none.
    package init?(isSecure: Bool, authority: String) {
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
    package init?(url: String) {
        let isSecure = url.hasPrefix("https://")
        guard isSecure || url.hasPrefix("http://") else { return nil }
        var authority = url.dropFirst(isSecure ? 8 : 7)
        if authority.hasSuffix("/") { authority.removeLast() }
        self.init(isSecure: isSecure, authority: String(authority))
    }
}
