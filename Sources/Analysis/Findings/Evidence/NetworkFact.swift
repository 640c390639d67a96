/// One more fact of a finding about networks, names and what servers chose.
package enum NetworkFact: Sendable, Hashable {
    case reaches(AddressScope)
    case enumeratesServices
    case callCandidate
    case namesSeen(NameChannel, [ServiceName], count: Int)
    case choseVersion(UInt16)
    case choseSuites(SuiteClass)
    case standardCommunity

    var text: String {
        switch self {
        case .reaches(let scope): "it is in \(scope.text)"
        case .enumeratesServices: "lists all kinds of services"
        case .callCandidate: "a candidate of a call"
        case .namesSeen(let channel, let names, let count):
            "\(channel.text), \(count == 1 ? "1 name" : "\(count) names"): "
                + names.map(\.text).joined(separator: ", ") + (count > names.count ? ", .." : "")
        case .choseVersion(let code): "the server chose \(TLSVersionName.text(code))"
        case .choseSuites(let suite): "the server chose a suite: \(suite.text)"
        case .standardCommunity: "the community that devices begin with"
        }
    }
}
