package import Base
internal import Logins
package import Traffic

/// The evidence of one finding: all that a report can see.
///
/// It cannot hold a secret: each part is a number, a case of a closed list, or text that one of
/// `SafeName`, `ServiceName`, `URLTemplate`, `Selector` and `RedactedValue` made of raw bytes.
package struct Finding: Sendable {
    package let rule: RuleID
    package internal(set) var severity: Severity
    package internal(set) var confidence: Confidence
    /// The service at the other end.
    package internal(set) var party: ServiceName
    package let scheme: ExchangeRecord.Scheme
    /// `nil` for a finding about a connection; `other` when several methods were seen.
    package internal(set) var method: MethodName?
    package internal(set) var urlTemplate: URLTemplate
    package internal(set) var selector: Selector?
    package internal(set) var decodeChain: [DecodeStep]
    package internal(set) var value: RedactedValue?
    package internal(set) var notes: [FindingNote]
    /// What was worse in some sightings and less sure, for gates that ask for it.
    private(set) var alsoSeen: [Confidence: Severity] = [:]
    /// How severe it is at a service that is no first party, `nil` if that makes no difference.
    var thirdPartySeverity: Severity?
    /// Whether it is no finding at a first party.
    var isForThirdParties = false
    /// Whether nobody on a network could see it.
    var isLocal = false
    /// The first exchanges that it was seen in.
    package internal(set) var exchanges: [Int64]
    /// The first connections that it was seen on.
    package internal(set) var connections: [Int64]
    package internal(set) var occurrences: Int
    package internal(set) var firstSeen: Timestamp
    package internal(set) var lastSeen: Timestamp
    /// Whether it stands for more places than were kept apart.
    package internal(set) var isRolledUp = false
    /// Equal for the same finding of another run; 32 hexadecimal digits. Set in a report.
    package internal(set) var fingerprint = ""
    /// How a policy and a baseline take it.
    package internal(set) var state = FindingState.open

    /// Such as `POST http://api.example/login, form password`.
    package var place: String {
        let target = [method?.rawValue, urlTemplate.text].compactMap { $0 }.joined(separator: " ")
        return selector.map { "\(target), \($0.text)" } ?? target
    }

    /// Such as `40 times, exchanges 1, 2, 3, …`.
    var seenText: String {
        let times = occurrences == 1 ? "once" : "\(occurrences) times"
        let ids = exchanges.isEmpty ? connections : exchanges
        guard !ids.isEmpty else { return times }
        let what = exchanges.isEmpty ? "connection" : "exchange"
        let more = occurrences > ids.count ? ", …" : ""
        let list = ids.map(String.init).joined(separator: ", ")
        return "\(times), \(what)\(ids.count == 1 ? "" : "s") \(list)\(more)"
    }

    /// The service, with the port where that tells it from others of its host.
    package var service: String {
        let port = urlTemplate.dialogue.map(\.port) ?? urlTemplate.port
        return port.map { HostPort(host: party.text, port: $0).description } ?? party.text
    }

    /// Whether it would be judged otherwise if the service were a first party, or none.
    var dependsOnParty: Bool { thirdPartySeverity != nil }

    /// How many exchanges and connections are named as examples.
    static let exampleLimit = 3
    static let noteLimit = 16

    /// Adds a later sighting of the same finding.
    mutating func merge(_ other: Finding) {
        let passed = other.outranks(self) ? self : other
        if other.outranks(self) {
            severity = other.severity
            confidence = other.confidence
            value = other.value
            decodeChain = other.decodeChain
        }
        for (sure, bad) in [(passed.confidence, passed.severity)] + Array(other.alsoSeen)
        where bad > max(severity, alsoSeen[sure] ?? .info) {
            alsoSeen[sure] = bad
            note(.alsoSeen(bad, sure))
        }
        for note in other.notes { self.note(note) }
        thirdPartySeverity = [thirdPartySeverity, other.thirdPartySeverity].compactMap { $0 }.max()
        isForThirdParties = isForThirdParties && other.isForThirdParties
        exchanges = Self.examples(exchanges, other.exchanges)
        connections = Self.examples(connections, other.connections)
        occurrences += other.occurrences
        firstSeen = min(firstSeen, other.firstSeen)
        lastSeen = max(lastSeen, other.lastSeen)
        if method != other.method { method = .several }
        if selector != other.selector { selector = nil }
        if urlTemplate.port != other.urlTemplate.port { urlTemplate.port = nil }
        merge(other.urlTemplate.dialogue)
    }

    mutating func note(_ note: FindingNote) {
        if notes.count < Self.noteLimit, !notes.contains(note) { notes.append(note) }
    }

    /// The ports are not told apart, so that a service on a free port stays one.
    private mutating func merge(_ other: DialoguePlace?) {
        guard let mine = urlTemplate.dialogue, mine != other else { return }
        if mine.protocolName != other?.protocolName {
            urlTemplate.dialogue = DialoguePlace(
                protocolName: .other, port: nil, isSecured: mine.isSecured)
        } else {
            urlTemplate.dialogue?.port = nil
        }
    }

    /// What a gate would act on first: a tentative sighting never hides a firm one.
    private func outranks(_ other: Finding) -> Bool {
        let mine = confidence >= .firm
        let theirs = other.confidence >= .firm
        if mine != theirs { return mine }
        if severity != other.severity { return severity > other.severity }
        return confidence > other.confidence
    }

    private static func examples(_ some: [Int64], _ more: [Int64]) -> [Int64] {
        if some.count >= exampleLimit { return some }
        return Array((some + more.filter { !some.contains($0) }).prefix(exampleLimit))
    }
}

/// A method from a closed list; the raw values are a contract.
package enum MethodName: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
    case trace = "TRACE"
    case connect = "CONNECT"
    /// Every other token.
    case other = "{method}"
    /// More than one of them.
    case several = "*"

    init(_ token: [UInt8]) {
        let known = MethodName.allCases.first { Array($0.rawValue.utf8) == token }
        self = known ?? .other
    }
}
