internal import Base
internal import Contents
package import Logins
package import Traffic

/// Judges records one after the other and keeps what it found, consolidated.
///
/// Memory is bounded however many records there are: see `FindingStore` and `RememberingDetectors`.
package struct FindingsEngine {
    private let configuration: FindingsConfiguration
    private let redaction: EvidenceRedaction
    private var planted: PlantedValueDetector?
    private var parties: Parties
    private var remembering = RememberingDetectors()
    private var store = FindingStore()
    private var coverage = FindingsCoverage()
    private let policy: PolicyRule
    private var expected: ExpectationWatch
    private var inventory = Inventory()

    package init(_ configuration: FindingsConfiguration) {
        self.configuration = configuration
        policy = PolicyRule(configuration.policy, baseline: configuration.baseline)
        expected = ExpectationWatch(configuration.policy.expectations)
        let profile = configuration.profile
        let automaton = profile.flatMap { PlantedAutomaton($0, digests: configuration.digests) }
        redaction = EvidenceRedaction(
            digests: configuration.digests, runKey: configuration.runKey, planted: automaton)
        parties = Parties(configuration, redaction: redaction)
        if let profile, let automaton {
            planted = PlantedValueDetector(profile: profile, automaton: automaton)
        } else {
            planted = nil
        }
    }

    /// Whether the messages of a connection can show anything: inside of TLS only those of names
    /// and of exchanges, unless planted values are looked for, or it may be TLS to the proxy, which
    /// says nothing of what is inside.
    package func wantsMessages(of connection: ConnectionRecord) -> Bool {
        guard connection.messageCount > 0 else { return false }
        let tells = connection.protocolName == ProtocolName.dns.rawValue
        if tells || connection.exchangeCount > 0 { return true }
        return planted != nil || connection.clientTLS == nil || connection.mode == .explicit
    }

    /// Judges a connection; to be called once for each, with its last state.
    ///
    /// - Parameter messages: what was gathered of it, `nil` if nothing was looked at.
    /// - Returns: what was found of it, not consolidated.
    @discardableResult
    package mutating func observe(
        _ connection: ConnectionRecord, messages: GatheredMessages? = nil
    ) -> [Finding] {
        coverage.count(connection)
        guard !connection.isForTool else { return [] }
        if let messages { coverage.count(messages, of: connection) }
        let view = messages?.conversation(of: nil).map { MessageView($0, on: connection) }
        var logins = view.map(PlainLoginDetector.examine) ?? []
        for index in logins.indices
        where connection.mode == .socks && logins[index].protocolName == .socks {
            logins[index].peer = .proxy
        }
        let isLocal = parties.isLocal(connection.host, isImported: connection.isImported)
        // Who logs in as a guest may say anything else as well.
        let isRead = logins.contains { $0.severity > .low }
        let isSpoken = SpokenProtocol.isSpoken(connection.protocolName, by: view?.client ?? [])
        // Of what has gaps, the words that would tell may be missing.
        let isNamed = isSpoken || connection.has(.packetsMissing)
        coverage.countUnread(connection, isUnread: !isRead && !isLocal, isSpoken: isNamed)
        if view != nil { expected.see(connection.host) }
        let spoken = ProtocolName(rawValue: connection.protocolName)
        var found = ConnectionDetector.examine(connection) + ClientOfferDetector.examine(connection)
        found += OriginParametersDetector.examine(connection)
        found += remembering.examine(connection, view, redaction) { [parties, redaction] in
            Sighting(on: connection, parties, redaction)
        }
        found += LocalDestinationDetector.examine(connection)
        found += LocalGroupDetector.examine(connection)
        found += BonjourDetector.examine(connection, view) + SSDPDetector.examine(connection, view)
        for index in found.indices { found[index].protocolName = spoken }
        found += logins
        let isWhole = view?.isClear == true && messages?.isTruncated == false
        found += PlainLoginDetector.examine(connection, isRead: !logins.isEmpty || isWhole)
        let hasLoggedIn = found.contains { $0.rule == .plainLogin && $0.severity == .critical }
        found += UpgradeDetector.examine(
            connection, client: view?.client ?? [], hasLoggedIn: hasLoggedIn)
        if let view, !isRead, !isSpoken || connection.protocolName == "unknown" {
            found += UnknownStreamDetector.examine(view)
            found += remembering.examine(view, on: connection, redaction)
        }
        if !found.contains(where: \.tellsOfCleartext) {
            found += UnsafeProtocolDetector.examine(connection, hasSpoken: view?.hasClient ?? false)
        }
        if let view { found += AskedNamesDetector.examine(view, &parties) }
        var sought = view.flatMap { planted?.examine($0) } ?? []
        let inner = found.lazy.compactMap(\.protocolName).first ?? spoken ?? .other
        for index in sought.indices { sought[index].protocolName = inner }
        let all = bounded(found + sought)
        let redaction = redaction.hiding(all.secrets)
        return add(all, redaction) { [parties] match in
            Sighting(
                on: connection, parties, redaction, protocolName: match.protocolName,
                isSecured: match.isSecured(on: connection, unless: view?.isClear ?? false),
                isProxy: match.peer == .proxy)
        }
    }

    /// Judges the messages of an exchange; to be called once for each that has some.
    ///
    /// - Returns: what was found of it, not consolidated.
    @discardableResult
    package mutating func observe(
        _ messages: GatheredMessages, of exchange: ExchangeRecord,
        on connection: ConnectionRecord?
    ) -> [Finding] {
        guard !exchange.isHeadMissing,
            let conversation = messages.conversation(of: exchange.id)
        else { return [] }
        let exchange = ExchangeView(
            exchange, on: connection, requestBody: [], responseBody: [], parties: &parties)
        let view = MessageView(conversation, of: exchange)
        var spoken = (planted?.examine(view) ?? []) + PlainLoginDetector.examine(view)
        for index in spoken.indices {
            if let name = spoken[index].protocolName { spoken[index].notes.append(.speaks(name)) }
        }
        var found = bounded(spoken)
        for message in view.messages where message.direction == .request {
            let reading = message.reading
            if reading.isTruncated { coverage.countPartlyReadMessage() }
            let fields = reading.fields
            let values = PersonalValue.read(fields)
            found.add(DeviceIdentifierDetector.examine(values, among: fields))
            found.add(PersonalDataDetector.examine(values, in: exchange))
            guard view.isClear else { continue }
            found.add(PasswordFieldDetector.examine(fields, verdict: []))
            found.add(MessageTokenDetector.examine(fields))
        }
        return add(found, in: exchange)
    }

    /// Judges an exchange; to be called once for each, by rising id.
    ///
    /// - Parameters:
    ///   - connection: the one that it came on, `nil` if it is not known.
    ///   - requestBody: the content as it came, capped by the caller.
    ///   - responseBody: the same of the response.
    ///   - responseDigest: equal for equal contents of responses, `nil` if it is not known.
    /// - Returns: what was found of it, not consolidated.
    @discardableResult
    package mutating func observe(
        _ exchange: ExchangeRecord, on connection: ConnectionRecord?, requestBody: [UInt8],
        responseBody: [UInt8], responseDigest: UInt64? = nil
    ) -> [Finding] {
        // Nothing is known of it that could be judged, not even whether it was encrypted.
        guard !exchange.isHeadMissing else {
            coverage.countMissingHead()
            return []
        }
        let view = ExchangeView(
            exchange, on: connection, requestBody: requestBody, responseBody: responseBody,
            responseDigest: responseDigest, parties: &parties)
        // What was asked of an origin that could not be had was not exchanged with it.
        if !exchange.answeredByTool { expected.seeExchange(with: view.host) }
        let found = examine(view)
        // Only now it is known how far the rules have come.
        coverage.count(view)
        return add(found, in: view)
    }

    /// What was found so far.
    ///
    /// - Parameter leavesOut: whether there were records that were not to be judged.
    package func report(leavesOut: Bool = false) -> FindingsReport {
        var (store, coverage) = (store, coverage)
        coverage.countForgotten(remembering.forgottenCount)
        for match in remembering.finish(parties) { store.add(policy.taken(Finding(match))) }
        let firstParties = parties.firstParties
        let digests = configuration.digests
        var findings = store.findings(digests: digests, firstParties: firstParties)
        var expected = expected
        expected.see(planted: planted?.seenKeys ?? [])
        let outcome = policy.outcome(
            of: &findings, isPartial: leavesOut,
            unmet: expected.unmet(path: configuration.policy.path),
            wideFingerprint: { FindingStore.wideFingerprint(of: $0, digests) })
        var reasons = coverage.inconclusive(isTruncated: store.isTruncated, leavesOut: leavesOut)
        if configuration.policy.gate.waivesPartlyRead { reasons.removeAll { $0 == .partlyRead } }
        if !outcome.unmet.isEmpty { reasons.append(.expectationUnmet) }
        return FindingsReport(
            findings: findings, coverage: coverage, inventory: inventory,
            firstParties: firstParties,
            inconclusive: reasons, gate: configuration.policy.gate, outcome: outcome)
    }

    /// The detectors that judge an exchange by itself.
    private static let detectors: [@Sendable (ExchangeView) -> [RuleMatch]] = [
        AuthorizationDetector.examine, APIKeyDetector.examine,
        PasswordFieldDetector.examine, MessageTokenDetector.examine, URLDetector.examine,
        LoginPageDetector.examine, CookieAttributesDetector.examine, DowngradeDetector.examine,
        CachedSecretDetector.examine,
        RefererDetector.examine, ProviderKeyDetector.examine, WeakTokenDetector.examine,
        ResponseSecretDetector.examine, ClientSecretDetector.examine,
        DeviceIdentifierDetector.examine, PersonalDataDetector.examine, TrackerDetector.examine,
        CachingDetector.examine, ImageDetector.examine,
        LocalLeakDetector.examine,
    ]

    private mutating func examine(_ view: ExchangeView) -> BoundedMatches {
        var found = bounded(ClearHTTPDetector.examine(view))
        found.add(planted?.examine(view) ?? [])
        for detector in Self.detectors { found.add(detector(view)) }
        found.add(AskedNamesDetector.examine(view, &parties))
        if !view.isTunnel {
            inventory.add(view)
            parties.count(view.service, hasCredentials: !view.credentials.isEmpty)
        }
        let secrets = found.secrets + view.credentials.map(\.value)
        let evidence = RunEvidence(
            view: view, redaction: redaction.hiding(secrets), parties: parties)
        found.add(remembering.examine(view, evidence))
        return found
    }

    private func bounded(_ matches: [RuleMatch]) -> BoundedMatches {
        BoundedMatches(matches, configuration.policy.gate)
    }

    private mutating func add(_ matches: BoundedMatches, in view: ExchangeView) -> [Finding] {
        guard !matches.all.isEmpty else { return [] }
        let isImported = view.connection?.isImported ?? false
        if parties.isLocal(view.host, isImported: isImported),
            matches.all.allSatisfy({ $0.isOfCleartextAlone && $0.isAboutTheOrigin })
        {
            coverage.countLeftOut(matches.leftOutCount)
            return []
        }
        let (parties, redaction) = (parties, redaction.hiding(matches.secrets))
        // Once for all: a path may be long, and the secrets many.
        lazy var atOrigin = Sighting(in: view, parties, redaction)
        lazy var atProxy = Sighting(in: view, parties, redaction, isProxy: true)
        return add(matches, redaction) { $0.peer == .proxy ? atProxy : atOrigin }
    }

    /// Adds what one exchange or connection showed.
    ///
    /// - Parameter redaction: knows its secrets, so that no name shows one.
    private mutating func add(
        _ matches: BoundedMatches, _ redaction: EvidenceRedaction,
        seen sighting: (RuleMatch) -> Sighting
    ) -> [Finding] {
        guard !matches.all.isEmpty else { return [] }
        coverage.countLeftOut(matches.leftOutCount)
        let firstParties = configuration.firstParties.isEmpty ? nil : parties.firstParties
        return matches.all.compactMap { match in
            var sighting = sighting(match)
            if let host = match.about { sighting = sighting.about(host, parties, redaction) }
            if sighting.isLocal, match.isOfCleartextAlone { return nil }
            let finding = policy.taken(Finding(match, at: sighting, redaction))
            store.add(finding)
            guard let firstParties else { return finding.isForThirdParties ? nil : finding }
            return firstParties.weighed(finding)
        }
    }
}

extension RuleMatch {
    /// Whether it says no more than that there was no TLS, which is nothing on one machine.
    fileprivate var isOfCleartextAlone: Bool {
        rule == .clearHTTP || rule == .unsafeProtocol
    }

    /// Whether it is about nobody but whom the exchange was with.
    fileprivate var isAboutTheOrigin: Bool { about == nil && peer != .proxy }

    /// Whether it says already that a dialogue had no TLS.
    fileprivate var tellsOfCleartext: Bool {
        [.plainLogin, .hashLogin, .upgradeUnused, .upgradeInjection].contains(rule)
    }

    /// Whether TLS was around what a connection's match is about.
    ///
    /// - Parameter isClear: whether what was said on it was not encrypted.
    fileprivate func isSecured(on connection: ConnectionRecord, unless isClear: Bool) -> Bool {
        switch rule {
        case .plainLogin, .hashLogin, .upgradeUnused, .upgradeInjection, .streamPlaintext,
            .streamRandom, .streamReuse, .unsafeProtocol, .bonjour, .ssdp, .localGroup:
            false
        case .localDestination: connection.clientTLS != nil
        case .plantSecret, .plantID: !isClear
        default: true
        }
    }
}
