internal import Catalogue
internal import TLS

/// What a probe's TLS server does, by its behaviour.
struct TLSProbePlan {
    let behaviour: ProbeBehaviour
    let chain: PresentedChain?
    /// What is shown in the second handshake; for renegotiation only.
    let second: PresentedChain?
    let ticketKey: [UInt8]

    /// Whether a client that speaks has taken what it should not.
    var isSpeakingProof: Bool { behaviour.isSpeakingProof }

    var renegotiates: Bool {
        behaviour == .renegotiateBadChain || behaviour == .renegotiateOtherName
    }

    var change: FlightChange.Kind? {
        switch behaviour {
        case .flippedServerKeyExchange: .flippedServerKeyExchange
        case .earlyChangeCipherSpec: .earlyChangeCipherSpec
        case .heartbeat: .heartbeat
        default: nil
        }
    }

    /// Why going on with a ClientKeyExchange proves the fault; `nil` where it does not.
    ///
    /// No handshake ends in these: the two sides have seen different messages.
    var proofByFlight: String? {
        switch behaviour {
        case .flippedServerKeyExchange:
            "the client went on after a key exchange whose signature is wrong"
        case .downgradeSentinel:
            "the client offers TLS 1.3, and went on in TLS 1.2 although the server warns of it"
        default: nil
        }
    }

    /// Whether the client offers what is tried; where the library finds out by itself it is not
    /// looked at.
    func isOffered(in hello: ClientHello) -> Bool {
        switch behaviour {
        case .downgradeSentinel: hello.highestVersion >= TLSVersion.tls13.rawValue
        case .stapledRevoked, .stapledStale: hello.extensions.contains(Self.statusRequest)
        default: true
        }
    }

    /// The extension with which a client asks for a staple (RFC 6066 §8).
    private static let statusRequest: UInt16 = 5

    func configuration(for hello: ClientHello) -> ProbeTLSConfiguration {
        var made = ProbeTLSConfiguration(chain: chain)
        let oldest = TLSVersion.tls10
        switch behaviour {
        case .gotoFail:
            made.signature = .foreign
            made.suites = ProbeTLSConfiguration.Suites.signed
        case .corruptCertificateVerify:
            made.signature = .corrupt
            made.suites = ProbeTLSConfiguration.Suites.signed
        case .wrongFinished:
            let isNew = hello.highestVersion >= TLSVersion.tls13.rawValue
            made.versions = isNew ? TLSVersions(.tls13, .tls13) : TLSVersions(oldest, .tls12)
            made.suites = ProbeTLSConfiguration.Suites.chained
            made.hasWrongFinished = true
        case .anonymous:
            made.chain = nil
            made.versions = TLSVersions(oldest, .tls12)
            made.suites = ProbeTLSConfiguration.Suites.anonymous
        case .nullCipher:
            made.versions = TLSVersions(oldest, .tls12)
            made.suites = ProbeTLSConfiguration.Suites.null
        case .staticRSA:
            made.versions = TLSVersions(oldest, .tls12)
            made.suites = ProbeTLSConfiguration.Suites.staticRSA
        case .tls10: made.versions = TLSVersions(.tls10, .tls10)
        case .tls11: made.versions = TLSVersions(.tls11, .tls11)
        case .smallGroup512: useGroup(512, in: &made)
        case .smallGroup768: useGroup(768, in: &made)
        case .smallGroup1024: useGroup(1024, in: &made)
        case .flippedServerKeyExchange:
            made.versions = TLSVersions(oldest, .tls12)
            made.suites = ProbeTLSConfiguration.Suites.signed
        case .tls12, .earlyChangeCipherSpec, .heartbeat, .renegotiateOtherName,
            .renegotiateBadChain:
            made.versions = TLSVersions(oldest, .tls12)
        case .resumeAfterRefusal: made.ticketKey = ticketKey
        default: break
        }
        // A renegotiation is forbidden in HTTP/2 (RFC 9113 §9.2.1).
        if renegotiates { made.protocols = ["http/1.1"] }
        return made
    }

    private func useGroup(_ bits: Int, in configuration: inout ProbeTLSConfiguration) {
        configuration.versions = TLSVersions(.tls10, .tls12)
        configuration.suites = ProbeTLSConfiguration.Suites.finiteField
        configuration.smallGroup = bits
    }
}
