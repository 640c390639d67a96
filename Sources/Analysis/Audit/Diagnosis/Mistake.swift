/// A mistake in how clients authenticate servers; the raw values are a contract.
package enum Mistake: String, Sendable, CaseIterable {
    case verifiesNothing = "verifies-nothing"
    case retriesUnverified = "retries-unverified"
    case sendsBeforeVerifying = "sends-before-verifying"
    case anyChain = "any-chain"
    case anyRoot = "any-root"
    case anySingleCertificate = "any-single-certificate"
    case selfSigned = "self-signed"
    case pinByName = "pin-by-name"
    case pinAnywhereInChain = "pin-anywhere-in-chain"
    case curveParameters = "curve-parameters"
    case distrustedRoot = "distrusted-root"
    case anyName = "any-name"
    case commonName = "common-name"
    case nameParsing = "name-parsing"
    case partialName = "partial-name"
    case wildcard
    case address
    case expiry
    case dates
    case certificateSignature = "certificate-signature"
    case leafAsAuthority = "leaf-as-authority"
    case authorityLimits = "authority-limits"
    case criticalExtension = "critical-extension"
    case purpose
    case keyUsage = "key-usage"
    case weakCertificate = "weak-certificate"
    case handshakeSignature = "handshake-signature"
    case handshakeIntegrity = "handshake-integrity"
    case noAuthentication = "no-authentication"
    case oldVersion = "old-version"
    case weakExchange = "weak-exchange"
    case brokenCiphers = "broken-ciphers"
    case compression
    case downgrade
    case laterHandshake = "later-handshake"
    case revocation
    case credentialsInClear = "credentials-in-clear"
    case fallbackToClear = "fallback-to-clear"
    case startTLSStripped = "starttls-stripped"
    case startTLSInjection = "starttls-injection"
    case redirectToClear = "redirect-to-clear"
    case beginsInClear = "begins-in-clear"
    // No mistakes of the client's by themselves: with them, half of the audit says nothing.
    case addressUnmatched = "address-unmatched"
    case authorityUnknown = "authority-unknown"
}

extension Mistake {
    /// In a few words, with the client as the subject.
    package var title: String { words.title }
    /// What the client does, in a sentence without a full stop.
    package var sentence: String { words.sentence }
    /// What to do about it, in a sentence without a full stop.
    package var fix: String { words.fix }

    private var words: (title: String, sentence: String, fix: String) {
        Self.trustWords[self] ?? Self.certificateWords[self] ?? Self.connectionWords[self]
            ?? (rawValue, rawValue, rawValue)
    }

    private typealias Words = [Mistake: (title: String, sentence: String, fix: String)]

    private static let trustWords: Words = [
        .verifiesNothing: (
            "verifies nothing",
            "It takes any certificate for any name, so whoever is on the path reads and changes"
                + " everything",
            "Remove what turns verification off (verify=False, InsecureSkipVerify,"
                + " rejectUnauthorized: false, a callback or trust manager that always says yes),"
                + " and give it the CA that it lacked instead"
        ),
        .retriesUnverified: (
            "verifies, and goes on without when that fails",
            "It refuses the server at first, and then connects again and takes it, so that its"
                + " verification stops nobody",
            "Take the retry out that turns verification off, and let the request fail; the client"
                + " trusts its CAs already"
        ),
        .sendsBeforeVerifying: (
            "sends before it has verified",
            "It sends its request, with what is secret in it, and looks at the certificate"
                + " afterwards",
            "Verify inside of the handshake, or before the first byte is written"
        ),
        .anyChain: (
            "checks the name but not the chain",
            "It compares the name and takes any chain that says so, and anybody can make one",
            "Turn the verification of the chain on again; the check of the name is worth nothing"
                + " without it"
        ),
        .anyRoot: (
            "takes chains to unknown roots",
            "It does not ask whether the root of a chain is one that it trusts",
            "Verify chains against a list of roots, the platform's or your own"
        ),
        .anySingleCertificate: (
            "takes any certificate that stands alone",
            "It accepts every chain of one certificate, as Apache's TrustSelfSignedStrategy does",
            "Trust the one self-signed certificate that is meant, not all of them"
        ),
        .selfSigned: (
            "takes self-signed certificates",
            "It accepts a certificate that nobody but its holder has signed",
            "Trust the one self-signed certificate that is meant, not all of them"
        ),
        .pinByName: (
            "knows certificates by their names",
            "It compares the names in certificates, which anybody can write, and not their keys",
            "Compare the SHA-256 of the public key (SubjectPublicKeyInfo), or the signature"
        ),
        .pinAnywhereInChain: (
            "looks for its pin anywhere in what is presented",
            "It is content when a true certificate is among those presented, even if the leaf is"
                + " not signed by it",
            "Look for the pin in the verified chain only, after the chain was verified"
        ),
        .curveParameters: (
            "takes a root by its public point, whatever its curve",
            "It does not ask on which curve the point lies, so whoever chooses the curve can sign"
                + " as that root",
            "Update the TLS library, and refuse keys with parameters of their own (RFC 5480 §2.1.1)"
        ),
        .distrustedRoot: (
            "trusts a root whose key is public",
            "It takes certificates from a CA whose private key is known to everybody",
            "Remove the root from the client's list and from the machine's"
        ),
    ]

    private static let certificateWords: Words = [
        .anyName: (
            "checks the chain but not the name",
            "It takes any trusted certificate for any host, so an ordinary certificate for the"
                + " attacker's own host is enough",
            "Turn the check of the host name on (check_hostname, SSL_set1_host,"
                + " setEndpointIdentificationAlgorithm(\"HTTPS\"))"
        ),
        .commonName: (
            "takes the name from the CN although there are SANs",
            "It looks for the host in the common name of a certificate whose alternative names"
                + " say something else",
            "Ignore the common name when there are alternative names (RFC 6125 §6.4.4), or always"
                + " (RFC 9525)"
        ),
        .nameParsing: (
            "reads names as text",
            "It finds the host in bytes of a certificate that are not its name: behind a zero"
                + " byte, inside of another name, or in another field",
            "Compare parsed names of the right type with their lengths; update the TLS library"
        ),
        .partialName: (
            "compares parts of names",
            "It takes a certificate for a name that only resembles the host's",
            "Compare the whole name, label by label; leave it to the TLS library"
        ),
        .wildcard: (
            "lets wildcards stand for too much",
            "It lets a wildcard stand for more than one whole leftmost label",
            "Match * with exactly one label, and only the leftmost (RFC 9525 §6.3)"
        ),
        .address: (
            "does not compare addresses",
            "It takes a certificate for an IP address that does not name the address",
            "Compare with the iPAddress names only (RFC 9525 §6.2)"
        ),
        .expiry: (
            "ignores expiry",
            "It takes certificates that have expired, and their keys may long be lost",
            "Remove what excuses expired certificates, and set the clock instead"
        ),
        .dates: (
            "ignores some dates",
            "It does not check both dates of every certificate in the chain",
            "Check both dates of every certificate in the path (RFC 5280 §6.1.3)"
        ),
        .certificateSignature: (
            "does not check certificates' signatures",
            "It takes certificates that their issuers have not signed as they are",
            "Verify the signature of every certificate in the path (RFC 5280 §6.1.3)"
        ),
        .leafAsAuthority: (
            "takes any certificate as a CA",
            "It ignores basicConstraints, so whoever has a certificate can issue others for any"
                + " name",
            "Ask for cA TRUE in every issuer (RFC 5280 §6.1.4); update the TLS library"
        ),
        .authorityLimits: (
            "ignores the limits of a CA",
            "It takes what a CA may not issue: by its key usage, its path length, its names or"
                + " its purpose",
            "Apply key usage, path length and name constraints (RFC 5280 §6.1.4)"
        ),
        .criticalExtension: (
            "ignores critical extensions",
            "It takes certificates with a critical extension that it does not know",
            "Refuse them (RFC 5280 §4.2)"
        ),
        .purpose: (
            "ignores the purpose (EKU)",
            "It takes certificates that are not meant for servers, such as a client's own, or whose"
                + " CA is not meant for them",
            "Ask for serverAuth: gnutls_certificate_verify_peers with a purpose,"
                + " X509_VERIFY_PARAM_set_purpose"
        ),
        .keyUsage: (
            "ignores what a key is for (key usage)",
            "It takes a handshake signed with a key that its certificate does not allow to sign",
            "Nothing to set in most TLS libraries: choose one that looks at the key usage, or look"
                + " at it after the handshake"
        ),
        .weakCertificate: (
            "takes broken keys or digests",
            "It takes certificates whose keys or signatures can be forged or are too weak",
            "Raise the security level of the TLS library to 112 bits at least"
        ),
        .revocation: (
            "takes revoked certificates",
            "It takes a certificate that its own staple says is revoked, or out of date",
            "Heed the stapled answer, or do not ask for one"
        ),
    ]

    private static let connectionWords: Words = [
        .handshakeSignature: (
            "does not check the handshake's signature (goto fail)",
            "It does not ask whether the server has the key of the certificate that it shows, and"
                + " certificates are public",
            "Update the TLS library at once; if it is your own, verify ServerKeyExchange and"
                + " CertificateVerify"
        ),
        .handshakeIntegrity: (
            "takes a handshake that is not whole",
            "It goes on although messages of the handshake are missing, early or wrong",
            "Update the TLS library"
        ),
        .noAuthentication: (
            "takes suites without authentication or encryption",
            "It offers or agrees to anonymous or NULL cipher suites",
            "Take aNULL and eNULL out of its cipher list"
        ),
        .oldVersion: (
            "speaks TLS older than 1.2",
            "It offers or agrees to a version with known attacks",
            "Set the least version to TLS 1.2 (RFC 8996)"
        ),
        .weakExchange: (
            "takes weak key exchanges",
            "It agrees to keys that can be broken",
            "Ask for 2048 bits of Diffie-Hellman at least, or take ECDHE only"
        ),
        .brokenCiphers: (
            "offers broken ciphers",
            "It lets the server choose RC4, DES, 3DES or an export suite",
            "Take them out of its cipher list; the library's default list is without them"
        ),
        .compression: (
            "offers compression",
            "It lets the server compress what is encrypted, and lengths tell of what is in it",
            "Turn the compression of TLS off"
        ),
        .downgrade: (
            "does not notice a downgrade",
            "It goes on in an older version although the server says that it was made to",
            "Check the sentinel in the ServerHello (RFC 8446 §4.1.3)"
        ),
        .laterHandshake: (
            "judges the first handshake only",
            "It goes on with another server's certificate after a renegotiation or resumption",
            "Turn renegotiation off, and judge every chain by the same rules"
        ),
        .credentialsInClear: (
            "sends credentials in cleartext after a redirect",
            "It follows a redirect from https to http and takes the credentials along",
            "Refuse redirects from https to http, or drop Authorization and cookies on the way"
        ),
        .fallbackToClear: (
            "goes on in cleartext when TLS fails",
            "It goes on without TLS when TLS fails, which anybody on the path can bring about,"
                + " whatever it verifies in TLS",
            "Take the fallback out: when TLS fails, or its server is refused, the request has to fail"
        ),
        .startTLSStripped: (
            "goes on without STARTTLS",
            "It goes on in plain when the server does not offer TLS",
            "Require TLS, or better use TLS from the first byte (RFC 8314)"
        ),
        .startTLSInjection: (
            "takes what came before TLS for what came in it",
            "It uses plain bytes that stood behind the answer to STARTTLS",
            "Empty the buffer when TLS begins; update the library"
        ),
        .redirectToClear: (
            "follows redirects into plaintext",
            "It follows a redirect from https to http, and what it sends and gets is in cleartext",
            "Refuse redirects from https to http"
        ),
        .beginsInClear: (
            "speaks to the host in cleartext, too",
            "It sends requests without TLS to a host that speaks it, and who is on the path reads"
                + " and answers them",
            "Use https, or require TLS, from the first request on"
        ),
        .addressUnmatched: (
            "does not take a sound server by its address",
            "It trusts the CA, as far as can be seen, and asks for an address that it does not find"
                + " in the certificate",
            "Have the client ask by the name that is audited, or say --host ADDRESS for the address"
                + " that it asks for"
        ),
        .authorityUnknown: (
            "does not take a sound server with the audit's CA",
            "It does not trust the CA, or pins another: that it refuses what the CA signed says nothing",
            "Have the client trust the CA for the time of the audit; a pinning client is audited"
                + " with its pins off as well"
        ),
    ]
}
