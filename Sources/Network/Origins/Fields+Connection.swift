package import HTTPModel

extension Fields {
    package var asksToKeepAlive: Bool { contains(.connection, token: "keep-alive") }

    /// Whether a credential or a challenge is of a scheme that authenticates the connection and not
    /// the request.
    package var bindsConnection: Bool { bindsConnection(withToken: false) }

    /// - Parameter withToken: only of those that say more than the scheme's name.
    package func bindsConnection(withToken: Bool) -> Bool {
        for slice in slices {
            switch slice.known {
            case .authorization, .proxyAuthorization, .wwwAuthenticate, .proxyAuthenticate:
                // Several challenges may stand in one field (RFC 9110 §11.6.1).
                for element in value(slice).split(separator: 0x2C) {
                    let words = element.trimmingWhitespace
                    let scheme = words.prefix { $0 != 0x20 }
                    guard
                        scheme.equalsIgnoringCase("ntlm")
                            || scheme.equalsIgnoringCase("negotiate")
                    else { continue }
                    if !withToken || scheme.count < words.count { return true }
                }
            default: continue
            }
        }
        return false
    }
}
