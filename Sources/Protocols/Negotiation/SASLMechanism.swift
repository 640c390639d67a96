internal import Base

/// A mechanism of SASL (IANA, SASL Mechanisms), and one that was in use before it had a name.
package enum SASLMechanism: String, Sendable, CaseIterable {
    case plain = "PLAIN"
    case login = "LOGIN"
    case xoauth2 = "XOAUTH2"
    case unregisteredOAuth2 = "X-OAUTH2"
    case oauthBearer = "OAUTHBEARER"
    case cramMD5 = "CRAM-MD5"
    case digestMD5 = "DIGEST-MD5"
    case ntlm = "NTLM"
    case gssapi = "GSSAPI"
    case gssSPNEGO = "GSS-SPNEGO"
    case external = "EXTERNAL"
    case anonymous = "ANONYMOUS"
    case scramSHA1 = "SCRAM-SHA-1"
    case scramSHA1Plus = "SCRAM-SHA-1-PLUS"
    case scramSHA256 = "SCRAM-SHA-256"
    case scramSHA256Plus = "SCRAM-SHA-256-PLUS"
    case scramSHA512 = "SCRAM-SHA-512"
    case scramSHA512Plus = "SCRAM-SHA-512-PLUS"

    /// Knows the mechanism by its name, with or without quotes; any other word is not kept, as it
    /// might be a secret.
    package init?(_ word: some Collection<UInt8>) {
        let bare = word.prefix(32).filter { $0 != 0x22 && $0 != 0x27 }
        self.init(rawValue: Array(bare).text.uppercased())
    }

    /// Whether who listens learns the secret.
    package var exposesSecret: Bool {
        switch self {
        case .plain, .login, .xoauth2, .unregisteredOAuth2, .oauthBearer: true
        default: false
        }
    }
}
