internal import Base
internal import CommandSyntax
internal import Origins
internal import Proxy
internal import Runs

extension ValueSyntax where Value == PortMode {
    /// A mode, and behind an `@` the address that it is at.
    static var portMode: ValueSyntax {
        .reading(
            "MODE[@HOST:PORT]",
            wanted: "'explicit', 'reverse:https://HOST[:PORT]', 'transparent' or 'tproxy'",
            hint: "several need addresses of their own, such as transparent@127.0.0.1:8443"
        ) { text in
            var mode = text[...]
            var listen: HostPort?
            if let at = text.lastIndex(of: "@") {
                guard let place = HostPort(String(text[text.index(after: at)...])) else {
                    return nil
                }
                listen = place
                mode = text[..<at]
            }
            switch mode {
            case "explicit": return PortMode(mode: .explicit, listen: listen)
            case "transparent": return PortMode(mode: .transparent, listen: listen)
            case "tproxy":
                return PortMode(mode: .transparent, listen: listen, isTransparentSocket: true)
            default:
                return reverseTarget(mode).map { PortMode(mode: .reverse($0), listen: listen) }
            }
        }
    }

    private static func reverseTarget(_ text: Substring) -> ProxyPlan.ReverseTarget? {
        for scheme in ProxyPlan.ReverseTarget.Scheme.allCases {
            let prefix = "reverse:\(scheme.rawValue)://"
            guard text.hasPrefix(prefix) else { continue }
            var rest = text.dropFirst(prefix.count)
            if rest.hasSuffix("/") { rest.removeLast() }
            let standardPort = scheme == .https ? 443 : scheme == .http ? 80 : 0
            let target = HostPort(String(rest)) ?? HostPort("\(rest):\(standardPort)")
            guard let target, target.port != 0 else { return nil }
            return ProxyPlan.ReverseTarget(
                scheme, host: target.host.lowercased(), port: target.port)
        }
        return nil
    }
}

extension ValueSyntax where Value == PastPattern {
    static var pastPattern: ValueSyntax {
        .reading(
            "ADDRESS", wanted: "an address such as 10.0.0.7, 10.0.0.7:5432, *:5432 or *",
            PastPattern.init)
    }
}

extension ValueSyntax where Value == HostPattern {
    static var hostPattern: ValueSyntax {
        .reading(
            "HOST", wanted: "a host such as example.com or *.example.com", HostPattern.init)
    }
}

extension ValueSyntax where Value == UpstreamProxy {
    static var upstream: ValueSyntax {
        .reading(
            "[PATTERN=]URL", wanted: "http://HOST:PORT or socks5://HOST:PORT",
            hint:
                "for some hosts alone write *.corp.example=http://proxy.example:3128; a password does"
                + " not belong on a command line"
        ) { text in
            var url = text[...]
            var hosts: [HostPattern] = []
            if let equals = text.firstIndex(of: "=") {
                guard let pattern = HostPattern(String(text[..<equals])) else { return nil }
                hosts = [pattern]
                url = text[text.index(after: equals)...]
            }
            // A password on a command line is seen by all users of the machine.
            guard var proxy = UpstreamProxy(url: String(url), isWhole: true),
                proxy.credential == nil
            else { return nil }
            proxy.hosts = hosts
            return proxy
        }
    }
}

extension ValueSyntax where Value == UpstreamCredentialFile {
    static var upstreamCredential: ValueSyntax {
        .reading("FILE", wanted: "a path") { text in
            if let equals = text.firstIndex(of: "="),
                let place = HostPort(String(text[..<equals]))
            {
                let path = String(text[text.index(after: equals)...])
                return path.isEmpty ? nil : UpstreamCredentialFile(place: place, path: path)
            }
            return text.isEmpty ? nil : UpstreamCredentialFile(place: nil, path: text)
        }
    }
}

extension ValueSyntax where Value == ClientCertificates.File {
    static var clientCertificate: ValueSyntax {
        .reading("HOST=FILE[:KEY]", wanted: "HOST=FILE or HOST=FILE:KEYFILE") { text in
            guard let equals = text.firstIndex(of: "="),
                let host = HostPattern(String(text[..<equals]))
            else { return nil }
            let paths = String(text[text.index(after: equals)...])
            return paths.isEmpty ? nil : ClientCertificates.File(host: host, paths: paths)
        }
    }
}

/// The options of every command that connects to origins.
var clientCertificateParameters: [Parameter<ClientCertificates>] {
    [
        .repeated(
            "client-cert", \.files, .clientCertificate,
            "show this certificate to a host that asks for one and proves who it is: PEM with its"
                + " chain and key, or the key in a file of its own, or PKCS #12"),
        .option(
            "client-cert-password-file", \.passwordPath, .path("FILE"),
            "a file whose lines decrypt the keys of these"),
    ]
}
