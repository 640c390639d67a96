/// Something that a confinement could not do on this system.
package enum ConfinementLimit: Sendable, Equatable {
    /// There is no packet filter: TCP to other ports than these is not captured, but refused.
    case onlyPorts([UInt16])
    /// Other datagrams are refused, but not listed; with the reason.
    case attemptsNotListed(String)
    /// A file could not be laid over the system's, so that programs that read it refuse the CA.
    case filesNotLaid(String)

    /// Stable, such as `only-ports`.
    package var code: String {
        switch self {
        case .onlyPorts: "only-ports"
        case .attemptsNotListed: "attempts-not-listed"
        case .filesNotLaid: "files-not-laid"
        }
    }

    /// What it means, for a person.
    package var text: String {
        switch self {
        case .onlyPorts(let ports):
            "the kernel has no packet filter for us: only these TCP ports were captured, all others"
                + " refused: \(ports.map(String.init).joined(separator: ", "))"
        case .attemptsNotListed(let reason): "datagrams were refused but not listed: \(reason)"
        case .filesNotLaid(let reason):
            "a file of the system could not be replaced for the command: \(reason)"
        }
    }

    /// The form in which it goes to the tool.
    var line: String {
        switch self {
        case .onlyPorts: code
        case .attemptsNotListed(let reason), .filesNotLaid(let reason): "\(code) \(reason)"
        }
    }

    init?(line: some StringProtocol) {
        let parts = line.split(separator: " ", maxSplits: 1)
        let reason = parts.count > 1 ? String(parts[1]) : ""
        switch parts.first {
        case "only-ports": self = .onlyPorts(Self.ports)
        case "attempts-not-listed": self = .attemptsNotListed(reason)
        case "files-not-laid": self = .filesNotLaid(reason)
        default: return nil
        }
    }

    /// What is listened to where there is no packet filter: the web, mail, files, directories,
    /// databases, queues.
    static let ports: [UInt16] = [
        80, 443, 8080, 8443, 8000, 3000, 5000, 9000, 21, 22, 25, 110, 143, 389, 465, 587, 636, 993,
        995, 1433, 1883, 3306, 5222, 5432, 5671, 5672, 6379, 8883, 9092, 9200, 27017,
    ]
}
