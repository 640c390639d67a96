internal import Traffic

/// The detectors that remember what they saw, a field each. Each of them is bounded, and keeps tags
/// and places but no values.
struct RememberingDetectors {
    private var cookies = CookieDetector()
    private var retries = RetryDetector()
    private var crossOrigin = CrossOriginDetector()
    private var credentials = SharedCredentialDetector()
    private var identifiers = PersistentIdentifierDetector()
    private var cachedIdentifiers = CachedIdentifierDetector()
    private var fingerprints = FingerprintDetector()
    private var declarations = PrivacyDeclarationDetector()
    private var redirects = RedirectDetector()
    private var transportSecurity = TransportSecurityDetector()
    private var pinning = PinningDetector()
    private var httpFirst = HTTPFirstDetector()
    private var compression = CompressionDetector()
    private var duplicates = DuplicateDetector()
    private var polling = PollingDetector()
    private var resuming = ResumeDetector()
    private var keystreams = KeystreamDetector()
    private var budget = BudgetDetector()
    private var clearNames = ClearNamesDetector()

    /// - Returns: what the exchange shows together with those before it.
    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) -> [RuleMatch] {
        var found = cookies.examine(view, redaction: evidence.redaction)
        found += crossOrigin.examine(view) { evidence.service(of: $0).text }
        found += redirects.examine(view, evidence)
        credentials.examine(view, evidence)
        identifiers.examine(view, evidence)
        fingerprints.examine(view, evidence)
        declarations.examine(view, evidence)
        transportSecurity.examine(view, evidence)
        httpFirst.examine(view, evidence)
        compression.examine(view, evidence)
        duplicates.examine(view, evidence)
        polling.examine(view, evidence)
        found += resuming.examine(view, evidence)
        found += cachedIdentifiers.examine(view, evidence)
        if !view.isTunnel { budget.examine(view) }
        return found
    }

    mutating func examine(
        _ connection: ConnectionRecord, _ view: MessageView?, _ redaction: EvidenceRedaction,
        sighting: () -> Sighting
    ) -> [RuleMatch] {
        pinning.examine(connection, sighting: sighting)
        clearNames.examine(connection, view, redaction)
        return retries.examine(connection)
    }

    /// - Returns: what a stream in no known protocol shows together with those before it.
    mutating func examine(
        _ view: MessageView, on connection: ConnectionRecord, _ redaction: EvidenceRedaction
    ) -> [RuleMatch] {
        keystreams.examine(view, on: connection, redaction)
    }

    /// How many values are no longer compared with what comes, because too many came.
    var forgottenCount: Int {
        cookies.forgottenCount + credentials.forgottenCount + identifiers.forgottenCount
    }

    /// What the run shows as a whole; it may be asked for before its end, and again.
    func finish(_ parties: Parties) -> [LateMatch] {
        credentials.finish(parties) + identifiers.finish(parties)
            + fingerprints.finish(population: parties.configuration.population)
            + declarations.finish(parties.configuration.manifest)
            + transportSecurity.finish() + pinning.finish()
            + httpFirst.finish() + compression.finish() + duplicates.finish() + polling.finish()
            + clearNames.finish() + budget.finish(parties.configuration.policy.budget)
    }
}

/// What a detector that remembers is given with an exchange.
final class RunEvidence {
    let view: ExchangeView
    /// Knows the secrets of the exchange.
    let redaction: EvidenceRedaction
    let parties: Parties

    /// Where the exchange took place; costs some, so ask for it when it is to be kept.
    private(set) lazy var sighting = Sighting(in: view, parties, redaction)

    init(view: ExchangeView, redaction: EvidenceRedaction, parties: Parties) {
        self.view = view
        self.redaction = redaction
        self.parties = parties
    }

    var manifest: PrivacyManifest? { parties.configuration.manifest }

    func service(of host: HostName) -> ServiceName { parties.service(of: host, hiding: redaction) }

    func selector(of field: MessageField) -> Selector {
        Selector(
            container: field.container, name: field.name, pointer: field.pointer,
            redaction: redaction)
    }
}
