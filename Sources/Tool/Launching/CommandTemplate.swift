package import Base

/// The command of an audit, with places in it for where the server is.
package struct CommandTemplate: Sendable {
    package let words: [String]

    package init(words: [String]) {
        self.words = words
    }

    /// Where one run of it is led.
    package struct Place: Sendable {
        package var host: String
        package var port: UInt16
        /// Where an explicit proxy listens; `nil` for none.
        package var proxy: HostPort?
        /// The path of the audit's CA.
        package var authority: String
        /// Which probe it is shown.
        package var probe = ""

        package init(host: String, port: UInt16, proxy: HostPort? = nil, authority: String) {
            self.host = host
            self.port = port
            self.proxy = proxy
            self.authority = authority
        }

        /// Such as `https://www.shop.test/`; the scheme's own port is left out.
        var url: String {
            let name = host.utf8.contains(0x3A) ? "[\(host)]" : host
            return port == 443 ? "https://\(name)/" : "https://\(name):\(port)/"
        }
    }

    /// Whether it says where the server is to be named.
    package var namesServer: Bool { has("{url}") || has("{host}") || has("{port}") }
    package var namesProxy: Bool { has("{proxy}") }

    /// Whether it is told of a port that {url} does not name: what it is to do at HOST:443 it may not
    /// do at a URL without a port.
    package func tellsUnnamedPort(at place: Place) -> Bool {
        guard has("{url}"), !place.url.hasSuffix(":\(place.port)/") else { return false }
        return filled(place).contains { $0.hasSuffix("\(place.host):\(place.port)") }
    }

    private func has(_ name: String) -> Bool {
        words.contains { $0.split(separator: name, omittingEmptySubsequences: false).count > 1 }
    }

    package func filled(_ place: Place) -> [String] {
        filled([
            ("{url}", place.url), ("{host}", place.host), ("{port}", String(place.port)),
            ("{ca}", place.authority), ("{probe}", place.probe),
            ("{proxy}", place.proxy.map { "http://\($0.reachable)" } ?? ""),
        ])
    }

    /// With each of the places, such as `{url}`, replaced by its value.
    package func filled(_ values: [(place: String, value: String)]) -> [String] {
        words.map { word in
            values.reduce(word) { text, value in
                text.split(separator: value.place, omittingEmptySubsequences: false)
                    .joined(separator: value.value)
            }
        }
    }
}
