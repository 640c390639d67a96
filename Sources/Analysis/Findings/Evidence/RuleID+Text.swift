extension RuleID {
    /// What was found, in a few words.
    package var title: String {
        switch self {
        case .plantSecret: "Planted value seen where it must not be"
        case .plainHTTPBasic: "Basic credentials over cleartext HTTP"
        case .plainHTTPProxy: "Proxy credentials over cleartext HTTP"
        case .plainHTTPForm: "Password field submitted over cleartext HTTP"
        case .plainLogin: "Login with a readable password, without TLS"
        case .urlPassword: "Password or secret in a URL"
        case .plainHTTPBearer: "Bearer or session token over cleartext HTTP"
        case .plainHTTPAPIKey: "API key header over cleartext HTTP"
        case .plainHTTPAuthorization: "Unknown or scheme-less Authorization over cleartext HTTP"
        case .plainHTTPCookie: "Session cookie over cleartext HTTP"
        case .plainHTTPLoginPage: "Login form delivered or posted over cleartext HTTP"
        case .hashHTTPDigest: "Digest challenge-response over cleartext HTTP"
        case .hashHTTPNTLM: "NTLM challenge-response over cleartext HTTP"
        case .hashHTTPSignature: "Signed request over cleartext HTTP"
        case .hashLogin: "Challenge-response login without TLS"
        case .upgradeUnused: "Dialogue goes on without TLS although it could begin it"
        case .upgradeInjection: "Plain bytes behind the switch to TLS"
        case .urlToken: "Session or access token in a URL"
        case .clearHTTP: "Cleartext HTTP to a host that is not local"
        case .tlsClientRetry: "Client refuses a certificate, then tries again and takes it"
        case .tlsClientVersion: "Client offers an old version of TLS"
        case .tlsClientCipher: "Client offers weak cipher suites"
        case .tlsOriginCertificate: "Origin's certificate did not verify"
        }
    }

    /// Why it matters, in one sentence.
    package var reason: String {
        switch self {
        case .plantSecret:
            "a value of the test subject left the place where it belongs, so a real user's does too"
        case .plainHTTPBasic:
            "Base64 hides nothing: whoever is on the path reads the name and the password"
        case .plainHTTPProxy:
            "whoever is between the client and the proxy reads the credentials"
        case .plainHTTPForm:
            "whoever is on the path reads the password, and often it opens other accounts as well"
        case .plainLogin:
            "whoever is on the path reads the name and the password"
        case .urlPassword:
            "URLs end up in access logs, histories, crash reports and Referer fields"
        case .plainHTTPBearer:
            "whoever copies the token from the path acts as the user until it expires"
        case .plainHTTPAPIKey:
            "whoever copies the key from the path acts and spends as its owner"
        case .plainHTTPAuthorization:
            "a credential of some scheme crosses the network in cleartext"
        case .plainHTTPCookie:
            "whoever copies the cookie from the path takes the session over"
        case .plainHTTPLoginPage:
            "whoever is on the path can change where the form sends the password, or read it"
        case .hashHTTPDigest:
            "the response can be attacked offline, at many millions of guesses a second"
        case .hashHTTPNTLM:
            "the response can be relayed, or attacked offline to get the password"
        case .hashHTTPSignature:
            "the key stays secret, but content is readable and the request may be replayed"
        case .hashLogin:
            "the password does not pass, but can be guessed offline from the answer"
        case .upgradeUnused:
            "who goes on in plain when TLS is refused or not asked for is read by whoever is on"
                + " the path, who can also take the offer out"
        case .upgradeInjection:
            "who takes them for a part of what is secured obeys an attacker (CVE-2011-0411)"
        case .urlToken:
            "URLs end up in access logs, histories and Referer fields, and the token with them"
        case .clearHTTP:
            "anyone on the path reads and changes what is sent and what comes back"
        case .tlsClientRetry:
            "whoever shows a false certificate twice is believed: the second try does not verify"
        case .tlsClientVersion:
            "versions before TLS 1.2 rest on broken constructions (RFC 8996)"
        case .tlsClientCipher:
            "an origin, or an attacker who can downgrade, may choose one of them"
        case .tlsOriginCertificate:
            "a client that connects all the same talks to whoever answers"
        }
    }

    /// How to fix it, in one line.
    package var advice: String {
        switch self {
        case .plantSecret:
            "send the value only to its owner, over TLS, in a body or a header"
        case .plainHTTPBasic, .plainHTTPForm, .plainHTTPBearer, .plainHTTPAPIKey,
            .plainHTTPAuthorization:
            "use https for this endpoint, and change the credential: it has been exposed"
        case .plainHTTPProxy:
            "reach the proxy over TLS, or authenticate with a scheme that sends no password"
        case .plainLogin:
            "begin with TLS or demand the switch to it before the login, and change the password"
        case .urlPassword:
            "move the value into the body or a header, and change it"
        case .plainHTTPCookie:
            "use https only, set Secure and HttpOnly on the cookie, and send HSTS"
        case .plainHTTPLoginPage:
            "deliver the page and its action over https, and redirect http to it with HSTS"
        case .hashHTTPDigest, .hashHTTPNTLM:
            "use https for this endpoint"
        case .hashHTTPSignature:
            "use https for this endpoint, and bind a time to the signature"
        case .hashLogin:
            "begin with TLS or demand the switch to it before the login"
        case .upgradeUnused:
            "begin with TLS, or end the connection if the switch to it fails"
        case .upgradeInjection:
            "throw away what was read before the handshake, and wait for the answer before it"
        case .urlToken:
            "send the token in the Authorization header or a Secure cookie"
        case .clearHTTP:
            "use https"
        case .tlsClientRetry:
            "take the retry without verification out: a certificate that was refused stays refused"
        case .tlsClientVersion:
            "set TLS 1.2 as the client's lowest version"
        case .tlsClientCipher:
            "offer only suites with forward secrecy and authenticated encryption"
        case .tlsOriginCertificate:
            "install a chain that verifies, or add its CA to the trusted ones if it is private"
        }
    }
}
