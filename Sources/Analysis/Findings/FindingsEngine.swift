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
        coverage.countUnread(connection, isUnread: logins.isEmpty && !isLocal)
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
        if let view, logins.isEmpty, connection.protocolName == "unknown" {
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
        return add(found + sought) { [parties] match, redaction in
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
        var found = planted?.examine(view) ?? []
        found += PlainLoginDetector.examine(view)
        for message in view.messages where message.direction == .request {
            guard found.count < Self.matchLimit else { break }
            let fields = message.fields
            let values = PersonalValue.read(fields)
            found += DeviceIdentifierDetector.examine(values, among: fields)
            found += PersonalDataDetector.examine(values, in: exchange)
            guard view.isClear else { continue }
            found += PasswordFieldDetector.examine(fields, verdict: [])
            found += MessageTokenDetector.examine(fields)
        }
        for index in found.indices {
            if let name = found[index].protocolName { found[index].notes.append(.speaks(name)) }
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
        var store = store
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
        if !outcome.unmet.isEmpty { reasons.append(.expectationUnmet) }
        return FindingsReport(
            findings: findings, coverage: coverage, inventory: inventory,
            firstParties: firstParties,
            inconclusive: reasons, gate: configuration.policy.gate, outcome: outcome)
    }

    /// The detectors that judge an exchange by itself.
    private static let detectors: [@Sendable (ExchangeView) -> [RuleMatch]] = [
        AuthorizationDetector.examine, APIKeyDetector.examine,
        PasswordFieldDetector.examine, URLDetector.examine, LoginPageDetector.examine,
        CookieAttributesDetector.examine, DowngradeDetector.examine, CacheDetector.examine,
        RefererDetector.examine, ProviderKeyDetector.examine, WeakTokenDetector.examine,
        ResponseSecretDetector.examine, ClientSecretDetector.examine,
        DeviceIdentifierDetector.examine, PersonalDataDetector.examine, TrackerDetector.examine,
        CachingDetector.examine, ImageDetector.examine,
        LocalLeakDetector.examine,
    ]

    private mutating func examine(_ view: ExchangeView) -> [RuleMatch] {
        // The inventory goes first, so that no number of others crowds it out.
        var found = ClearHTTPDetector.examine(view)
        found += planted?.examine(view) ?? []
        for detector in Self.detectors { found += detector(view) }
        found += AskedNamesDetector.examine(view, &parties)
        if !view.isTunnel {
            inventory.add(view)
            parties.count(view.service, hasCredentials: !view.credentials.isEmpty)
        }
        var redaction = redaction
        redaction.secrets = Self.secrets(of: found) + view.credentials.map(\.value)
        let evidence = RunEvidence(view: view, redaction: redaction, parties: parties)
        return found + remembering.examine(view, evidence)
    }

    private mutating func add(_ matches: [RuleMatch], in view: ExchangeView) -> [Finding] {
        add(matches) { [parties] match, redaction in
            Sighting(in: view, parties, redaction, isProxy: match.peer == .proxy)
        }
    }

    /// Adds what one exchange or connection showed, and keeps its secrets out of every name.
    private mutating func add(
        _ matches: [RuleMatch], seen sighting: (RuleMatch, EvidenceRedaction) -> Sighting
    ) -> [Finding] {
        guard !matches.isEmpty else { return [] }
        let matches = matches.prefix(Self.matchLimit)
        var redaction = redaction
        redaction.secrets = Self.secrets(of: matches)
        let firstParties = configuration.firstParties.isEmpty ? nil : parties.firstParties
        return matches.compactMap { match in
            var sighting = sighting(match, redaction)
            if let host = match.about { sighting = sighting.about(host, parties, redaction) }
            if sighting.isLocal, [.clearHTTP, .unsafeProtocol].contains(match.rule) { return nil }
            let finding = policy.taken(Finding(match, at: sighting, redaction))
            store.add(finding)
            guard let firstParties else { return finding.isForThirdParties ? nil : finding }
            return firstParties.weighed(finding)
        }
    }

    /// What no name of this exchange's findings may show.
    private static func secrets(of matches: some Sequence<RuleMatch>) -> [[UInt8]] {
        var secrets = Set<[UInt8]>()
        for match in matches {
            if let value = match.value { secrets.insert(value) }
            if let user = match.user { secrets.insert(user) }
        }
        return Array(secrets)
    }

    /// How many findings one exchange or connection may add to; more are dropped.
    private static let matchLimit = 128
}

extension RuleMatch {
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
