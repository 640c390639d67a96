package import Base
package import Logins
package import Traffic

/// One more fact of a finding, from a closed list so that none can carry a secret.
package enum FindingNote: Sendable, Hashable {
    case serverAccepted
    case serverRejected
    case emptyPassword
    case guest
    case user(Tag)
    case userFieldBeside
    case scheme(AuthorizationScheme)
    case ntlmVersion1
    case ntlmVersion2
    case setWithoutSecure
    case earlierOverTLS
    case inUploadedFile
    case publishable
    case presigned(lifetimeSeconds: Int?)
    case leavesInReferer(ServiceName)
    case redirectedFrom(ServiceName)
    case echoed
    case privacy(PrivacyNote)
    case token(TokenWeakness)
    case forThisProxy
    case looksLikeInjection
    case planted(SafeName, PlantedEncoding)
    case wrongParty
    case comesBackInResponse
    case leadsTo(ServiceName)
    case publicInfrastructure
    case offersVersion(UInt16)
    case offersSSL2
    case offersSuites([SuiteClass], count: Int, example: WeakSuite)
    case offer(OfferFlaw)
    case hygiene(HygieneFlaw)
    case measured(MeasuredFact)
    case network(NetworkFact)
    case verification(CertificateProblem)
    case refusedBefore
    case speaks(ProtocolName)
    case loggedIn(LoginForm)
    case upgradeOffered
    case upgradeRefused
    case upgradeNeverOffered
    case loggedInAllTheSame
    case noLoginSeen
    case mailInPlain
    case sentBehindSwitch(ConnectionRecord.Side)
    case alsoAt(ServiceName)
    case alsoSeen(Severity, Confidence)
    case thirdParty
    case probablyThirdParty
    /// Of no severity because nobody else could see it; how bad it would be elsewhere.
    case staysLocal(Severity)
    /// Of no severity because the policy allows cleartext there.
    case allowedInClear

    package var text: String {
        switch self {
        case .serverAccepted: "the origin accepted it"
        case .serverRejected: "the origin rejected it"
        case .emptyPassword: "the password is empty"
        case .guest: "a guest's name and password"
        case .user(let tag): "user tag \(tag.text)"
        case .userFieldBeside: "a user field stands beside it"
        case .scheme(let scheme): "scheme \(scheme.rawValue)"
        case .ntlmVersion1: "LM or NTLMv1 response"
        case .ntlmVersion2: "NTLMv2 response"
        case .setWithoutSecure: "set without Secure"
        case .earlierOverTLS: "the same value was seen over TLS before"
        case .inUploadedFile: "inside of an uploaded file"
        case .publishable: "a key that its provider means to be public"
        case .presigned(let seconds):
            seconds.map { "presigned URL, lives \($0) s" } ?? "presigned URL"
        case .leavesInReferer(let service): "the page that it leaves is at \(service.text)"
        case .redirectedFrom(let service): "\(service.text) redirected to here"
        case .privacy(let note): note.text
        case .echoed: "the request itself sent it"
        case .token(let weakness): weakness.text
        case .forThisProxy: "for the proxy that recorded it, and for no other"
        case .looksLikeInjection: "the value looks like an injection attempt"
        case .planted(let name, let encoding): "profile value \(name.text) as \(encoding.rawValue)"
        case .wrongParty: "the service is not an owner of the profile"
        case .comesBackInResponse: "comes back in a response"
        case .leadsTo(let host): "leads to \(host.text)"
        case .publicInfrastructure: "certificate status, CRL or connectivity check"
        case .offersVersion(let code): "offers \(TLSVersionName.text(code))"
        case .offersSSL2: "sends an SSL 2.0 hello"
        case .offersSuites(let classes, let count, let example):
            "offers \(Quantity.text(count, "suite")): "
                + classes.map(\.text).joined(separator: ", ") + "; such as \(example.name)"
        case .offer(let flaw): flaw.rawValue
        case .hygiene(let flaw): flaw.rawValue
        case .measured(let fact): fact.text
        case .network(let fact): fact.text
        case .verification(let problem): problem.text
        case .refusedBefore: "its connection before was refused, with the same certificate's CA"
        case .speaks(let name): "\(name.rawValue) is spoken inside"
        case .loggedIn(let form): "logged in by \(form.rawValue)"
        case .upgradeOffered: "the origin offers TLS"
        case .upgradeRefused: "the client asked for TLS, and the origin refused"
        case .upgradeNeverOffered: "no offer of TLS arrived: it may have been taken out on the way"
        case .loggedInAllTheSame: "the client logged in all the same"
        case .noLoginSeen: "no login was seen"
        case .mailInPlain: "mail was handed over in plain"
        case .sentBehindSwitch(let side): "sent from the \(side.rawValue)'s side"
        case .alsoAt(let service): "the same value went to \(service.text)"
        case .alsoSeen(let severity, let confidence):
            "some of it is \(severity.rawValue), \(confidence.rawValue)"
        case .thirdParty: "the service is no first party"
        case .probablyThirdParty:
            "the service is no first party, as far as that can be guessed: see --first-party"
        case .staysLocal(let severity):
            "it stays on this machine; with --loopback-as-remote it is \(severity.rawValue)"
        case .allowedInClear: "the policy allows cleartext to this host"
        }
    }
}

/// The schemes that a finding may name; the raw values are a contract.
package enum AuthorizationScheme: String, Sendable, CaseIterable {
    case basic
    case bearer
    case token
    case oauth
    case googlelogin
    case digest
    case ntlm
    case negotiate
    case apikey
    case dpop
    case mac
    case hawk
    case signature
    case sharedkey
    case aws
    case aws4 = "aws4-hmac-sha256"
    case other
}
