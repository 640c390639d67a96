internal import Base
internal import Traffic

/// Which service a host belongs to, and which services are the subject's own.
struct Parties {
    let configuration: FindingsConfiguration
    private let redaction: EvidenceRedaction
    private let declared: Set<ServiceName>
    private var services: [HostName: Known] = [:]
    private var counts: [ServiceName: Count] = [:]

    private struct Known {
        let service: ServiceName
        let tracker: TrackerHosts.Entry?
    }

    private struct Count {
        var exchanges = 0
        var withCredentials = 0
    }

    init(_ configuration: FindingsConfiguration, redaction: EvidenceRedaction) {
        self.configuration = configuration
        self.redaction = redaction
        declared = Set(
            configuration.firstParties.prefix(Self.limit).map {
                Self.service(of: HostName($0), configuration, redaction)
            })
    }

    /// The service of a host, by its registrable domain.
    mutating func service(of host: HostName) -> ServiceName { known(host).service }

    /// Where the host stands in a list of trackers.
    mutating func tracker(_ host: HostName) -> TrackerHosts.Entry? { known(host).tracker }

    private mutating func known(_ host: HostName) -> Known {
        if let known = services[host] { return known }
        let known = Known(
            service: Self.service(of: host, configuration, redaction),
            tracker: configuration.trackers.entry(for: host))
        if services.count >= Self.limit { services = [:] }
        services[host] = known
        return known
    }

    /// The service as one exchange's findings may name it.
    func service(of host: HostName, hiding redaction: EvidenceRedaction) -> ServiceName {
        Self.service(of: host, configuration, redaction)
    }

    /// Whether nobody on a network could see it; another machine's loopback is not this one's.
    func isLocal(_ host: HostName, isImported: Bool) -> Bool {
        host.isLoopback && !isImported && !configuration.treatsLoopbackAsRemote
    }

    /// Whether both are declared as the subject's own, so that they share what is the subject's.
    func areOneParty(_ one: ServiceName, _ other: ServiceName) -> Bool {
        one == other || declared.contains(one) && declared.contains(other)
    }

    /// Counts an exchange, for the guess at who the first party is.
    mutating func count(_ service: ServiceName, hasCredentials: Bool) {
        guard declared.isEmpty, counts[service] != nil || counts.count < Self.limit else { return }
        counts[service, default: Count()].exchanges += 1
        if hasCredentials { counts[service]?.withCredentials += 1 }
    }

    /// The subject's own services: those declared, else the one that saw most exchanges with
    /// credentials, else most exchanges.
    var firstParties: FirstParties {
        guard declared.isEmpty else { return FirstParties(services: declared, isGuessed: false) }
        let most = counts.max { left, right in
            let (one, other) = (left.value, right.value)
            return (one.withCredentials, one.exchanges, right.key.text)
                < (other.withCredentials, other.exchanges, left.key.text)
        }
        return FirstParties(services: Set(most.map { [$0.key] } ?? []), isGuessed: true)
    }

    private static func service(
        of host: HostName, _ configuration: FindingsConfiguration, _ redaction: EvidenceRedaction
    ) -> ServiceName {
        let domain = host.isAddress ? nil : configuration.registrableDomain(host.text)
        return ServiceName(
            host: domain.map { HostName($0).bytes } ?? host.bytes, redaction: redaction)
    }

    /// How many hosts and services are told apart.
    private static let limit = 4096
}

/// The services that are the subject's own.
package struct FirstParties: Sendable {
    package let services: Set<ServiceName>
    /// Whether nobody declared them.
    package let isGuessed: Bool

    package var names: [String] { services.map(\.text).sorted() }

    /// The finding as severe as it is at its party, `nil` if it is none there.
    func weighed(_ finding: Finding) -> Finding? {
        guard let severity = finding.thirdPartySeverity, !services.isEmpty else { return finding }
        guard !services.contains(finding.party), !finding.isLocal else {
            return finding.isForThirdParties ? nil : finding
        }
        var result = finding
        // A guess alone never makes what a gate acts on.
        let most = isGuessed ? max(finding.severity, .medium) : .critical
        result.severity = min(max(severity, finding.severity), most)
        result.note(isGuessed ? .probablyThirdParty : .thirdParty)
        return result
    }
}
