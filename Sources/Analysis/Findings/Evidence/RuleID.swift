/// The rules, in the order of the report; the raw values are a contract.
package enum RuleID: String, Sendable, CaseIterable {
    case plantSecret = "PLANT-SECRET"
    case plainHTTPBasic = "PLAIN-HTTP-BASIC"
    case plainHTTPProxy = "PLAIN-HTTP-PROXY"
    case plainHTTPForm = "PLAIN-HTTP-FORM"
    case plainLogin = "PLAIN-LOGIN"
    case urlPassword = "URL-PASSWORD"
    case plainHTTPBearer = "PLAIN-HTTP-BEARER"
    case plainHTTPAPIKey = "PLAIN-HTTP-APIKEY"
    case plainHTTPAuthorization = "PLAIN-HTTP-AUTHZ"
    case plainHTTPCookie = "PLAIN-HTTP-COOKIE"
    case plainHTTPLoginPage = "PLAIN-HTTP-LOGINPAGE"
    case hashHTTPDigest = "HASH-HTTP-DIGEST"
    case hashHTTPNTLM = "HASH-HTTP-NTLM"
    case hashHTTPSignature = "HASH-HTTP-SIGNATURE"
    case hashLogin = "HASH-LOGIN"
    case upgradeUnused = "NOTLS-STARTTLS"
    case upgradeInjection = "STARTTLS-INJECTION"
    case urlToken = "URL-TOKEN"
    case clearHTTP = "CLEAR-HTTP"
    case tlsClientRetry = "TLS-C-RETRY"
    case tlsClientVersion = "TLS-C-VERSION"
    case tlsClientCipher = "TLS-C-CIPHER"
    case tlsOriginCertificate = "TLS-S-CERT"

    /// Where the rule stands in the report.
    var order: Int { RuleID.allCases.firstIndex(of: self) ?? 0 }

    /// Whose behaviour the rule judges.
    package var party: RuleParty {
        switch self {
        case .plainHTTPLoginPage, .tlsOriginCertificate: .origin
        default: .client
        }
    }

    /// Numbers of the Common Weakness Enumeration.
    package var weaknesses: [Int] {
        switch self {
        case .plantSecret: [319, 201, 598, 359]
        case .plainHTTPBasic, .plainHTTPProxy: [319, 522, 523]
        case .plainHTTPForm, .plainLogin: [319, 523]
        case .plainHTTPBearer, .plainHTTPAPIKey, .plainHTTPAuthorization: [319, 522]
        case .plainHTTPCookie: [319, 614]
        case .plainHTTPLoginPage: [319, 311]
        case .hashHTTPDigest, .hashHTTPNTLM, .hashHTTPSignature, .hashLogin: [916, 326, 319]
        case .urlPassword: [598, 522]
        case .upgradeUnused: [319, 757]
        case .upgradeInjection: [349, 74]
        case .urlToken: [598]
        case .clearHTTP: [319]
        case .tlsClientRetry: [295, 636]
        case .tlsClientVersion: [327, 757]
        case .tlsClientCipher: [326, 327]
        case .tlsOriginCertificate: [295, 298, 326]
        }
    }
}

/// Whose behaviour a rule judges; the raw values are stored and are a contract.
package enum RuleParty: String, Sendable {
    case client
    case origin
}
