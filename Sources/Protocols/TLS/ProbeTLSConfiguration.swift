/// How the TLS server of a probe is, flaws and all; values only.
package struct ProbeTLSConfiguration: Sendable {
    /// Who signs the ServerKeyExchange of TLS 1.2, or the CertificateVerify of TLS 1.3.
    package enum Signature: Sendable, Equatable {
        /// The chain's key.
        case sound
        /// A key that has nothing to do with the chain, which may be anybody's.
        case foreign
        /// The chain's key, with one bit wrong.
        case corrupt
    }

    /// What is shown; `nil` for a server without a certificate.
    package var chain: PresentedChain?
    package var versions = TLSVersions(.tls10, .tls13)
    /// The suites of TLS 1.2 and below, in OpenSSL's language.
    package var suites = Suites.all
    package var signature = Signature.sound
    /// Whether the server's Finished is wrong; one version has to be chosen for it.
    package var hasWrongFinished = false
    /// In bits, for finite-field Diffie-Hellman: 512, 768 or 1024; `nil` for sound groups.
    package var smallGroup: Int?
    /// What is chosen by ALPN, in the order of preference.
    package var protocols = ["http/1.1", "h2"]
    /// 80 bytes, with which tickets for resumption are given; `nil` for none.
    package var ticketKey: [UInt8]?

    package init(chain: PresentedChain?) { self.chain = chain }

    /// Lists of suites. None has a security level, because each probe is to be tried.
    package enum Suites {
        package static let all = "ALL:COMPLEMENTOFDEFAULT:!aNULL:!eNULL:!PSK:!SRP@SECLEVEL=0"
        /// Those whose key exchange is signed.
        package static let signed = "kECDHE:kDHE:!aNULL:!eNULL:!PSK@SECLEVEL=0"
        /// With them no client speaks before it has seen our Finished (RFC 7918 §4).
        package static let chained = "ECDHE+AES+SHA1:DHE+AES+SHA1:AES+SHA1:!aNULL:!PSK@SECLEVEL=0"
        /// Those whose keys are encrypted to the certificate's key.
        package static let staticRSA = "kRSA:!aNULL:!eNULL:!PSK@SECLEVEL=0"
        package static let finiteField = "kDHE:!aNULL:!eNULL:!PSK@SECLEVEL=0"
        package static let anonymous = "aNULL:!eNULL@SECLEVEL=0"
        package static let null = "eNULL:!aNULL:!PSK@SECLEVEL=0"
    }
}
