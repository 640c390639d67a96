internal import Base

/// One more fact of a finding about a person's or a device's data.
package enum PrivacyNote: Sendable, Hashable {
    case undeclared(DataType)
    case declaredUnseen(DataType)
    case undeclaredTracker
    case listedHere
    case listedByUser
    case identifierSent
    case nameAsked
    case livesDays(Int)
    case fingerprint(FingerprintRange)
    case attribute(FingerprintAttribute)
    case tells(PersonalKind)
    case trackingIsLimited

    var text: String {
        switch self {
        case .tells(let kind): kind.rawValue
        case .trackingIsLimited: "the same request says that the user limits tracking"
        case .undeclared(let type): "\(type.rawValue) is not declared"
        case .declaredUnseen(let type): "\(type.rawValue) is declared, and was not seen"
        case .undeclaredTracker: "the tracker is not declared"
        case .listedHere: "on the list of well-known trackers"
        case .listedByUser: "on a list that was given"
        case .identifierSent: "it got an identifier"
        case .nameAsked: "a name server was asked for its name"
        case .livesDays(let days): "lives for \(Quantity.text(days, "day"))"
        case .fingerprint(let range): range.text
        case .attribute(let attribute): attribute.rawValue
        }
    }
}
