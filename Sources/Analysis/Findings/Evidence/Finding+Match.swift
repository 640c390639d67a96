internal import Base

extension Finding {
    /// - Parameter redaction: knows the secrets of what the match was seen in.
    init(_ match: RuleMatch, at sighting: Sighting, _ redaction: EvidenceRedaction) {
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
        var late = LateMatch(
            match.rule, match.severity, match.confidence,
            at: match.place == .service ? sighting.ofService : sighting)
        late.selector = match.container.map {
            Selector(
                container: $0, name: match.name, pointer: match.pointer, redaction: redaction)
        }
        late.value = match.value.map {
            RedactedValue($0, isPassword: match.isPassword, redaction: redaction)
        }
        late.thirdPartySeverity = match.thirdPartySeverity
        late.isForThirdParties = match.isForThirdParties
        late.notes = notes
        self.init(late)
        decodeChain = match.steps
    }

    init(_ match: LateMatch) {
        let seen = match.sighting
        self.init(
            rule: match.rule, severity: seen.isLocal ? .info : match.severity,
            confidence: match.confidence, party: seen.party, scheme: seen.place.scheme,
            method: seen.method, urlTemplate: seen.place, selector: match.selector, decodeChain: [],
            value: match.value, notes: match.notes, exchanges: seen.exchange.map { [$0] } ?? [],
            connections: seen.connection.map { [$0] } ?? [], occurrences: 1,
            firstSeen: seen.time, lastSeen: seen.time)
        thirdPartySeverity = match.thirdPartySeverity
        isForThirdParties = match.isForThirdParties
        isLocal = seen.isLocal
        if isLocal, match.severity > .info { notes.append(.staysLocal(match.severity)) }
    }
}
