package import HTTPModel

extension Fields {
    package var asksToKeepAlive: Bool { contains(.connection, token: "keep-alive") }

    /// Whether a credential or a challenge is of a scheme that authenticates the connection and not
    /// the request.
    package var bindsConnection: Bool {
        for slice in slices {
            switch slice.known {
            case .authorization, .proxyAuthorization, .wwwAuthenticate, .proxyAuthenticate:
                // Several challenges may stand in one field (RFC 9110 §11.6.1).
                let schemes = value(slice).split(separator: 0x2C).map { element in
                    element.trimmingWhitespace.prefix { $0 != 0x20 }
                }
                for scheme in schemes
                where scheme.equalsIgnoringCase("ntlm") || scheme.equalsIgnoringCase("negotiate") {
                    return true
                }
            default: continue
            }
        }
        return false
    }
}
