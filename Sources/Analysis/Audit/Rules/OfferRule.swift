internal import Catalogue
internal import Findings
internal import TLS

/// Judges passive probes by what a client offered a sound server.
enum OfferRule {
    /// - Parameter offers: of the first messages that were seen.
    /// - Returns: what that says, and why, in a sentence without a full stop.
    static func judge(
        _ trait: ClientTrait, _ offers: [ClientHelloOffer], host: String
    ) -> (outcome: ProbeOutcome, evidence: String) {
        if trait == .noServerName, ProbedHost.isAddress(host) {
            return (.notPossible, "an address is not named in TLS")
        }
        guard !offers.isEmpty else {
            return (.notSeen, "the client began no handshake with the sound server")
        }
        // One that tries again with less speaks more all the same.
        let speaksMore = trait == .oldVersion && offers.contains { oldVersion($0) == nil }
        for offer in offers where !speaksMore {
            if let evidence = evidence(of: trait, in: offer) { return (.shown, evidence) }
        }
        return (.notShown, "nothing of the kind is in the client's first message")
    }

    private static func evidence(
        of trait: ClientTrait, in offer: ClientHelloOffer
    ) -> String? {
        switch trait {
        case .noServerName: offer.namesHost ? nil : "the client names no host"
        case .anonymousSuites: suites(.anonymous, offer)
        case .nullSuites: suites(.null, offer)
        case .exportSuites: suites(.export, offer)
        case .rc4Suites: suites(.rc4, offer)
        case .desSuites: suites(.des, offer)
        case .tripleDESSuites: suites(.tripleDES, offer)
        case .ssl: ssl(offer)
        case .oldVersion: oldVersion(offer)
        case .md5Signatures: signatures(1, "MD5", offer)
        case .sha1Signatures: signatures(2, "SHA-1", offer)
        case .compression:
            offer.compresses ? "the client offers to compress what it encrypts" : nil
        case .heartbeat: offer.offersHeartbeat ? "the client offers heartbeats" : nil
        case .noRenegotiationInfo:
            offer.lacksRenegotiationInfo
                ? "the client does not bind renegotiations to what was before" : nil
        case .noExtendedMasterSecret:
            offer.lacksExtendedMasterSecret
                ? "the client does not offer extended_master_secret" : nil
        case .staticRSAFirst: staticRSA(offer)
        // That is no offer.
        case .clearRequest: nil
        }
    }

    private static func suites(_ weakness: SuiteClass, _ offer: ClientHelloOffer) -> String? {
        let names = offer.weakSuites.filter { $0.has(weakness) }.map(\.name)
        guard !names.isEmpty else { return nil }
        let rest = names.count > 3 ? " and \(names.count - 3) more" : ""
        return "the client offers " + names.prefix(3).joined(separator: ", ") + rest
    }

    private static func ssl(_ offer: ClientHelloOffer) -> String? {
        if offer.isSSL2 { return "the client's first message is one of SSL 2.0" }
        return offer.oldVersions.contains(0x0300) ? "the client offers SSL 3.0" : nil
    }

    /// One that was made to fall back speaks more than it says.
    private static func oldVersion(_ offer: ClientHelloOffer) -> String? {
        guard let highest = offer.versions.last, offer.oldVersions.contains(highest) else {
            return nil
        }
        return "the client speaks \(TLSVersionName.text(highest)) at most"
    }

    private static func signatures(
        _ digest: UInt16, _ name: String, _ offer: ClientHelloOffer
    ) -> String? {
        if name == "SHA-1", offer.lacksSignatureAlgorithms {
            return "the client says nothing of signatures, which stands for SHA-1"
        }
        return offer.signatures(digest: digest).isEmpty
            ? nil : "the client takes signatures with \(name)"
    }

    private static func staticRSA(_ offer: ClientHelloOffer) -> String? {
        // Suites of TLS 1.3 say nothing of the key exchange; what stands for something else is none.
        let first = offer.suites.first {
            $0 >> 8 != 0x13 && $0 != ClientHelloOffer.renegotiationSuite
        }
        guard let suite = first.flatMap({ WeakSuite(code: $0) }), suite.has(.staticRSA) else {
            return nil
        }
        return "the client would rather have \(suite.name) than any other"
    }
}
