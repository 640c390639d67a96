package import Base
package import TLS

/// One entry of the catalogue: what a client is shown, and what it must make of it.
package struct ProbeDescription: Sendable, Equatable {
    /// Such as `name-wrong-host`; begins with its family.
    package let identifier: String
    package let family: ProbeFamily
    /// In a few words, for a table.
    package var title = ""
    package var expectation = Expectation.refuse
    /// How bad it is if the expectation is not met.
    package var severity = Severity.high
    /// What it takes to be presented.
    package var requirements: Set<ProbeRequirement> = []
    package var profile = AuditProfile.full
    /// Its place among those of its family, the smallest first: what is cheapest to exploit leads.
    package var order = 100
    /// Why a client must refuse it.
    package var reason = ""
    /// Such as `RFC 5280 §6.1.3(a)(2)`.
    package var source = ""
    /// Clients that got it wrong, such as `CVE-2014-1266`.
    package var history: [String] = []
    /// Of the Common Weakness Enumeration, such as 295.
    package var weaknesses: [Int] = []
    /// Of OWASP MASVS and MASTG, such as `MASVS-NETWORK-1`.
    package var controls: [String] = []
    /// What to do about a client that fails.
    package var fix = ""
    package var behaviour = ProbeBehaviour.serve
    /// What is presented, leaf first; empty for a behaviour that presents none, or the origin's.
    package var chain: [CertificateRecipe] = []
    /// The host that a client is to ask for; `nil` for any.
    package var host: String?
    /// Certificates in PEM that the client is to trust while it is shown, besides the audit's CA;
    /// those of its chain come to them.
    package var trustAnchors: [UInt8] = []
    /// What it looks for in what a client says by itself; `nil` for a probe that shows something.
    package var trait: ClientTrait?

    package init(identifier: String, family: ProbeFamily) {
        self.identifier = identifier
        self.family = family
    }
}

extension ProbeDescription {
    /// Whether the client has to be told to trust more than the audit's CA.
    package var hasOwnAnchors: Bool {
        !trustAnchors.isEmpty || chain.contains(where: \.isTrusted)
    }
}

/// What is being tested.
package enum ProbeFamily: String, Sendable, CaseIterable {
    /// Sound servers, which a client has to accept.
    case control
    case trust
    case name
    case time
    case purpose
    case crypto
    case revocation
    case chain
    case handshake
    case plaintext
    /// What a client says by itself; nothing is shown to it.
    case passive
}

/// What can be seen of a client that is shown nothing: nearly all of it in the first message of its
/// handshake.
package enum ClientTrait: String, Sendable, CaseIterable {
    case noServerName = "no-server-name"
    case anonymousSuites = "anonymous-suites"
    case nullSuites = "null-suites"
    case exportSuites = "export-suites"
    case rc4Suites = "rc4-suites"
    case desSuites = "des-suites"
    case tripleDESSuites = "3des-suites"
    case ssl
    /// It speaks no version from TLS 1.2 on.
    case oldVersion = "old-version"
    case md5Signatures = "md5-signatures"
    case sha1Signatures = "sha1-signatures"
    case compression
    case heartbeat
    /// Neither the extension nor the suite that stands for it (RFC 5746).
    case noRenegotiationInfo = "no-renegotiation-info"
    case noExtendedMasterSecret = "no-extended-master-secret"
    /// A suite whose keys are sent to the certificate's key is preferred.
    case staticRSAFirst = "static-rsa-first"
    /// It speaks to the same host in cleartext, too.
    case clearRequest = "clear-request"
}

/// What a sound client does with a probe.
package enum Expectation: String, Sendable, CaseIterable {
    case accept
    case refuse
    /// Most specifications say refuse, but common clients differ.
    case warn
    /// Whatever it does is noted, and is no mistake.
    case inform
}

/// What a probe needs besides a client.
package enum ProbeRequirement: String, Sendable, CaseIterable {
    /// The chain that the true origin presents.
    case originChain = "origin-chain"
    /// That the client trusts the audit's CA.
    case authority
    /// A certificate and key of some other name from a CA that the client trusts.
    case realCertificate = "real-certificate"
    /// That the client offers what is tried; else it has passed.
    case offer
}

/// How much is tried.
package enum AuditProfile: String, Sendable, CaseIterable, Comparable {
    /// The 13 probes that tell most.
    case quick
    /// All that a client must refuse.
    case standard
    case full

    package static func < (left: AuditProfile, right: AuditProfile) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int { AuditProfile.allCases.firstIndex(of: self) ?? 0 }
}

/// What the server of a probe does besides presenting its chain.
package enum ProbeBehaviour: String, Sendable, CaseIterable {
    case serve
    // The handshake
    case gotoFail = "goto-fail"
    case flippedServerKeyExchange = "flipped-server-key-exchange"
    case corruptCertificateVerify = "corrupt-certificate-verify"
    case wrongFinished = "wrong-finished"
    case anonymous
    case nullCipher = "null-cipher"
    case tls10 = "tls-1.0"
    case tls11 = "tls-1.1"
    case tls12 = "tls-1.2"
    case downgradeSentinel = "downgrade-sentinel"
    case exportKey = "export-key"
    case staticRSA = "static-rsa"
    case smallGroup512 = "small-group-512"
    case smallGroup768 = "small-group-768"
    case smallGroup1024 = "small-group-1024"
    case earlyChangeCipherSpec = "early-change-cipher-spec"
    case heartbeat
    case skippedServerKeyExchange = "skipped-server-key-exchange"
    case emptyCertificate = "empty-certificate"
    case earlyFinished = "early-finished"
    case changeCipherSpecFinished = "change-cipher-spec-finished"
    case renegotiateOtherName = "renegotiate-other-name"
    case renegotiateBadChain = "renegotiate-bad-chain"
    case resumeAfterRefusal = "resume-after-refusal"
    // Revocation
    case stapledGood = "stapled-good"
    case stapledRevoked = "stapled-revoked"
    case stapledStale = "stapled-stale"
    case publishedList = "revoked-by-crl"
    case publishedAnswer = "revoked-by-ocsp"
    // Plaintext
    case redirectToHTTP = "redirect-to-http"
    case redirectWithCredentials = "redirect-with-credentials"
    case httpOnTLSPort = "http-on-tls-port"
    case refuseTLS = "refuse-tls"
    case stripStartTLS = "strip-starttls"
    case injectAfterStartTLS = "inject-after-starttls"
    case preauthenticated
}
