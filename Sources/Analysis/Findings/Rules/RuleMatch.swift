internal import Base
internal import Contents
internal import Logins

/// What a rule saw, still with the raw bytes; it lives no longer than its exchange is examined.
struct RuleMatch {
    /// Who is at the other end.
    enum Peer { case origin, proxy }
    /// How exactly the place is told.
    enum Place { case path, service }

    let rule: RuleID
    var severity: Severity
    var confidence: Confidence
    var peer = Peer.origin
    var place = Place.path
    var container: Container?
    var name: [UInt8] = []
    var pointer: [[UInt8]] = []
    var steps: [DecodeStep] = []
    /// The secret, `nil` if the rule is about none.
    var value: [UInt8]?
    var isPassword = false
    /// The name that goes with a password.
    var user: [UInt8]?
    /// The key of the profile and the form that was found.
    var planted: (key: String, encoding: PlantedEncoding)?
    /// What the dialogue turned out to speak, if it is no HTTP.
    var protocolName: ProtocolName?
    /// Whom it is about, if that is not who was spoken to.
    var about: HostName?
    /// The host that a form, a redirect or a page leads to.
    var leadsTo: HostName?
    /// How severe it is at a service that is no first party, `nil` if that makes no difference.
    var thirdPartySeverity: Severity?
    /// Whether it is no finding at a first party.
    var isForThirdParties = false
    var notes: [FindingNote] = []

    init(_ rule: RuleID, _ severity: Severity, _ confidence: Confidence) {
        self.rule = rule
        self.severity = severity
        self.confidence = confidence
    }

    init(_ rule: RuleID, _ severity: Severity, _ confidence: Confidence, field: MessageField) {
        self.init(rule, severity, confidence)
        container = field.container
        name = field.name
        pointer = field.pointer
        steps = field.steps
    }

    init(
        _ rule: RuleID, _ severity: Severity, _ confidence: Confidence, header name: [UInt8],
        value: [UInt8]
    ) {
        self.init(rule, severity, confidence)
        container = .header
        self.name = name
        self.value = value
    }

    /// Makes it harmless if the value is a key that its provider means to be seen.
    mutating func lowerIfPublishable(_ value: [UInt8]) {
        if PublishedPrefix(of: value)?.isPublishable == true { makePublic() }
    }

    mutating func makePublic() {
        severity = .info
        notes.append(.publishable)
    }
}
