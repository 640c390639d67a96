internal import Base
package import Traffic

/// Judges records one after the other and keeps what it found, consolidated.
///
/// Memory is bounded however many records there are: see `FindingStore` and `CookieDetector`.
package struct FindingsEngine {
    private let configuration: FindingsConfiguration
    private let redaction: Redaction
    private let planted: PlantedValueDetector?
    private var cookies = CookieDetector()
    private var store = FindingStore()
    private var coverage = FindingsCoverage()

    package init(_ configuration: FindingsConfiguration) {
        self.configuration = configuration
        let profile = configuration.profile
        let automaton = profile.flatMap { PlantedAutomaton($0, digests: configuration.digests) }
        redaction = Redaction(
            digests: configuration.digests, runKey: configuration.runKey, planted: automaton)
        if let profile, let automaton {
            planted = PlantedValueDetector(profile: profile, automaton: automaton)
        } else {
            planted = nil
        }
    }

    /// Judges a connection; to be called once for each, with its last state.
    package mutating func observe(_ connection: ConnectionRecord) {
        coverage.count(connection)
        let host = HostName(
            connection.originHost.isEmpty ? connection.clientTLS?.sni ?? "" : connection.originHost)
        for suspicion in ConnectionDetector.examine(connection) {
            add(
                suspicion,
                seen: Sighting(
                    scheme: .https, method: nil, host: host, path: nil, exchange: nil,
                    connection: connection.id, time: connection.openedAt),
                redaction)
        }
    }

    /// Judges an exchange; to be called once for each, by rising id.
    ///
    /// - Parameters:
    ///   - connection: the one that it came on, `nil` if it is not known.
    ///   - requestBody: the content as it came, capped by the caller.
    ///   - responseBody: the same of the response.
    package mutating func observe(
        _ exchange: ExchangeRecord, on connection: ConnectionRecord?, requestBody: [UInt8],
        responseBody: [UInt8]
    ) {
        let view = ExchangeView(
            exchange, on: connection, requestBody: requestBody, responseBody: responseBody,
            decode: configuration.decode)
        coverage.count(view)
        let suspicions = examine(view).prefix(Self.suspicionLimit)
        guard !suspicions.isEmpty else { return }
        var redaction = redaction
        redaction.secrets = Self.secrets(of: Array(suspicions))
        for suspicion in suspicions {
            add(suspicion, seen: sighting(of: suspicion, in: view), redaction)
        }
    }

    /// What was found so far.
    package mutating func report() -> FindingsReport {
        let findings = store.findings(digests: configuration.digests)
        return FindingsReport(
            findings: findings, coverage: coverage,
            inconclusive: coverage.inconclusive(isTruncated: store.isTruncated))
    }

    private mutating func examine(_ view: ExchangeView) -> [Suspicion] {
        var found = planted?.examine(view) ?? []
        found += AuthorizationDetector.examine(view)
        found += APIKeyDetector.examine(view)
        found += PasswordFieldDetector.examine(view)
        found += URLDetector.examine(view)
        found += cookies.examine(view, redaction: redaction)
        found += LoginPageDetector.examine(view)
        // The inventory goes first, so that no number of others crowds it out.
        return ClearHTTPDetector.examine(view) + found
    }

    private func sighting(of suspicion: Suspicion, in view: ExchangeView) -> Sighting {
        var host = view.host
        if suspicion.peer == .proxy, let connection = view.connection, connection.mode == .explicit
        {
            host = HostName(connection.listener)
        }
        return Sighting(
            scheme: view.exchange.scheme,
            method: suspicion.place == .service ? nil : MethodName(view.request.method),
            host: host, path: suspicion.peer == .proxy ? [] : view.target.path,
            exchange: view.exchange.id, connection: view.exchange.connection,
            time: view.exchange.startedAt)
    }

    private mutating func add(
        _ suspicion: Suspicion, seen: Sighting, _ redaction: Redaction
    ) {
        let isLocal = seen.host.isLoopback && !configuration.treatsLoopbackAsRemote
        if isLocal, suspicion.rule == .clearHTTP { return }
        var notes = suspicion.notes
        if let user = suspicion.user, !user.isEmpty {
            notes.append(.user(Tag(user, kind: ValueKind(user), redaction: redaction)))
        }
        if let planted = suspicion.planted {
            let name = SafeName(Array(planted.key.utf8), redaction: redaction)
            notes.insert(.planted(name, planted.encoding), at: 0)
        }
        if let host = suspicion.actionHost {
            notes.append(.formAction(ServiceName(host: host.bytes, redaction: redaction)))
        }
        let finding = Finding(
            rule: suspicion.rule, severity: isLocal ? .info : suspicion.severity,
            confidence: suspicion.confidence, party: service(of: seen.host, redaction),
            scheme: seen.scheme, method: seen.method,
            urlTemplate: URLTemplate(
                scheme: seen.scheme, host: seen.host.bytes,
                path: suspicion.place == .service ? nil : seen.path, redaction: redaction),
            selector: suspicion.container.map {
                Selector(
                    container: $0, name: suspicion.name, pointer: suspicion.pointer,
                    redaction: redaction)
            },
            decodeChain: suspicion.steps,
            value: suspicion.value.map {
                RedactedValue($0, isPassword: suspicion.isPassword, redaction: redaction)
            },
            notes: notes, exchanges: seen.exchange.map { [$0] } ?? [],
            connections: [seen.connection], occurrences: 1, firstSeen: seen.time,
            lastSeen: seen.time)
        store.add(finding)
    }

    private func service(of host: HostName, _ redaction: Redaction) -> ServiceName {
        let domain = host.isAddress ? nil : configuration.registrableDomain(host.text)
        return ServiceName(
            host: domain.map { HostName($0).bytes } ?? host.bytes, redaction: redaction)
    }

    /// What no name of this exchange's findings may show.
    private static func secrets(of suspicions: [Suspicion]) -> [[UInt8]] {
        var secrets = Set<[UInt8]>()
        for suspicion in suspicions {
            if let value = suspicion.value { secrets.insert(value) }
            if let user = suspicion.user { secrets.insert(user) }
        }
        return Array(secrets)
    }

    /// How many findings one exchange may add to; more are dropped.
    private static let suspicionLimit = 128
}

/// Where and when a suspicion arose.
private struct Sighting {
    let scheme: ExchangeRecord.Scheme
    let method: MethodName?
    let host: HostName
    let path: [UInt8]?
    let exchange: Int64?
    let connection: Int64
    let time: Timestamp
}
