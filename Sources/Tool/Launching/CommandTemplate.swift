internal import Base

/// The command of an audit, with places in it for where the server is.
struct AuditCommandLine {
    let words: [String]

    /// Where one run of it is led.
    struct Place {
        var host: String
        var port: UInt16
        /// Where an explicit proxy listens; `nil` for none.
        var proxy: HostPort?
        /// The path of the audit's CA.
        var authority: String
        /// Which probe it is shown.
        var probe = ""

        /// Such as `https://www.shop.test/`; the scheme's own port is left out.
        var url: String {
            let name = host.utf8.contains(0x3A) ? "[\(host)]" : host
            return port == 443 ? "https://\(name)/" : "https://\(name):\(port)/"
        }
    }

    /// Whether it says where the server is to be named.
    var namesServer: Bool { has("{url}") || has("{host}") || has("{port}") }
    var namesProxy: Bool { has("{proxy}") }

    /// Whether it is told of a port that {url} does not name: what it is to do at HOST:443 it may not
    /// do at a URL without a port.
    func tellsUnnamedPort(at place: Place) -> Bool {
        guard has("{url}"), !place.url.hasSuffix(":\(place.port)/") else { return false }
        return filled(place).contains { $0.hasSuffix("\(place.host):\(place.port)") }
    }

    private func has(_ name: String) -> Bool {
        words.contains { $0.split(separator: name, omittingEmptySubsequences: false).count > 1 }
    }

    func filled(_ place: Place) -> [String] {
        let values = [
            ("{url}", place.url), ("{host}", place.host), ("{port}", String(place.port)),
            ("{ca}", place.authority), ("{probe}", place.probe),
            ("{proxy}", place.proxy.map { "http://\($0.reachable)" } ?? ""),
        ]
        return words.map { word in
            values.reduce(word) { text, value in
                text.split(separator: value.0, omittingEmptySubsequences: false)
                    .joined(separator: value.1)
            }
        }
    }
}
