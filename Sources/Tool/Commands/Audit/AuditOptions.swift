internal import Base
internal import Catalogue
internal import Origins
internal import Proxy

/// The options of `sallyport audit`.
struct AuditOptions {
    var proxy = ProxyOptions()
    var profile = AuditProfile.standard
    var trust = AuditTrust.env
    /// Some probes alone, by their identifiers; all of the profile if empty.
    var probes: [String] = []
    var catalogue: String?
    var jobs: Int64 = 1
    var host: String?
    var port: Int64?
    var timeout = Duration.seconds(30)
    var targets: [HostPattern] = []
    /// The true origin, whose chain is presented by probes that need one.
    var origin: HostPort?
    var clientName: String?
    var sources: [ClientSource] = []
    var isNeverConfined = false
    var lists = false
    var listens = false
    var served: PortRange?
    var isJSON = false
    var sarif: String?
    var junit: String?
    var failsOnWarnings = false
    var command: [String] = []
}

/// How the command of an audit is told to trust the audit's CA.
enum AuditTrust: String, CaseIterable {
    /// By variables, and by the system's files where the command is confined.
    case env
    /// By the system's files alone.
    case overlay
    case none
}

/// Where a client is written, for reports that point at files.
struct ClientSource {
    let client: String
    let place: String
}

/// Ports that stand for probes, one each.
struct PortRange {
    let first: UInt16
    let last: UInt16
}
