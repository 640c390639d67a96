/// The rules, in the order of the report; the raw values are a contract.
package enum RuleID: String, Sendable, CaseIterable {
    case plantSecret = "PLANT-SECRET"
    case plantID = "PLANT-ID"
    case plainHTTPBasic = "PLAIN-HTTP-BASIC"
    case plainHTTPProxy = "PLAIN-HTTP-PROXY"
    case plainHTTPForm = "PLAIN-HTTP-FORM"
    case plainLogin = "PLAIN-LOGIN"
    case urlPassword = "URL-PASSWORD"
    case reuseCredential = "REUSE-CREDENTIAL"
    case leakRedirect = "LEAK-REDIRECT-AUTH"
    case leakThirdParty = "LEAK-3P-SECRET"
    case providerKey = "KEY-PROVIDER"
    case leakReferer = "LEAK-REFERER"
    case weakToken = "JWT-WEAK"
    case leakResponseSecret = "LEAK-RESPONSE-SECRET"
    case clientSecret = "CLIENT-SECRET"
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
    case streamReuse = "BIN-REUSE"
    case streamPlaintext = "BIN-PLAINTEXT"
    case clearHTTP = "CLEAR-HTTP"
    case httpFirst = "HTTP-FIRST"
    case tlsClientRetry = "TLS-C-RETRY"
    case tlsClientVersion = "TLS-C-VERSION"
    case tlsClientCipher = "TLS-C-CIPHER"
    case tlsClientServerName = "TLS-C-SNI"
    case tlsClientSignatures = "TLS-C-SIGALG"
    case tlsClientExtensions = "TLS-C-EXT"
    case tlsClientPinned = "TLS-C-PINNED"
    case tlsOriginCertificate = "TLS-S-CERT"
    case tlsOriginParameters = "TLS-S-PARAMS"
    case deviceUDID = "ID-UDID"
    case advertisingID = "ID-IDFA"
    case cachedIdentifier = "ID-IDFA-CACHED"
    case deviceNumber = "ID-IMEI"
    case hardwareAddress = "ID-MAC"
    case vendorID = "ID-IDFV"
    case persistentID = "ID-PERSIST"
    case privacyDeclaration = "PRIV-DECL"
    case fingerprintScore = "FP-SCORE"
    case trackHost = "TRACK-HOST"
    case trackCookie = "TRACK-3PCOOKIE"
    case personalCard = "PII-CARD"
    case personalEmail = "PII-EMAIL"
    case personalLocation = "PII-GEO"
    case personalOther = "PII-OTHER"
    case redirectDowngrade = "REDIRECT-DOWNGRADE"
    case crossOrigin = "CORS"
    case cacheAuthenticated = "CACHE-AUTH"
    case cookieAttributes = "COOKIE-ATTRS"
    case transportSecurity = "HSTS"
    case economyDuplicate = "ECON-DUP"
    case economyResume = "ECON-RESUME"
    case economyBudget = "ECON-BUDGET"
    case economyCompression = "ECON-COMPRESS"
    case economyPolling = "ECON-CHATTY"
    case economyCaching = "ECON-CACHE"
    case economyImage = "ECON-IMAGE"
    case streamRandom = "BIN-RANDOM"
    case bonjour = "LAN-MDNS"
    case ssdp = "LAN-SSDP"
    case localDestination = "LAN-DEST"
    case localGroup = "LAN-MCAST"
    case unsafeProtocol = "UNSAFE-PROTO"
    case localLeak = "LAN-LEAK"
    case namesInClear = "META-CLEAR"

    /// Where the rule stands in the report.
    var order: Int { RuleID.allCases.firstIndex(of: self) ?? 0 }

    /// Whether it is about cleartext as such, and not about what was said in it.
    var isAboutTransport: Bool { self == .clearHTTP }

    /// What is told of the rule; it stands beside what decides it.
    package var text: RuleText {
        switch self {
        case .plantSecret: .plantSecret
        case .plantID: .plantID
        case .plainHTTPBasic: .plainHTTPBasic
        case .plainHTTPProxy: .plainHTTPProxy
        case .plainHTTPForm: .plainHTTPForm
        case .plainLogin: .plainLogin
        case .urlPassword: .urlPassword
        case .reuseCredential: .reuseCredential
        case .leakRedirect: .leakRedirect
        case .leakThirdParty: .leakThirdParty
        case .providerKey: .providerKey
        case .leakReferer: .leakReferer
        case .weakToken: .weakToken
        case .leakResponseSecret: .leakResponseSecret
        case .clientSecret: .clientSecret
        case .plainHTTPBearer: .plainHTTPBearer
        case .plainHTTPAPIKey: .plainHTTPAPIKey
        case .plainHTTPAuthorization: .plainHTTPAuthorization
        case .plainHTTPCookie: .plainHTTPCookie
        case .plainHTTPLoginPage: .plainHTTPLoginPage
        case .hashHTTPDigest: .hashHTTPDigest
        case .hashHTTPNTLM: .hashHTTPNTLM
        case .hashHTTPSignature: .hashHTTPSignature
        case .hashLogin: .hashLogin
        case .upgradeUnused: .upgradeUnused
        case .upgradeInjection: .upgradeInjection
        case .urlToken: .urlToken
        case .tlsClientRetry: .tlsClientRetry
        case .tlsClientVersion: .tlsClientVersion
        case .tlsClientCipher: .tlsClientCipher
        case .tlsClientServerName: .tlsClientServerName
        case .tlsClientSignatures: .tlsClientSignatures
        case .tlsClientExtensions: .tlsClientExtensions
        case .tlsClientPinned: .tlsClientPinned
        case .deviceUDID, .advertisingID, .cachedIdentifier, .deviceNumber, .hardwareAddress,
            .vendorID, .persistentID, .privacyDeclaration, .fingerprintScore, .trackHost,
            .trackCookie, .personalCard, .personalEmail, .personalLocation, .personalOther:
            privacyText
        case .httpFirst, .streamReuse, .streamPlaintext, .streamRandom, .economyDuplicate,
            .economyResume, .economyBudget, .economyCompression, .economyPolling, .economyCaching,
            .economyImage, .redirectDowngrade, .crossOrigin, .cacheAuthenticated,
            .cookieAttributes, .transportSecurity:
            transferText
        case .clearHTTP, .tlsOriginCertificate, .tlsOriginParameters, .bonjour, .ssdp,
            .localDestination, .localGroup, .unsafeProtocol, .localLeak, .namesInClear:
            networkText
        }
    }

    /// That of the rules about what tells a person or a device.
    private var privacyText: RuleText {
        switch self {
        case .deviceUDID: .deviceUDID
        case .advertisingID: .advertisingID
        case .cachedIdentifier: .cachedIdentifier
        case .deviceNumber: .deviceNumber
        case .hardwareAddress: .hardwareAddress
        case .vendorID: .vendorID
        case .persistentID: .persistentID
        case .privacyDeclaration: .privacyDeclaration
        case .fingerprintScore: .fingerprintScore
        case .trackHost: .trackHost
        case .trackCookie: .trackCookie
        case .personalCard: .personalCard
        case .personalEmail: .personalEmail
        case .personalLocation: .personalLocation
        default: .personalOther
        }
    }

    /// That of the rules about what origins answer, what transfers waste and unknown streams.
    private var transferText: RuleText {
        switch self {
        case .httpFirst: .httpFirst
        case .streamReuse: .streamReuse
        case .streamPlaintext: .streamPlaintext
        case .streamRandom: .streamRandom
        case .economyDuplicate: .economyDuplicate
        case .economyResume: .economyResume
        case .economyBudget: .economyBudget
        case .economyCompression: .economyCompression
        case .economyPolling: .economyPolling
        case .economyCaching: .economyCaching
        case .economyImage: .economyImage
        case .redirectDowngrade: .redirectDowngrade
        case .crossOrigin: .crossOrigin
        case .cacheAuthenticated: .cacheAuthenticated
        case .cookieAttributes: .cookieAttributes
        default: .transportSecurity
        }
    }

    /// That of the rules about networks and the servers in them.
    private var networkText: RuleText {
        switch self {
        case .clearHTTP: .clearHTTP
        case .tlsOriginCertificate: .tlsOriginCertificate
        case .tlsOriginParameters: .tlsOriginParameters
        case .bonjour: .bonjour
        case .ssdp: .ssdp
        case .localDestination: .localDestination
        case .localGroup: .localGroup
        case .unsafeProtocol: .unsafeProtocol
        case .localLeak: .localLeak
        default: .namesInClear
        }
    }
}

/// Whose behaviour a rule judges; the raw values are stored and are a contract.
package enum RuleParty: String, Sendable {
    case client
    case origin
}
