internal import Base
internal import Contents
package import Traffic

/// Judges records one after the other and keeps what it found, consolidated.
///
/// Memory is bounded however many records there are: see `FindingStore` and `CookieDetector`.
package struct FindingsEngine {
    private let configuration: FindingsConfiguration
    private let redaction: EvidenceRedaction
    private let planted: PlantedValueDetector?
    private var cookies = CookieDetector()
    private var retries = RetryDetector()
    private var crossOrigin = CrossOriginDetector()
    private var store = FindingStore()
    private var coverage = FindingsCoverage()

    package init(_ configuration: FindingsConfiguration) {
        self.configuration = configuration
        let profile = configuration.profile
        let automaton = profile.flatMap { PlantedAutomaton($0, digests: configuration.digests) }
        redaction = EvidenceRedaction(
            digests: configuration.digests, runKey: configuration.runKey, planted: automaton)
        if let profile, let automaton {
            planted = PlantedValueDetector(profile: profile, automaton: automaton)
        } else {
            planted = nil
        }
    }

    /// Whether the messages of a connection can show anything: inside of TLS only to who looks for
    /// planted values, unless it may be TLS to the proxy, which says nothing of what is inside.
    package func wantsMessages(of connection: ConnectionRecord) -> Bool {
        guard connection.messageCount > 0 else { return false }
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
        if let messages { coverage.count(messages) }
        let view = messages?.conversation(of: nil).map { MessageView($0, on: connection) }
        let logins = view.map(PlainLoginDetector.examine) ?? []
        let isLocal = isLocal(connection.host, isImported: connection.isImported)
        coverage.countUnread(connection, isUnread: logins.isEmpty && !isLocal)
        let spoken = ProtocolName(rawValue: connection.protocolName)
        var found = ConnectionDetector.examine(connection) + ClientOfferDetector.examine(connection)
        found += retries.examine(connection)
        for index in found.indices { found[index].protocolName = spoken }
        found += logins
        found += PlainLoginDetector.examine(connection, isRead: !logins.isEmpty)
        found += UpgradeDetector.examine(connection, client: view?.client ?? [])
        var sought = view.flatMap { planted?.examine($0) } ?? []
        let inner = found.lazy.compactMap(\.protocolName).first ?? spoken ?? .other
        for index in sought.indices { sought[index].protocolName = inner }
        return add(found + sought) { match in
            Sighting(match, on: connection, isClear: view?.isClear)
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
            exchange, on: connection, requestBody: [], responseBody: [])
        let view = MessageView(conversation, of: exchange)
        var found = planted?.examine(view) ?? []
        found += PlainLoginDetector.examine(view)
        if view.isClear {
            for message in view.messages where message.direction == .request {
                guard found.count < Self.matchLimit else { break }
                let fields = message.fields
                found += PasswordFieldDetector.examine(fields, verdict: [])
                found += MessageTokenDetector.examine(fields)
            }
        }
        for index in found.indices {
            if let name = found[index].protocolName { found[index].notes.append(.speaks(name)) }
        }
        return add(found) { Self.sighting(of: $0, in: exchange) }
    }

    /// Judges an exchange; to be called once for each, by rising id.
    ///
    /// - Parameters:
    ///   - connection: the one that it came on, `nil` if it is not known.
    ///   - requestBody: the content as it came, capped by the caller.
    ///   - responseBody: the same of the response.
    /// - Returns: what was found of it, not consolidated.
    @discardableResult
    package mutating func observe(
        _ exchange: ExchangeRecord, on connection: ConnectionRecord?, requestBody: [UInt8],
        responseBody: [UInt8]
    ) -> [Finding] {
        // Nothing is known of it that could be judged, not even whether it was encrypted.
        guard !exchange.isHeadMissing else {
            coverage.countMissingHead()
            return []
        }
        let view = ExchangeView(
            exchange, on: connection, requestBody: requestBody, responseBody: responseBody)
        coverage.count(view)
        return add(examine(view)) { Self.sighting(of: $0, in: view) }
    }

    /// What was found so far.
    ///
    /// - Parameter leavesOut: whether there were records that were not to be judged.
    package mutating func report(leavesOut: Bool = false) -> FindingsReport {
        let findings = store.findings(digests: configuration.digests)
        return FindingsReport(
            findings: findings, coverage: coverage,
            inconclusive: coverage.inconclusive(
                isTruncated: store.isTruncated, leavesOut: leavesOut))
    }

    private mutating func examine(_ view: ExchangeView) -> [RuleMatch] {
        var found = planted?.examine(view) ?? []
        found += AuthorizationDetector.examine(view)
        found += APIKeyDetector.examine(view)
        found += PasswordFieldDetector.examine(view)
        found += URLDetector.examine(view)
        found += cookies.examine(view, redaction: redaction)
        found += LoginPageDetector.examine(view)
        found += CookieAttributesDetector.examine(view)
        found += DowngradeDetector.examine(view)
        found += crossOrigin.examine(view) { [configuration] in configuration.service(of: $0) }
        found += CacheDetector.examine(view)
        // The inventory goes first, so that no number of others crowds it out.
        return ClearHTTPDetector.examine(view) + found
    }

    private static func sighting(of match: RuleMatch, in view: ExchangeView) -> Sighting {
        var (host, port) = (view.host, view.port)
        if match.peer == .proxy, let connection = view.connection, connection.mode == .explicit {
            host = HostName(connection.listener)
            port = connection.listenerPort
        }
        return Sighting(
            scheme: view.exchange.scheme,
            method: match.place == .service ? nil : MethodName(view.method),
            host: host, port: port, path: match.peer == .proxy ? [] : Array(view.target.path),
            exchange: view.exchange.id, connection: view.exchange.connection,
            time: view.exchange.startedAt, isImported: view.connection?.isImported ?? false)
    }

    /// Adds what one exchange or connection showed, and keeps its secrets out of every name.
    private mutating func add(
        _ matches: [RuleMatch], seen sighting: (RuleMatch) -> Sighting
    ) -> [Finding] {
        guard !matches.isEmpty else { return [] }
        let matches = matches.prefix(Self.matchLimit)
        var redaction = redaction
        redaction.secrets = Self.secrets(of: matches)
        return matches.compactMap { add($0, seen: sighting($0), redaction) }
    }

    private mutating func add(
        _ match: RuleMatch, seen: Sighting, _ redaction: EvidenceRedaction
    ) -> Finding? {
        let isLocal = isLocal(seen.host, isImported: seen.isImported)
        if isLocal, match.rule == .clearHTTP { return nil }
        var notes = match.notes
        if let user = match.user, !user.isEmpty {
            notes.append(.user(Tag(user, kind: ValueKind(user), redaction: redaction)))
        }
        if let planted = match.planted {
            let name = SafeName(Array(planted.key.utf8), redaction: redaction)
            notes.insert(.planted(name, planted.encoding), at: 0)
        }
        if let host = match.leadsTo {
            notes.append(.leadsTo(ServiceName(host: host.bytes, redaction: redaction)))
        }
        if isLocal, match.severity > .info { notes.append(.staysLocal(match.severity)) }
        let finding = Finding(
            rule: match.rule, severity: isLocal ? .info : match.severity,
            confidence: match.confidence, party: service(of: seen.host, redaction),
            scheme: seen.scheme, method: seen.method,
            urlTemplate: place(of: match, seen, redaction),
            selector: match.container.map {
                Selector(
                    container: $0, name: match.name, pointer: match.pointer,
                    redaction: redaction)
            },
            decodeChain: match.steps,
            value: match.value.map {
                RedactedValue($0, isPassword: match.isPassword, redaction: redaction)
            },
            notes: notes, exchanges: seen.exchange.map { [$0] } ?? [],
            connections: [seen.connection], occurrences: 1, firstSeen: seen.time,
            lastSeen: seen.time)
        store.add(finding)
        return finding
    }

    private func place(
        of match: RuleMatch, _ seen: Sighting, _ redaction: EvidenceRedaction
    ) -> URLTemplate {
        if let dialogue = seen.dialogue {
            return URLTemplate(dialogue: dialogue, host: seen.host.bytes, redaction: redaction)
        }
        return URLTemplate(
            scheme: seen.scheme, host: seen.host.bytes, port: seen.port,
            path: match.place == .service ? nil : seen.path, redaction: redaction)
    }

    /// Whether nobody on a network could see it; another machine's loopback is not this one's.
    private func isLocal(_ host: HostName, isImported: Bool) -> Bool {
        host.isLoopback && !isImported && !configuration.treatsLoopbackAsRemote
    }

    private func service(of host: HostName, _ redaction: EvidenceRedaction) -> ServiceName {
        ServiceName(host: HostName(configuration.service(of: host)).bytes, redaction: redaction)
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

/// Where and when a match arose.
private struct Sighting {
    let scheme: ExchangeRecord.Scheme
    let method: MethodName?
    let host: HostName
    /// 0 if it is not known.
    let port: UInt16
    let path: [UInt8]?
    let exchange: Int64?
    let connection: Int64
    let time: Timestamp
    let isImported: Bool
    /// The protocol and the port where it is no HTTP.
    var dialogue: DialoguePlace?
}

extension Sighting {
    /// - Parameter isClear: whether what was said was not encrypted, `nil` if it is not known.
    fileprivate init(
        _ match: RuleMatch, on connection: ConnectionRecord, isClear: Bool?
    ) {
        let isProxy = match.peer == .proxy
        let isSecured: Bool
        switch match.rule {
        case .plainLogin, .hashLogin, .upgradeUnused, .upgradeInjection: isSecured = false
        case .plantSecret: isSecured = !(isClear ?? false)
        default: isSecured = true
        }
        self.init(
            scheme: isSecured ? .https : .http, method: nil,
            host: isProxy ? HostName(connection.listener) : connection.host,
            port: isProxy ? connection.listenerPort : connection.originPort, path: nil,
            exchange: nil, connection: connection.id, time: connection.openedAt,
            isImported: connection.isImported)
        if let name = match.protocolName {
            dialogue = DialoguePlace(protocolName: name, port: port, isSecured: isSecured)
        }
    }
}

extension ConnectionRecord {
    /// Whether another tool recorded it.
    var isImported: Bool {
        notes.contains { $0.code == "imported" || $0.code == "imported-packets" }
    }

    /// The port behind the listener's last colon, 0 if there is none.
    fileprivate var listenerPort: UInt16 {
        listener.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
    }
}
