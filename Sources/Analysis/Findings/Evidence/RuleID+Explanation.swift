/// How a rule decides, and what it leaves alone, for who has to answer a finding.
extension RuleID {
    package var decision: String {
        switch self {
        case .plantSecret:
            "A value of the subject's profile was found, as it is or in one of its encodings and"
                + " digests, in cleartext, at a service that is no owner, in a URL, or coming back."
        case .plainHTTPBasic:
            "A request without TLS has Authorization: Basic whose Base64 holds a name and a colon"
                + " (RFC 7617 §2)."
        case .plainHTTPProxy:
            "A request has Proxy-Authorization with a credential, on its way to the proxy without"
                + " TLS (RFC 9110 §11.7.2)."
        case .plainHTTPForm:
            "A field of a form, of multipart, JSON or XML content, or of a WebSocket's message is"
                + " named like a password, in any of a dozen languages, and was sent without TLS."
        case .plainLogin:
            "What was said without TLS is a login of its protocol, known by the dialogue and not by"
                + " the port, and shows the password; or a note in the capture tells of one."
        case .urlPassword:
            "A password stands in userinfo, in the query or in path parameters of a URL, or in the"
                + " Referer that leads from one, over TLS too (RFC 3986 §3.2.1)."
        case .plainHTTPBearer:
            "A request without TLS has Authorization: Bearer, or a subprotocol or a message of a"
                + " WebSocket that is a token by its form (RFC 6750 §5.3)."
        case .plainHTTPAPIKey:
            "A request without TLS has a header that is named like a key, with a value that can be"
                + " one."
        case .plainHTTPAuthorization:
            "A request without TLS has Authorization in a scheme that is not known here, or in none."
        case .plainHTTPCookie:
            "A request without TLS has a cookie that is a session's by its name and value, or that"
                + " was seen over TLS before, which makes it certain."
        case .plainHTTPLoginPage:
            "A page that came without TLS has a password field, or one that came with TLS has a"
                + " form whose action is http."
        case .hashHTTPDigest: "A request without TLS has Authorization: Digest (RFC 7616 §3.4)."
        case .hashHTTPNTLM:
            "A request without TLS has the third message of NTLM ([MS-NLMP] §2.2.1.3)."
        case .hashHTTPSignature: "A request without TLS is signed: AWS, Hawk, Signature."
        case .hashLogin:
            "What was said without TLS is a login of its protocol that answers a challenge."
        case .upgradeUnused:
            "The origin offered TLS and the client did not ask for it, or asked and went on in plain"
                + " when it was refused (RFC 3207 §4, and those of the other protocols)."
        case .upgradeInjection:
            "One side sent plain bytes behind the words with which both agreed on TLS."
        case .urlToken:
            "A query or path parameter that is named like a token has a value that can be one; of at"
                + " least 16 characters and 64 bits, or of a published form."
        case .clearHTTP: "A request went without TLS to a host that is not this machine."
        case .tlsClientRetry:
            "A client refused a certificate in the handshake, and took it on its next connection to"
                + " the same host."
        case .tlsClientVersion: "The ClientHello offers a version before TLS 1.2 (RFC 8996)."
        case .tlsClientCipher:
            "The ClientHello offers suites without encryption, authentication or forward secrecy, or"
                + " with RC4, DES, 3DES or export keys."
        case .tlsOriginCertificate:
            "The chain that the origin showed the proxy does not verify for its host (RFC 5280 §6)."
        }
    }

    /// What looks like it and is not reported, and where the rule may be wrong.
    package var exceptions: String {
        switch self {
        case .plantSecret:
            "The owner may have its values over TLS. A short value can occur by accident: choose one"
                + " that exists for the test alone."
        case .plainHTTPBasic, .hashHTTPDigest, .hashHTTPNTLM, .hashHTTPSignature,
            .plainHTTPAuthorization:
            "Placeholders are no credentials. A peer on this machine makes it info."
        case .plainHTTPProxy: "A client on the proxy's own machine makes it info."
        case .plainHTTPForm:
            "Names that only sound alike (passenger, password_hint), empty values, switches and"
                + " placeholders. In an uploaded file it is tentative."
        case .plainLogin:
            "Anonymous binds and empty passwords; a guest's login at FTP is info. What a server says"
                + " is never a login."
        case .hashLogin: "Mechanisms that send no answer that passwords could be tried against."
        case .urlPassword: "Names that only sound alike, empty values, and tries at injection."
        case .plainHTTPBearer, .plainHTTPAPIKey:
            "Placeholders, and keys that their provider means to be public."
        case .plainHTTPCookie: "Cookies that are constants, preferences or counters by their form."
        case .plainHTTPLoginPage: "Forms in comments and scripts."
        case .upgradeUnused:
            "A client that ends the connection has done right, and it is low. The offer may have been"
                + " taken out on the way: then none was seen."
        case .upgradeInjection: "Bytes that begin a ClientHello."
        case .urlToken:
            "Presigned URLs are info, and tell how long they live; cursors of pages and codes of"
                + " OAuth are no tokens."
        case .clearHTTP:
            "Certificate status, revocation lists and portal checks are info: they are signed, or"
                + " have to be in clear."
        case .tlsClientRetry:
            "Where the process is not known or no alert came, it is tentative: two programs of one"
                + " machine can look like one."
        case .tlsClientVersion, .tlsClientCipher:
            "GREASE and signalling values. What is offered is not what is agreed on."
        case .tlsOriginCertificate:
            "A private CA has to be named by --origin-ca; without it, its servers do not verify."
        }
    }
}
