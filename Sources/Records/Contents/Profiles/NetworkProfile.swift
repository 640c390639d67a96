package import Base

/// The proxy that a configuration profile sets for all of a device's requests: the payload
/// `com.apple.proxy.http.global`.
package enum ProfileProxy: Sendable, Equatable {
    case manual(host: String, port: UInt16, user: String?, password: String?)
    /// By the script at this URL.
    case automatic(url: String)

    fileprivate init(_ payload: PropertyListTree.Node) throws(Failure) {
        let isAutomatic = payload["ProxyType"]?.bytes.text == "Auto"
        if isAutomatic {
            guard let url = payload["ProxyPACURL"]?.bytes.text else {
                throw NetworkProfile.invalid("its proxy is automatic, and has no ProxyPACURL")
            }
            self = .automatic(url: url)
            return
        }
        guard let host = payload["ProxyServer"]?.bytes.text, !host.isEmpty,
            let port = UInt16(payload["ProxyServerPort"]?.bytes.text ?? ""), port > 0
        else {
            throw NetworkProfile.invalid("its proxy has no ProxyServer and ProxyServerPort")
        }
        self = .manual(
            host: host, port: port, user: payload["ProxyUsername"]?.bytes.text,
            password: payload["ProxyPassword"]?.bytes.text)
    }
}

/// What of a configuration profile concerns whoever connects to origins.
package struct NetworkProfile: Sendable {
    /// `nil` for a profile that sets none.
    package let proxy: ProfileProxy?
    /// Certificates of CAs that are trusted, each in DER or PEM.
    package let authorities: [[UInt8]]

    /// Reads a profile that is not signed.
    ///
    /// Errors: `profile-invalid`.
    package init(_ bytes: [UInt8]) throws(Failure) {
        guard bytes.first != Self.signedMark else {
            throw Self.invalid("it is signed: take it as it was before it was signed")
        }
        let tree = PropertyListTree(bytes)
        guard tree.isWhole, tree.root["PayloadType"]?.bytes.text == "Configuration" else {
            throw Self.invalid("it is no configuration profile in XML")
        }
        var proxy: ProfileProxy?
        var authorities: [[UInt8]] = []
        for payload in tree.root["PayloadContent"]?.children ?? [] {
            switch payload["PayloadType"]?.bytes.text {
            case "com.apple.proxy.http.global"?: proxy = try ProfileProxy(payload)
            case "com.apple.security.root"?, "com.apple.security.pkcs1"?,
                "com.apple.security.pem"?:
                let text = (payload["PayloadContent"]?.bytes ?? []).filter { $0 > 0x20 }
                guard let certificate = Base64.decode(text), !certificate.isEmpty else {
                    throw Self.invalid("its certificate is no Base64")
                }
                authorities.append(certificate)
            default: break
            }
        }
        self.proxy = proxy
        self.authorities = authorities
    }

    fileprivate static func invalid(_ detail: String) -> Failure {
        Failure("profile-invalid", party: .client, "cannot use the profile: \(detail)")
    }

    /// CMS begins with a SEQUENCE of ASN.1.
    private static let signedMark: UInt8 = 0x30
}
