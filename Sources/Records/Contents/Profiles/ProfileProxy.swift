package import Base

/// The proxy that a configuration profile sets for all of a device's requests: the payload
/// `com.apple.proxy.http.global`.
package enum ProfileProxy: Sendable, Equatable {
    case manual(host: String, port: UInt16, user: String?, password: String?)
    /// By the script at this URL.
    case automatic(url: String)

    /// Reads a profile that is not signed.
    ///
    /// - Returns: `nil` for a profile that sets none.
    ///
    /// Errors: `profile-invalid`.
    package static func read(_ bytes: [UInt8]) throws(Failure) -> ProfileProxy? {
        guard bytes.first != Self.signedMark else {
            throw Self.invalid("it is signed: take it as it was before it was signed")
        }
        let tree = PropertyListTree(bytes)
        guard tree.isWhole, tree.root["PayloadType"]?.bytes.text == "Configuration" else {
            throw Self.invalid("it is no configuration profile in XML")
        }
        let payloads = tree.root["PayloadContent"]?.children ?? []
        guard let payload = payloads.first(where: { $0["PayloadType"]?.bytes.text == Self.type })
        else { return nil }
        return try Self(payload)
    }

    private init(_ payload: PropertyListTree.Node) throws(Failure) {
        let isAutomatic = payload["ProxyType"]?.bytes.text == "Auto"
        if isAutomatic {
            guard let url = payload["ProxyPACURL"]?.bytes.text else {
                throw Self.invalid("its proxy is automatic, and has no ProxyPACURL")
            }
            self = .automatic(url: url)
            return
        }
        guard let host = payload["ProxyServer"]?.bytes.text, !host.isEmpty,
            let port = UInt16(payload["ProxyServerPort"]?.bytes.text ?? ""), port > 0
        else {
            throw Self.invalid("its proxy has no ProxyServer and ProxyServerPort")
        }
        self = .manual(
            host: host, port: port, user: payload["ProxyUsername"]?.bytes.text,
            password: payload["ProxyPassword"]?.bytes.text)
    }

    private static func invalid(_ detail: String) -> Failure {
        Failure("profile-invalid", party: .client, "cannot use the profile: \(detail)")
    }

    private static let type = "com.apple.proxy.http.global"
    /// CMS begins with a SEQUENCE of ASN.1.
    private static let signedMark: UInt8 = 0x30
}
