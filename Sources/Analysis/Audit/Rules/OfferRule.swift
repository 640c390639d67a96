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
        case .noServerName: lacks(.serverName, offer) ? "the client names no host" : nil
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
            offer.compressionMethods.contains { $0 != 0 }
                ? "the client offers to compress what it encrypts" : nil
        case .heartbeat: lacks(.heartbeat, offer) ? nil : "the client offers heartbeats"
        case .noRenegotiationInfo: renegotiation(offer)
        case .noExtendedMasterSecret:
            offer.speaksBeforeTLS13 && lacks(.extendedMasterSecret, offer)
                ? "the client does not offer extended_master_secret" : nil
        case .staticRSAFirst: staticRSA(offer)
        // That is no offer.
        case .clearRequest: nil
        }
    }

    /// IANA, TLS ExtensionType Values.
    fileprivate enum ExtensionType: UInt16 {
        case serverName = 0
        case signatureAlgorithms = 13
        case heartbeat = 15
        case extendedMasterSecret = 23
        case renegotiationInfo = 0xFF01
    }

    private static func lacks(_ type: ExtensionType, _ offer: ClientHelloOffer) -> Bool {
        !offer.extensions.contains(type.rawValue)
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

    /// By the numbers of digests in RFC 5246 §7.4.1.4.1, which TLS 1.3 has kept for these.
    private static func signatures(
        _ digest: UInt16, _ name: String, _ offer: ClientHelloOffer
    ) -> String? {
        let isAsked = offer.versions.contains { $0 == 0x0303 }
        if name == "SHA-1", isAsked, lacks(.signatureAlgorithms, offer) {
            return "the client says nothing of signatures, which stands for SHA-1"
        }
        let known = offer.signatureAlgorithms.filter { $0 >> 8 == digest && (1...3) ~= $0 & 0xFF }
        return known.isEmpty ? nil : "the client takes signatures with \(name)"
    }

    private static func renegotiation(_ offer: ClientHelloOffer) -> String? {
        guard offer.speaksBeforeTLS13, lacks(.renegotiationInfo, offer),
            !offer.suites.contains(renegotiationSuite)
        else { return nil }
        return "the client does not bind renegotiations to what was before"
    }

    /// TLS_EMPTY_RENEGOTIATION_INFO_SCSV (RFC 5746 §3.3).
    private static let renegotiationSuite: UInt16 = 0x00FF

    private static func staticRSA(_ offer: ClientHelloOffer) -> String? {
        // Suites of TLS 1.3 say nothing of the key exchange; what stands for something else is none.
        let first = offer.suites.first { $0 >> 8 != 0x13 && $0 != renegotiationSuite }
        guard let suite = first.flatMap({ WeakSuite(code: $0) }), suite.has(.staticRSA) else {
            return nil
        }
        return "the client would rather have \(suite.name) than any other"
    }
}

extension ClientHelloOffer {
    /// Whether it says which host is meant, which clients do not of an address.
    var namesHost: Bool { extensions.contains(OfferRule.ExtensionType.serverName.rawValue) }

    fileprivate var speaksBeforeTLS13: Bool { versions.contains { $0 < 0x0304 } }
}
