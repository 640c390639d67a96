internal import Base
internal import Traffic

/// TLS-C-VERSION, -CIPHER, -SNI, -SIGALG and -EXT: what a client's hello offers, or leaves out.
///
/// One finding for each rule and service: the worst of what is wrong sets the severity.
enum ClientOfferDetector {
    static func examine(_ connection: ConnectionRecord) -> [RuleMatch] {
        guard let tls = connection.clientTLS, let offer = ClientHelloOffer(tls.clientHello) else {
            return []
        }
        let found = [
            version(offer), cipher(offer), serverName(offer, tls, connection), signatures(offer),
            extensions(offer, connection),
        ]
        return found.compactMap { match in
            var match = match
            match?.place = .service
            return match
        }
    }

    private static func version(_ offer: ClientHelloOffer) -> RuleMatch? {
        guard !offer.isFallback else { return nil }
        let old = offer.oldVersions
        guard let lowest = old.first ?? (offer.isSSL2 ? 0x0002 : nil) else { return nil }
        let isSSL = offer.isSSL2 || lowest <= 0x0300
        var result = RuleMatch(.tlsClientVersion, isSSL ? .high : .medium, .certain)
        result.notes = offer.isSSL2 ? [.offersSSL2] : []
        result.notes += old.prefix(4).map { .offersVersion($0) }
        return result
    }

    private static func cipher(_ offer: ClientHelloOffer) -> RuleMatch? {
        let weak = offer.weakSuites
        let classes = Set(weak.map(\.suiteClass)).sorted().reversed()
        guard let worst = classes.first, let example = weak.first(where: { $0.suiteClass == worst })
        else { return nil }
        var result = RuleMatch(.tlsClientCipher, worst.severity, .certain)
        result.notes = [.offersSuites(Array(classes), count: weak.count, example: example)]
        return result
    }

    /// Judged where the client told the proxy whom it wants, so that it is known.
    private static func serverName(
        _ offer: ClientHelloOffer, _ tls: TLSRecord, _ connection: ConnectionRecord
    ) -> RuleMatch? {
        let asked = HostName(connection.originHost)
        guard connection.mode == .explicit || connection.mode == .socks, !asked.isEmpty,
            !asked.isAddress, !offer.hidesHost
        else { return nil }
        guard offer.namesHost else {
            return match(.tlsClientServerName, [(.namesNoHost, .low)], .certain)
        }
        guard let name = tls.sni.map({ HostName($0) }), !name.isEmpty, name != asked else {
            return nil
        }
        return match(.tlsClientServerName, [(.namesAnotherHost, .medium)], .tentative)
    }

    private static func signatures(_ offer: ClientHelloOffer) -> RuleMatch? {
        guard !offer.isSSL2 else { return nil }
        var flaws: [(OfferFlaw, Severity)] = []
        if !offer.signatures(digest: 1).isEmpty { flaws.append((.md5Signatures, .medium)) }
        if !offer.signatures(digest: 2).isEmpty { flaws.append((.sha1Signatures, .low)) }
        if offer.lacksSignatureAlgorithms { flaws.append((.noSignatureAlgorithms, .low)) }
        if offer.canUseDSA { flaws.append((.dsaSignatures, .info)) }
        return match(.tlsClientSignatures, flaws, .certain)
    }

    private static func extensions(
        _ offer: ClientHelloOffer, _ connection: ConnectionRecord
    ) -> RuleMatch? {
        guard !offer.isSSL2 else { return nil }
        var flaws: [(OfferFlaw, Severity)] = []
        if offer.compresses { flaws.append((.compression, .high)) }
        if offer.lacksRenegotiationInfo { flaws.append((.noRenegotiationInfo, .medium)) }
        if offer.offersHeartbeat { flaws.append((.heartbeat, .medium)) }
        if offer.lacksExtendedMasterSecret { flaws.append((.noExtendedMasterSecret, .low)) }
        if !offer.namesApplications, connection.exchangeCount > 0 {
            flaws.append((.noApplications, .info))
        }
        return match(.tlsClientExtensions, flaws, .certain)
    }

    private static func match(
        _ rule: RuleID, _ flaws: [(OfferFlaw, Severity)], _ confidence: Confidence
    ) -> RuleMatch? {
        guard let worst = flaws.map(\.1).max() else { return nil }
        var result = RuleMatch(rule, worst, confidence)
        result.notes = flaws.map { .offer($0.0) }
        return result
    }
}

extension RuleText {
    static let tlsClientVersion = RuleText(
        title: "Client offers an old version of TLS",
        reason: "versions before TLS 1.2 rest on broken constructions (RFC 8996)",
        advice: "set TLS 1.2 as the client's lowest version",
        decision: "The ClientHello offers a version before TLS 1.2 (RFC 8996).",
        exceptions: "GREASE and signalling values. What is offered is not what is agreed on.",
        worst: .high,
        weaknesses: [327, 757])

    static let tlsClientCipher = RuleText(
        title: "Client offers weak cipher suites",
        reason: "an origin, or an attacker who can downgrade, may choose one of them",
        advice: "offer only suites with forward secrecy and authenticated encryption",
        decision:
            "The ClientHello offers suites without encryption, authentication or forward"
            + " secrecy, or with RC4, DES, 3DES or export keys.",
        exceptions: "GREASE and signalling values. What is offered is not what is agreed on.",
        worst: .high,
        weaknesses: [326, 327])

    static let tlsClientServerName = RuleText(
        title: "Client names no host in TLS, or another one",
        reason:
            "a server of many hosts answers with another's certificate, which tempts a client not to"
            + " verify the name",
        advice: "set the server name to the host that is connected to, and verify it",
        decision:
            "The client asked the proxy for a host by its name, and the ClientHello has no"
            + " server_name (RFC 6066 §3); or it has another one, which is tentative.",
        exceptions:
            "Addresses, and hellos with encrypted_client_hello. Another name may be meant (domain"
            + " fronting).",
        worst: .medium,
        weaknesses: [295])

    static let tlsClientSignatures = RuleText(
        title: "Client takes weak signatures",
        reason: "collisions in MD5 and SHA-1 can be made, so a signature over one proves little",
        advice: "take signatures with SHA-256 or better, as RSA, ECDSA or EdDSA",
        decision:
            "signature_algorithms has MD5 (medium), SHA-1 (low) or DSA with its suites (info), or is"
            + " missing where TLS 1.2 is offered (RFC 9155).",
        exceptions: "What is offered is not what is agreed on.",
        worst: .medium,
        weaknesses: [327])

    static let tlsClientExtensions = RuleText(
        title: "Client's hello misses protection, or has what is dangerous",
        reason: "known attacks on TLS are closed by extensions that every library has",
        advice: "bring the TLS library up to date, and do not switch compression on",
        decision:
            "The ClientHello offers compression (high), heartbeats or no renegotiation_info (medium),"
            + " lacks extended_master_secret (low), or ALPN although HTTP was spoken (info); RFC"
            + " 5746, 7627, 9325.",
        exceptions: "Clients that offer TLS 1.3 alone need neither of the two RFCs.",
        worst: .high,
        weaknesses: [310, 757])
}
